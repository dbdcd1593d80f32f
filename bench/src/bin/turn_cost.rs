//! What one turn of an agent costs: append it, fit, take the view as the list of what is sent.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin turn_cost [-- --json] [--turns N]`
//!
//! The window is the same at every length and full before the first measured turn. `scan_ns_per_turn` is what reading
//! the same raw messages costs without a window, so that `beyond_scan_ns` is the window's own share.
//!
//! All lengths meet the same memory: a turn's raw text is copied right before it is timed, as if it had just arrived,
//! and nothing is freed before all lengths are done, so that the log always grows into fresh memory, as an agent's
//! does. The lengths take turns, so that a busy machine slows down all of them.

use louver::budget::Budget;
use louver::count::count_message;
use louver::policy::PolicyKind;
use louver::tokens::{Counter, CounterChoice};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, Message};
use louver_bench::{Conversation, Median};
use std::sync::Arc;
use std::time::Instant;

const LENGTHS: [usize; 4] = [50, 500, 5_000, 50_000];
const FORMATS: [Format; 2] = [Format::OpenAiChat, Format::Anthropic];
const POLICIES: [&str; 3] = ["messages", "tokens", "both"];
const COUNTERS: [CounterChoice; 2] = [CounterChoice::Chars4, CounterChoice::O200k];

/// Turns that the window holds by messages and, roughly, by tokens.
const WINDOW_TURNS: usize = 15;
const WINDOW_TURNS_BY_TOKENS: usize = 12;
/// Turns that are not measured; the window is full after them.
const WARM_UP_TURNS: usize = 20;
const ROUNDS: usize = 5;
/// In every round each length is measured over at least so many turns, in one run or several.
const TURNS_PER_ROUND: usize = 3_000;

#[derive(serde::Serialize)]
struct Case {
    policy: &'static str,
    counter: String,
    turns: usize,
    ns_per_turn: u64,
    scan_ns_per_turn: u64,
    beyond_scan_ns: u64,
    format: &'static str,
    bytes_per_turn: usize,
    runs: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_json = arguments.iter().any(|argument| argument == "--json");
    let longest = arguments.iter().position(|argument| argument == "--turns").and_then(|at| arguments.get(at + 1));
    let longest = longest.map_or(usize::MAX, |turns| turns.parse().expect("--turns takes a number"));
    let lengths: Vec<usize> = LENGTHS.into_iter().filter(|turns| *turns <= longest).collect();
    if !is_json {
        println!("nanoseconds per turn, window full, median of the runs (beyond the scan of the new bytes)");
    }
    for format in FORMATS {
        let longest = lengths.last().copied().unwrap_or(LENGTHS[0]);
        let conversation = Conversation::generate(format, longest.max(5_000), 11);
        for choice in COUNTERS {
            for policy in POLICIES {
                print_row(&measure(&conversation, policy, choice, &lengths), is_json);
            }
        }
    }
}

fn print_row(cases: &[Case], is_json: bool) {
    if is_json {
        for case in cases {
            println!("{}", serde_json::to_string(case).expect("numbers and names are JSON"));
        }
        return;
    }
    let Some(first) = cases.first() else {
        return;
    };
    let figures: Vec<String> = cases
        .iter()
        .map(|case| format!("{:>6}: {:>6} ({:>6})", case.turns, case.ns_per_turn, case.beyond_scan_ns))
        .collect();
    let slowest = cases.iter().map(|case| case.ns_per_turn).max().unwrap_or(0);
    let fastest = cases.iter().map(|case| case.ns_per_turn).min().unwrap_or(0);
    let spread = slowest as f64 / fastest.max(1) as f64;
    println!(
        "{:<12} {:<9} {:<7} {}  slowest/fastest {spread:.2}",
        first.format,
        first.policy,
        first.counter,
        figures.join("  ")
    );
}

fn measure(conversation: &Conversation, policy: &'static str, choice: CounterChoice, lengths: &[usize]) -> Vec<Case> {
    let counter = choice.resolve(None);
    let config = config_of(conversation, policy, &counter);
    let mut samples: Vec<Sample> = lengths.iter().map(|turns| Sample::new(*turns, conversation)).collect();
    for _ in 0..ROUNDS {
        samples.iter_mut().for_each(|sample| sample.round(conversation, &config));
    }
    let bytes = conversation.turns.iter().flatten().map(String::len).sum::<usize>();
    let case = |sample: &Sample| Case {
        policy,
        counter: counter.name().to_owned(),
        turns: sample.turns,
        ns_per_turn: sample.loops.get(),
        scan_ns_per_turn: sample.scans.get(),
        beyond_scan_ns: sample.loops.get().saturating_sub(sample.scans.get()),
        format: conversation.format.name(),
        bytes_per_turn: bytes / conversation.turns.len(),
        runs: ROUNDS * sample.runs_per_round,
    };
    samples.iter().map(case).collect()
}

