//! Where the ladder's constants come from: what recorded conversations say about each of them, beside what is shipped.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_constants [-- FOLDER] [--only names|page|marks|timing]
//! [--quick]`
//!
//! The folder is the one that `LOUVER_CORPUS` names, unless one is given. It prints four tables: how often names that left
//! are needed again, which of them a page of the ledger would hold, what the settable marks do, and when to cut. Where
//! something is fitted or chosen, it is also judged by conversations that it was not fitted to. `docs/ladder.md` says what
//! follows from them. The same conversations give the same figures on every machine.

mod corpus;
mod features;
mod left;
mod marks;
mod page;
mod shares;
mod source;
mod timing;
mod weights;

use corpus::Corpus;
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
    let corpus = Corpus::read(&arguments.folder)?;
    let long = corpus.long(arguments.is_quick);
    println!(
        "{} conversations, {} requests; the long ones: {}, {} requests",
        corpus.conversations.len(),
        corpus.requests(),
        long.conversations.len(),
        long.requests()
    );
    if arguments.wants("names") || arguments.wants("page") {
        let cuts = left::cuts(if arguments.is_quick { &long } else { &corpus })?;
        if arguments.wants("names") {
            heading("names: what is needed again");
            shares::report(&cuts)?;
        }
        if arguments.wants("page") {
            heading("page: what the ledger has room for");
            page::report(&cuts)?;
        }
    }
    if arguments.wants("marks") {
        heading("marks: what a tail and a ledger are worth");
        marks::report(&long, arguments.is_quick)?;
    }
    if arguments.wants("timing") {
        heading("timing: when to cut");
        timing::report(&corpus, &long)?;
    }
    println!("\n{:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// What was asked for.
struct Arguments {
    folder: PathBuf,
    only: Option<String>,
    is_quick: bool,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let (mut folder, mut only, mut is_quick) = (None, None, false);
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => is_quick = true,
                "--only" => only = arguments.next(),
                unknown if unknown.starts_with("--") => return Err(format!("unknown option {unknown}")),
                _ => folder = Some(PathBuf::from(argument)),
            }
        }
        let folder = folder.or_else(|| std::env::var_os("LOUVER_CORPUS").map(PathBuf::from));
        let folder = folder.ok_or("name a folder of recorded conversations, or set LOUVER_CORPUS")?;
        Ok(Self { folder, only, is_quick })
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
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
