//! Trims a file to so many tokens and says how long that took, or judges a file that somebody else trimmed.
//!
//! `trim_file INPUT --max-tokens N [--policy NAME] [--counter NAME] [--runs N] [--output FILE]`, `trim_file INPUT --check`
//!
//! The time is that of everything between the text that came in and the text that goes out: parse, trim, render; of several
//! runs the quickest, which other work on the machine disturbs the least.

use louver::budget::Budget;
use louver::count::count_message;
use louver::legality::check;
use louver::policy::PolicyKind;
use louver::tokens::{CounterChoice, Millitokens};
use louver::trim::{Trimmed, trim};
use louver::window::WindowConfig;
use louver::wire::Body;
use louver_bench::{Median, nanoseconds};
use std::error::Error;
use std::process::ExitCode;

/// What is known of a list of messages.
#[derive(serde::Serialize)]
struct Judged {
    messages: usize,
    violations: usize,
    rules: Vec<&'static str>,
    chars4: u64,
    o200k: u64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<String, Box<dyn Error>> {
    let path = arguments.first().ok_or("trim_file INPUT --max-tokens N, or trim_file INPUT --check")?;
    let text = std::fs::read_to_string(path)?;
    if arguments.iter().any(|argument| argument == "--check") {
        return Ok(serde_json::to_string(&judge(&text)?)?);
    }
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let max_tokens: u64 = value("--max-tokens").ok_or("--max-tokens is missing")?.parse()?;
    let counter: CounterChoice = value("--counter").map_or(Ok(CounterChoice::Chars4), |name| name.parse())?;
    let policy: PolicyKind = value("--policy").map_or("tokens", String::as_str).parse()?;
    let runs = value("--runs").map_or(Ok(1), |runs| runs.parse::<usize>())?;
    let mut times = Median::default();
    let mut json = String::new();
    for _ in 0..runs {
        let mut trimmed = None;
        times.add(nanoseconds(|| trimmed = Some(trim_to(&text, max_tokens, counter, &policy))));
        json = trimmed.ok_or("at least one run is needed")??.json;
    }
    if let Some(output) = value("--output") {
        std::fs::write(output, &json)?;
    }
    Ok(serde_json::json!({ "ns": times.fastest() }).to_string())
}

fn trim_to(
    text: &str,
    max_tokens: u64,
    counter: CounterChoice,
    policy: &PolicyKind,
) -> Result<Trimmed, Box<dyn Error>> {
    let body = Body::parse(text, None)?;
    // Nine tenths of a window less a reserve of one token are allowed, so this allows at most `max_tokens`.
    let budget = Budget::new((max_tokens + 1) * 10 / 9, Some(1))?;
    let config = WindowConfig::new(body.format(), policy.clone()).with_model(None, counter);
    Ok(trim(&body, config.with_budget(budget))?)
}

fn judge(text: &str) -> Result<Judged, Box<dyn Error>> {
    let body = Body::parse(text, Some(louver::wire::Format::OpenAiChat))?;
    let tokens = |choice: CounterChoice| {
        let counter = choice.resolve(None);
        let counted: Millitokens = body.messages().iter().map(|message| count_message(&*counter, message)).sum();
        counted.ceil_tokens()
    };
    let violations = check(&body);
    let mut rules: Vec<_> = violations.iter().map(|violation| violation.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let (chars4, o200k) = (tokens(CounterChoice::Chars4), tokens(CounterChoice::O200k));
    Ok(Judged { messages: body.messages().len(), violations: violations.len(), rules, chars4, o200k })
}
