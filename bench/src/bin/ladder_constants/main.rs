//! Where the ladder's constants come from: what recorded conversations say about each of them, beside what is shipped.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_constants [-- FOLDER] [--only names|joint] [--row ladder] [--quick]
//! [--try ROW,mark=value,...]... [--all] [--counter chars4|o200k|auto] [--prices 1.25/0.1] [--context-window 200000]`
//!
//! The folder is the one that `LOUVER_CORPUS` names, unless one is given. It prints how often names that left are needed
//! again, and what the settable marks come to when they are tuned together. Where something is fitted or chosen, it is
//! also judged by conversations that it was not fitted to. `docs/ladder.md` says what follows from them. The same
//! conversations give the same figures on every machine.

mod corpus;
mod features;
mod joint;
mod left;
mod shares;
mod source;
mod weights;

use corpus::{Corpus, Terms};
use louver::tokens::CounterChoice;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read()?;
    let started = Instant::now();
    let corpus = Corpus::read(&arguments.folder, arguments.terms)?;
    let long = corpus.long(arguments.is_quick);
    println!(
        "{} conversations, {} requests; the long ones: {}, {} requests",
        corpus.conversations.len(),
        corpus.requests(),
        long.conversations.len(),
        long.requests()
    );
    if arguments.wants("names") {
        let cuts = left::cuts(if arguments.is_quick { &long } else { &corpus })?;
        heading("names: what is needed again");
        shares::report(&cuts)?;
    }
    if arguments.wants("joint") {
        heading("joint: the marks, tuned together");
        joint::report(&long, arguments.is_quick, arguments.row.as_deref())?;
    }
    if !arguments.tried.is_empty() {
        heading("tried");
        let corpus = if arguments.is_all { &corpus } else { &long };
        joint::try_out(corpus, &arguments.tried)?;
    }
    println!("\n{:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// What was asked for.
struct Arguments {
    folder: PathBuf,
    only: Option<String>,
    /// The row whose marks are tuned; nothing for all.
    row: Option<String>,
    is_quick: bool,
    /// Settings to be tried, and whether over the short conversations, too.
    tried: Vec<String>,
    is_all: bool,
    terms: Terms,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let (mut folder, mut only, mut is_quick) = (None, None, false);
        let (mut tried, mut is_all, mut row) = (Vec::new(), false, None);
        let prices = "1.25/0.1".parse().map_err(|error| format!("{error}"))?;
        let mut terms = Terms { counter: CounterChoice::Chars4, prices, context_window: 200_000 };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => is_quick = true,
                "--counter" => {
                    let name = arguments.next().ok_or("--counter takes a name")?;
                    terms.counter = name.parse().map_err(|error| format!("{error}"))?;
                }
                "--prices" => {
                    let prices = arguments.next().ok_or("--prices takes two multiples")?;
                    terms.prices = prices.parse().map_err(|error| format!("{error}"))?;
                }
                "--context-window" => {
                    let tokens = arguments.next().ok_or("--context-window takes a number")?;
                    terms.context_window = tokens.parse().map_err(|error| format!("{error}"))?;
                }
                "--all" => is_all = true,
                "--try" => tried.extend(arguments.next()),
                "--only" => only = arguments.next(),
                "--row" => row = arguments.next(),
                unknown if unknown.starts_with("--") => return Err(format!("unknown option {unknown}")),
                _ => folder = Some(PathBuf::from(argument)),
            }
        }
        let folder = folder.or_else(|| std::env::var_os("LOUVER_CORPUS").map(PathBuf::from));
        let folder = folder.ok_or("name a folder of recorded conversations, or set LOUVER_CORPUS")?;
        Ok(Self { folder, only, row, is_quick, tried, is_all, terms })
    }

    fn wants(&self, part: &str) -> bool {
        self.tried.is_empty() && self.only.as_deref().is_none_or(|only| only == part)
    }
}

fn heading(text: &str) {
    println!("\n== {text}\n");
}

/// The average; 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The middle one, or the mean of the two in the middle; 0 of nothing.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len().saturating_sub(1) / 2..sorted.len() / 2 + 1;
    mean(sorted.get(middle).unwrap_or_default().iter().copied())
}

fn percent(share: f64) -> String {
    format!("{:>5.1} %", share * 100.0)
}
