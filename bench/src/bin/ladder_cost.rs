//! What the default policy costs a user: every cut, all counting, default settings.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_cost [-- --turns 500,5000,50000] [--only turns|bodies|list]
//! [--counter chars4|o200k|claude]`
//!
//! A turn is 9 KB: some words, a call and its result, whose names are all new, so that the ledger never meets one again.
//! A turn's cost is reading, counting, fitting and walking the view, as a mean over all turns: a cut is dear and rare, so
//! a median would hide it. Then a body of 2 MB is decided statelessly, continued from its window, and a list of 60,000
//! messages is trimmed.

use louver::budget::Budget;
use louver::catalog::Catalog;
use louver::policy::{LadderConfig, PolicyKind};
use louver::tokens::CounterChoice;
use louver::trim::{trim, trimmed_window};
use louver::window::{Window, WindowConfig};
use louver::wire::{Body, Format, Message};
use louver_bench::{Conversation, Random, body_of_bytes, resident_bytes};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const TURN_BYTES: usize = 9_000;
const BODY_BYTES: usize = 2_000_000;
const CONTEXT_WINDOW: u64 = 200_000;
const ROUNDS: usize = 5;

fn main() {
    let only = option("--only");
    let is_wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if is_wanted("turns") {
        turns();
    }
    if is_wanted("bodies") {
        bodies();
    }
    if is_wanted("list") {
        long_list();
    }
}

fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn turns() {
    let lengths = option("--turns").unwrap_or_else(|| "500,5000,50000".to_owned());
    println!("turns of 9 KB, names new in every message, counter chars4, prices 1.25/0.1, window 200,000:");
    for policy in [PolicyKind::Messages(Default::default()), ladder(LadderConfig::default())] {
        for turns in lengths.split(',') {
            println!("{}", Life::lead(policy.clone(), turns.parse().expect("--turns takes numbers")));
        }
    }
}

fn ladder(config: LadderConfig) -> PolicyKind {
    PolicyKind::Ladder(config)
}

fn config(policy: PolicyKind, model: &str, counter: CounterChoice) -> WindowConfig {
    let found = Catalog::builtin().find(model).expect("a known model");
    let mut config = WindowConfig::new(Format::Anthropic, policy).with_model(Some(&found.model), counter);
    config.economy = Default::default();
    config.budget = Some(Budget::new(CONTEXT_WINDOW, None).expect("a usual reserve leaves room"));
    config
}

/// What a whole conversation cost.
struct Life {
    policy: String,
    turns: usize,
    spent: Duration,
    cuts: Vec<Duration>,
    log_bytes: usize,
    resident: usize,
}

impl Life {
    fn lead(policy: PolicyKind, turns: usize) -> Self {
        let mut random = Random::new(7);
        let before = resident_bytes();
        let mut window = Window::new(config(policy, "claude-sonnet-4-5", CounterChoice::Chars4)).expect("settings");
        let (mut spent, mut cuts, mut log_bytes) = (Duration::ZERO, Vec::new(), 0);
        window.push_raw(r#"{"role":"user","content":"Mend whatever is broken."}"#).expect("a message");
        for number in 0..turns {
            let raws = turn(&mut random, number);
            log_bytes += raws.iter().map(String::len).sum::<usize>();
            let start = Instant::now();
            for raw in &raws {
                window.push(Message::parse(Format::Anthropic, raw).expect("a message"));
            }
            let fit_start = Instant::now();
            let fit = window.fit().expect("every turn fits");
            let fitted = fit_start.elapsed();
            std::hint::black_box(window.view().iter().map(|sent| sent.message.raw().len()).sum::<usize>());
            spent += start.elapsed();
            if !fit.evicted.is_empty() {
                cuts.push(fitted);
            }
        }
        let resident = resident_bytes().saturating_sub(before);
        Self { policy: window.policy_name().to_owned(), turns, spent, cuts, log_bytes, resident }
    }
}

impl std::fmt::Display for Life {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |duration: Option<&Duration>| duration.map_or(0.0, |duration| duration.as_secs_f64() * 1e3);
        write!(
            f,
            "{:<9} {:>6} turns: {:>6.1} us a turn; {:>5} cuts, first {:.2} ms, last {:.2} ms, longest {:.2} ms; memory {:.2} of \
             the log's {:.1} MB",
            self.policy,
            self.turns,
            self.spent.as_secs_f64() * 1e6 / self.turns as f64,
            self.cuts.len(),
            ms(self.cuts.first()),
            ms(self.cuts.last()),
            ms(self.cuts.iter().max()),
            self.resident as f64 / self.log_bytes as f64,
            self.log_bytes as f64 / 1e6,
        )
    }
}