/// The runs of one length.
struct Sample {
    turns: usize,
    runs_per_round: usize,
    /// Short conversations start at different places of the long one, so that all lengths see the same mix of turns.
    start: usize,
    step: usize,
    loops: Median,
    scans: Median,
    kept: Vec<(Vec<Arc<Message>>, Window)>,
}

impl Sample {
    fn new(turns: usize, conversation: &Conversation) -> Self {
        let runs_per_round = (TURNS_PER_ROUND / (turns - WARM_UP_TURNS)).max(1);
        let step = (conversation.turns.len() - turns) / (ROUNDS * runs_per_round);
        let (loops, scans) = (Median::default(), Median::default());
        Self { turns, runs_per_round, start: 0, step, loops, scans, kept: Vec::new() }
    }

    fn round(&mut self, conversation: &Conversation, config: &WindowConfig) {
        for _ in 0..self.runs_per_round {
            let part = &conversation.turns[self.start..self.start + self.turns];
            let (scan_ns, messages) = scan(conversation.format, part);
            let (loop_ns, window) = live(config, &conversation.opening, part);
            self.scans.add(scan_ns);
            self.loops.add(loop_ns);
            self.kept.push((messages, window));
            self.start += self.step;
        }
    }
}

fn config_of(conversation: &Conversation, policy: &str, counter: &Arc<dyn Counter>) -> WindowConfig {
    let sample = &conversation.turns[..200];
    let tokens: u64 = sample
        .iter()
        .flatten()
        .map(|raw| count_message(&**counter, &parse(conversation.format, raw)).ceil_tokens())
        .sum();
    let window = tokens * WINDOW_TURNS_BY_TOKENS as u64 / sample.len() as u64 * 10 / 9;
    let mut policy: PolicyKind = policy.parse().expect("a policy of the table");
    if let Some(messages) = policy.messages_mut() {
        (messages.max_messages, messages.preserve_last_n) = (2 * WINDOW_TURNS, WINDOW_TURNS);
    }
    let mut config = WindowConfig::new(conversation.format, policy);
    config.counter = Arc::clone(counter);
    config.budget = Some(Budget::new(window, Some(1)).expect("a reserve of one token leaves room"));
    config
}

/// Reads the measured turns: nanoseconds per turn, and the messages.
fn scan(format: Format, turns: &[Vec<String>]) -> (u64, Vec<Arc<Message>>) {
    let mut messages = Vec::new();
    let mut clock = Clock::default();
    for turn in &turns[WARM_UP_TURNS..] {
        clock.time(&turn.clone(), |turn| messages.extend(turn.iter().map(|raw| Arc::new(parse(format, raw)))));
    }
    (clock.ns_per_turn(), messages)
}

/// Lives through all turns: nanoseconds per measured turn, and the window.
fn live(config: &WindowConfig, opening: &str, turns: &[Vec<String>]) -> (u64, Window) {
    let mut window = Window::new(config.clone()).expect("the settings are complete");
    window.push(parse(config.format, opening));
    for turn in &turns[..WARM_UP_TURNS] {
        take_turn(&mut window, turn);
    }
    assert!(window.evicted().next().is_some(), "the window has to be full before it is measured");
    let mut clock = Clock::default();
    for turn in &turns[WARM_UP_TURNS..] {
        clock.time(&turn.clone(), |turn| take_turn(&mut window, turn));
    }
    (clock.ns_per_turn(), window)
}

/// The mean over turns: a cut is dear and rare, so a median would hide it.
#[derive(Default)]
struct Clock {
    ns: u64,
    turns: u64,
}

impl Clock {
    fn time<T>(&mut self, turn: &[String], run: impl FnOnce(&[String]) -> T) {
        let start = Instant::now();
        std::hint::black_box(run(turn));
        self.ns += u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.turns += 1;
    }

    fn ns_per_turn(&self) -> u64 {
        self.ns / self.turns.max(1)
    }
}

/// Returns the bytes that would be sent, so that the whole view is looked at.
fn take_turn(window: &mut Window, turn: &[String]) -> usize {
    for raw in turn {
        window.push(parse(window.format(), raw));
    }
    window.fit().expect("every turn fits the window");
    let sent: Vec<&str> = window.view().iter().map(|sent| sent.message.raw()).collect();
    std::hint::black_box(&sent).iter().map(|raw| raw.len()).sum()
}

fn parse(format: Format, raw: &str) -> Message {
    Message::parse(format, raw).expect("a generated message is readable")
}
