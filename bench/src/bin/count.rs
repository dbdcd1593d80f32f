//! Counting messages beside the tokenizer alone, and how often a text is counted.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin count [-- --json]`

use louver::budget::Budget;
use louver::count::count_message;
use louver::policy::{PolicyKind, TokensConfig};
use louver::tokens::{Bpe, Counter, Encoding, Image, ImageFormula, Millitokens};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, Message, PartKind};
use louver_bench::{Conversation, measure_pair};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const TURNS: usize = 1_500;
const RUNS: usize = 9;

#[derive(serde::Serialize)]
struct Row {
    format: &'static str,
    tokens: u64,
    text_bytes: usize,
    message_mb_per_s: f64,
    tokenizer_mb_per_s: f64,
    message_tokens_per_s: f64,
    overhead: f64,
    pushed_text_bytes: u64,
    counted_text_bytes: u64,
    fits: usize,
}

fn main() {
    let is_json = std::env::args().any(|argument| argument == "--json");
    for format in Format::ALL {
        let row = measure(format);
        if is_json {
            println!("{}", serde_json::to_string(&row).expect("numbers and names are JSON"));
            continue;
        }
        println!(
            "{:<17} messages {:>6.1} MB/s ({:.1} M tokens/s), tokenizer alone {:>6.1} MB/s, overhead {:.3}; {} fits: {} bytes \
             pushed, {} counted",
            row.format,
            row.message_mb_per_s,
            row.message_tokens_per_s / 1e6,
            row.tokenizer_mb_per_s,
            row.overhead,
            row.fits,
            row.pushed_text_bytes,
            row.counted_text_bytes
        );
    }
}

fn measure(format: Format) -> Row {
    let conversation = Conversation::generate(format, TURNS, 5);
    let messages: Vec<Message> = conversation
        .messages()
        .map(|raw| Message::parse(format, raw).expect("a generated message is readable"))
        .collect();
    let texts: Vec<String> = messages.iter().flat_map(texts_of).collect();
    let text_bytes = texts.iter().map(String::len).sum();
    let counter = Bpe::new(Encoding::O200k, ImageFormula::DataLength);
    let count_all = || messages.iter().map(|message| count_message(&counter, message)).sum::<Millitokens>();
    let alone = || texts.iter().map(|text| Encoding::O200k.count(text)).sum::<u64>();
    assert_eq!(count_all().ceil_tokens(), alone(), "both have to count the same texts");
    let pair = measure_pair(RUNS, count_all, alone);
    let Calls { pushed, counted, fits } = calls(format, &messages);
    Row {
        format: format.name(),
        tokens: alone(),
        text_bytes,
        message_mb_per_s: text_bytes as f64 * 1e3 / pair.one_ns as f64,
        tokenizer_mb_per_s: text_bytes as f64 * 1e3 / pair.other_ns as f64,
        message_tokens_per_s: alone() as f64 * 1e9 / pair.one_ns as f64,
        overhead: 1.0 / pair.ratio,
        pushed_text_bytes: pushed,
        counted_text_bytes: counted,
        fits,
    }
}

/// The texts that a message is counted by: what the model reads, and the names of tools.
fn texts_of(message: &Message) -> Vec<String> {
    let parts = message.shape().parts.iter().filter(|part| part.chars > 0 && !matches!(part.kind, PartKind::Media(_)));
    parts.flat_map(|part| [message.text_of(part).into_owned(), message.name_of(part).into_owned()]).collect()
}

/// How many bytes of text a window was given and how many its counter was shown.
struct Calls {
    pushed: u64,
    counted: u64,
    fits: usize,
}

/// Pushes and fits message by message in a window that is full most of the time.
fn calls(format: Format, messages: &[Message]) -> Calls {
    let counter = Arc::new(CountingCounter { bytes: AtomicU64::new(0) });
    let mut config = WindowConfig::new(format, PolicyKind::Tokens(TokensConfig::default()));
    config.counter = Arc::clone(&counter) as Arc<dyn Counter>;
    config.budget = Some(Budget::new(20_000, Some(1)).expect("a reserve of one token leaves room"));
    let mut window = Window::new(config).expect("the settings are complete");
    let mut pushed = 0;
    let mut fits = 0;
    for message in messages {
        pushed += texts_of(message).iter().map(|text| text.len() as u64).sum::<u64>();
        window.push(message.clone());
        for _ in 0..3 {
            window.fit().expect("every turn fits the window");
            fits += 1;
        }
    }
    Calls { pushed, counted: counter.bytes.load(Ordering::Relaxed), fits }
}

/// Counts what it is asked to count.
#[derive(Debug)]
struct CountingCounter {
    bytes: AtomicU64,
}

impl Counter for CountingCounter {
    fn name(&self) -> &str {
        "counting"
    }

    fn stated_error(&self) -> f64 {
        0.5
    }

    fn text(&self, text: &str) -> Millitokens {
        self.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        Millitokens::from_tokens(text.len() as u64 / 4)
    }

    fn by_length(&self, _chars: u64) -> Option<Millitokens> {
        None
    }

    fn image(&self, _image: &Image<'_>) -> Millitokens {
        Millitokens::ZERO
    }
}
