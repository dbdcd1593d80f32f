//! What the default policy costs a user: every cut, all counting, default settings.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_cost [-- --turns 500,5000,50000] [--only turns|failing|bodies|list]
//! [--counter chars4|o200k|claude]`
//!
//! A turn is 9 KB: some words, a call and its result, whose names are all new, so that the ledger never meets one again.
//! A turn's cost is reading, counting, fitting and walking the view, as a mean over all turns: a cut is dear and rare, so
//! a median would hide it. Each length is run three times, because the machine may be busy: the median and the best of
//! these means are printed, and of each cut the quickest. Then a body of 2 MB is decided statelessly, continued from its window, and a list of 60,000
//! messages is trimmed.

use louver::budget::Budget;
use louver::catalog::Catalog;
use louver::policy::{LadderConfig, PolicyKind};
use louver::tokens::CounterChoice;
use louver::trim::{trim, trimmed_window};
use louver::window::{Window, WindowConfig};
use louver::wire::{Body, Format, Message};
use louver_bench::{Conversation, Random, body_of_bytes, turn_of_new_names};
use std::time::{Duration, Instant};

const BODY_BYTES: usize = 2_000_000;
const CONTEXT_WINDOW: u64 = 200_000;
/// How often each length is run.
const ROUNDS: usize = 3;
const BODY_ROUNDS: usize = 5;
const FAILING_FITS: usize = 40;

fn main() {
    let only = option("--only");
    let is_wanted = |part: &str| only.as_deref().is_none_or(|only| only == part);
    if is_wanted("turns") {
        turns();
    }
    if is_wanted("failing") {
        failing();
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
    println!(
        "turns of 9 KB, names new in every message, counter chars4, prices 1.25/0.1, window 200,000; {ROUNDS} rounds:"
    );
    for policy in [PolicyKind::Messages(Default::default()), ladder(LadderConfig::default())] {
        for turns in lengths.split(',') {
            let turns = turns.parse().expect("--turns takes numbers");
            println!("{}", Rounds((0..ROUNDS).map(|_| Life::lead(policy.clone(), turns)).collect()));
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
}

impl Life {
    fn lead(policy: PolicyKind, turns: usize) -> Self {
        let mut random = Random::new(7);
        let mut window = Window::new(config(policy, "claude-sonnet-4-5", CounterChoice::Chars4)).expect("settings");
        let (mut spent, mut cuts) = (Duration::ZERO, Vec::new());
        window.push_raw(r#"{"role":"user","content":"Mend whatever is broken."}"#).expect("a message");
        for number in 0..turns {
            let raws = turn_of_new_names(&mut random, number);
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
        Self { policy: window.policy_name().to_owned(), turns, spent, cuts }
    }
}

/// The same conversation several times: it is cut at the same places.
struct Rounds(Vec<Life>);

impl std::fmt::Display for Rounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut spent: Vec<Duration> = self.0.iter().map(|life| life.spent).collect();
        spent.sort_unstable();
        let life = &self.0[0];
        let per_turn = |spent: Duration| spent.as_secs_f64() * 1e6 / life.turns as f64;
        // What other work on the machine adds to a cut differs from round to round.
        let quickest = |cut: usize| self.0.iter().map(|life| life.cuts[cut]).min().unwrap_or_default();
        let cuts: Vec<Duration> = (0..life.cuts.len()).map(quickest).collect();
        let ms = |cut: Option<&Duration>| cut.map_or(0.0, |cut| cut.as_secs_f64() * 1e3);
        write!(
            f,
            "{:<9} {:>6} turns: {:>6.1} us a turn in the median, {:>6.1} at best; {:>5} cuts, first {:.2} ms, last {:.2} ms, \
             longest {:.2} ms",
            life.policy,
            life.turns,
            per_turn(spent[spent.len() / 2]),
            per_turn(spent[0]),
            cuts.len(),
            ms(cuts.first()),
            ms(cuts.last()),
            ms(cuts.iter().max()),
        )
    }
}

/// Requests that cannot be made to fit, because the task alone is too large: each costs O(the log), however many have
/// failed before it.
fn failing() {
    println!(
        "a task larger than the window, so that every fit fails, chars4; {FAILING_FITS} more words, each with a fit:"
    );
    for policy in ["tokens", "ladder"] {
        for turns in [25, 50, 100, 200] {
            let mut window = too_large(policy.parse().expect("a known policy"), turns);
            let fail = || {
                window.push_raw(r#"{"role":"user","content":"And?"}"#).expect("a message");
                milliseconds(&mut || assert!(window.fit().is_err(), "the task is too large"))
            };
            let fits: Vec<f64> = std::iter::repeat_with(fail).take(FAILING_FITS).collect();
            let quickest = |fits: &[f64]| fits.iter().copied().fold(f64::INFINITY, f64::min);
            let (first, last) = (quickest(&fits[..FAILING_FITS / 4]), quickest(&fits[FAILING_FITS * 3 / 4..]));
            println!(
                "{policy:<9} {turns:>6} turns: {first:>6.2} ms at first, {last:>6.2} ms at last; {:.1} us for each turn of the log",
                last * 1e3 / turns as f64
            );
        }
    }
}

/// A window of so many turns behind a task that no cut can take away.
fn too_large(policy: PolicyKind, turns: usize) -> Window {
    let mut window = Window::new(config(policy, "claude-sonnet-4-5", CounterChoice::Chars4)).expect("settings");
    let task = "Mend whatever is broken. ".repeat(40_000);
    window.push_raw(&format!(r#"{{"role":"user","content":"{task}"}}"#)).expect("a message");
    let mut random = Random::new(7);
    for raw in (0..turns).flat_map(|number| turn_of_new_names(&mut random, number)) {
        window.push_raw(&raw).expect("a message");
    }
    window
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
    (0..BODY_ROUNDS).map(|_| milliseconds(&mut run)).fold(f64::INFINITY, f64::min)
}

fn milliseconds(run: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e3
}