/// A turn whose names never come again.
fn turn(random: &mut Random, number: usize) -> Vec<String> {
    let mut output = String::with_capacity(TURN_BYTES);
    let mut line = 0;
    while output.len() < TURN_BYTES - 600 {
        let salt = random.below(9_000);
        let _ = match line % 4 {
            0 => write!(output, "    let value_{number}_{line} = self.field_{salt}_{number}.get(index);\\n"),
            1 => write!(
                output,
                "src/part_{number}/file_{line}.rs:{salt}: see module_{number}.item_{line} for the rest\\n"
            ),
            2 => write!(
                output,
                "  the reader returns an error with the path of the value so that tests can compare them\\n"
            ),
            _ => write!(output, "  \\\"key_{salt}_{line}\\\": {salt}{number},\\n"),
        };
        line += 1;
    }
    vec![
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"Looking at part_{number}."}},{{"type":"tool_use","id":"toolu_{number}","name":"read_file","input":{{"path":"src/part_{number}/mod.rs"}}}}]}}"#
        ),
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number}","content":"{output}"}}]}}"#
        ),
    ]
}

/// A whole body at once, and the next request of the same conversation.
fn bodies() {
    for (counter, model) in [
        (CounterChoice::Chars4, "claude-sonnet-4-5"),
        (CounterChoice::Auto, "claude-sonnet-4-5"),
        (CounterChoice::Auto, "gpt-5.5"),
    ] {
        let text = body_of_bytes(Format::Anthropic, BODY_BYTES);
        let config = || config(ladder(LadderConfig::default()), model, counter);
        let name = config().counter.name().to_owned();
        if option("--counter").is_some_and(|wanted| !name.starts_with(&wanted)) {
            continue;
        }
        config().counter.text("warm");
        let decide = || {
            let body = Body::parse(&text, Some(Format::Anthropic)).expect("a body");
            trimmed_window(&body, config()).expect("it fits")
        };
        let window = decide();
        let stateless = best(|| drop(std::hint::black_box(decide())));
        let next = r#"{"role":"assistant","content":"Well done."}"#;
        let continued = best(|| {
            let mut window = window.clone();
            window.push_raw(next).expect("a message");
            std::hint::black_box(window.fit().expect("it fits"));
        });
        println!(
            "2 MB decided statelessly, {name}: {:.1} ms; continued from its window: {:.3} ms",
            stateless, continued
        );
    }
}

/// `trim` of 60,000 messages, reading and writing included.
fn long_list() {
    let text = Conversation::generate(Format::Anthropic, 30_000, 7).list();
    let config = config(ladder(LadderConfig::default()), "claude-sonnet-4-5", CounterChoice::Chars4);
    let start = Instant::now();
    let body = Body::parse(&text, Some(Format::Anthropic)).expect("a list");
    let trimmed = trim(&body, config).expect("it fits");
    println!(
        "trim of {} messages ({:.0} MB), chars4: {:.2} s; {} kept",
        body.messages().len(),
        text.len() as f64 / 1e6,
        start.elapsed().as_secs_f64(),
        trimmed.report.kept.len()
    );
}

/// Milliseconds of the quickest of a few rounds.
fn best(mut run: impl FnMut()) -> f64 {
    let round = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..ROUNDS).map(|_| round(&mut run)).fold(f64::INFINITY, f64::min)
}
