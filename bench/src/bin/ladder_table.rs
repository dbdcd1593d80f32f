//! What the ladder comes to under every counter and price, as the rows of the table in `docs/ladder.md`.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_table [-- FOLDER] [--counter C]... [--prices P]...
//! [--context-window 200000]... [--dearer]`
//!
//! The folder is the one that `LOUVER_CORPUS` names, unless one is given. Without options: the counters `chars4`, `o200k` and
//! `auto`, each at 1.25/0.1, 1.25/0.05, 1.0/0.1, 1.0/0.5 and the models' own prices, in 200,000 tokens, and all counters at
//! 1.25/0.1 in 60,000. Savings and recall are of the conversations with 100 and more requests; regret and how many
//! got dearer than the practical baseline are of all; `--dearer` names those on stderr.

use louver_replay::input::{find, read};
use louver_replay::report::{Distribution, RunRow};
use louver_replay::{CachePrices, Conversation, Options, ReplayError, replay};
use std::error::Error;
use std::path::PathBuf;

const ROWS: [&str; 3] = ["ladder-lean", "ladder", "ladder-careful"];
const COUNTERS: [&str; 3] = ["chars4", "o200k", "auto"];
const PRICES: [&str; 5] = ["1.25/0.1", "1.25/0.05", "1.0/0.1", "1.0/0.5", "own"];
/// From so many requests on a conversation is a long one.
const LONG_REQUESTS: u64 = 100;
const HEADING: &str = "| counter, prices, window | row | saving | input after found recall, by lines | by passages | after recall, by lines | by passages | line (p10) | old | passages | last 5 turns | edit | regret mean (p95) | dearer by 1 %, 5 % | dearest |";

fn main() -> Result<(), Box<dyn Error>> {
    let mut folder = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from);
    let (mut counters, mut prices, mut windows) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_named = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--counter" => counters.push(value()?),
            "--prices" => prices.push(value()?),
            "--dearer" => is_named = true,
            "--context-window" => windows.push(value()?.parse::<u64>()?),
            unknown if unknown.starts_with("--") => return Err(format!("unknown option {unknown}").into()),
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let folder = folder.ok_or("name a folder of recorded conversations, or set LOUVER_CORPUS")?;
    let mut conversations: Vec<Conversation> = Vec::new();
    for source in find(&[folder]) {
        conversations.extend(read(&source).map_err(|error| format!("{}: {error}", source.name()))?);
    }
    println!("{HEADING}\n|---|---|{}", "--:|".repeat(HEADING.matches('|').count() - 3));
    for (counter, prices, window) in asked(counters, prices, windows) {
        let mut options = Options::of_policies(&ROWS)?;
        (options.counter, options.context_window) = (counter.parse()?, Some(window));
        options.cache_prices = if prices == "own" { None } else { Some(prices.parse::<CachePrices>()?) };
        print_rows(&conversations, &options, &format!("`{counter}`, {prices}, {}k", window / 1_000), is_named)?;
    }
    Ok(())
}

/// Every combination of what was asked for; all that the table has where nothing was.
fn asked(counters: Vec<String>, prices: Vec<String>, windows: Vec<u64>) -> Vec<(String, String, u64)> {
    let is_all = counters.is_empty() && prices.is_empty() && windows.is_empty();
    let or = |given: Vec<String>, usual: &[&str]| match given.is_empty() {
        true => usual.iter().map(|name| (*name).to_owned()).collect(),
        false => given,
    };
    let (counters, prices) = (or(counters, &COUNTERS), or(prices, &PRICES));
    let windows = if windows.is_empty() { vec![200_000] } else { windows };
    let mut all = Vec::new();
    for window in windows {
        for counter in &counters {
            all.extend(prices.iter().map(|prices| (counter.clone(), prices.clone(), window)));
        }
    }
    if is_all {
        all.extend(counters.iter().map(|counter| (counter.clone(), PRICES[0].to_owned(), 60_000)));
    }
    all
}

fn print_rows(
    conversations: &[Conversation],
    options: &Options,
    terms: &str,
    is_named: bool,
) -> Result<(), ReplayError> {
    let report = replay(conversations, options, &|_| {})?;
    for policy in ROWS {
        let own: Vec<&RunRow> = report.runs.iter().filter(|row| row.policy == policy).collect();
        let long: Vec<&RunRow> = own.iter().filter(|row| row.requests >= LONG_REQUESTS).copied().collect();
        println!("| {terms} | `{policy}` | {} |", cells(&own, &long).join(" | "));
        for row in own.iter().filter(|row| is_named && row.saving.is_some_and(|saving| saving < -0.01)) {
            let RunRow { file, requests, saving, .. } = row;
            let dearer = -saving.unwrap_or_default() * 100.0;
            eprintln!("{terms}, {policy}: {file}, {requests} requests, dearer by {dearer:.1} %");
        }
    }
    Ok(())
}

fn cells(all: &[&RunRow], long: &[&RunRow]) -> Vec<String> {
    let of = |of: fn(&RunRow) -> Option<f64>| Distribution::of(long.iter().map(|row| of(row)));
    let percent = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{:.1}", value * 100.0));
    let middle = |column| percent(of(column).quantile(0.5));
    let both = |column: fn(&RunRow) -> Option<f64>| {
        let values: Vec<f64> = long.iter().filter_map(|row| column(row)).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        format!("{} / {}", middle(column), percent(Some(mean)))
    };
    let recent = |row: &RunRow| Some((row.passage_by_age["0-1"]? + row.passage_by_age["2-5"]?) / 2.0);
    let regrets: Vec<f64> = all.iter().filter_map(|row| row.regret).collect();
    let regret_mean = regrets.iter().sum::<f64>() / regrets.len().max(1) as f64;
    let regret = Distribution::of(regrets.iter().map(|regret| Some(*regret)));
    let dearer = |by: f64| all.iter().filter_map(|row| row.saving).filter(|saving| *saving < -by).count();
    let dearest = all.iter().filter_map(|row| row.saving).fold(0.0, f64::min);
    vec![
        middle(|row| row.saving),
        both(|row| row.input_saving_after_found_recall),
        both(|row| row.input_saving_after_found_recall_passage),
        both(|row| row.saving_after_recall),
        both(|row| row.saving_after_recall_passage),
        format!("{} ({})", middle(|row| row.recall_line), percent(of(|row| row.recall_line).quantile(0.1))),
        middle(|row| row.recall_line_old),
        middle(|row| row.recall_passage),
        middle(recent),
        middle(|row| row.edit_recall),
        format!("{regret_mean:.3} ({:.3})", regret.quantile(0.95).unwrap_or(1.0)),
        format!("{}, {}", dearer(0.01), dearer(0.05)),
        format!("{:.1} %", -dearest * 100.0),
    ]
}
