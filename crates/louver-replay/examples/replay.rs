//! Replays files from the command line: `replay PATH... [--policy A,B] [--model M] [--json FILE] [--html FILE] ...`

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use louver_replay::input::{find, read};
use louver_replay::report::{page, table};
use louver_replay::{DEFAULT_POLICIES, Options, explain, replay_files};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[derive(Default)]
struct Flags {
    paths: Vec<PathBuf>,
    named: Vec<(String, String)>,
    timings: bool,
}

fn main() -> ExitCode {
    match run() {
        Ok(is_complete) => ExitCode::from(u8::from(!is_complete)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let flags = Flags::read(std::env::args().skip(1))?;
    let options = flags.options()?;
    let sources = find(&flags.paths);
    if let Some(turn) = flags.number("--explain")? {
        for source in &sources {
            for conversation in read(source)? {
                print!("{}", explain(&conversation, &options, usize::try_from(turn)?)?);
            }
        }
        return Ok(true);
    }
    let started = Instant::now();
    let report = replay_files(&sources, &options, &|_| {})?;
    let requests: u64 = report.runs.iter().map(|row| row.requests).sum();
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{requests} requests in {seconds:.2} s, {:.0} requests/s", requests as f64 / seconds);
    for skipped in &report.skipped {
        eprintln!("skipped {}: {}", skipped.file, skipped.reason);
    }
    print!("{}", table(&report));
    if let Some(file) = flags.text("--json") {
        std::fs::write(file, report.to_json()?)?;
    }
    if let Some(file) = flags.text("--html") {
        std::fs::write(file, page(&report))?;
    }
    Ok(report.skipped.is_empty())
}

impl Flags {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--timings" => flags.timings = true,
                name if name.starts_with("--") => {
                    let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
                    flags.named.push((argument, value));
                }
                _ => flags.paths.push(argument.into()),
            }
        }
        Ok(flags)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.named.iter().rev().find(|(flag, _)| flag == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Result<Option<u64>, std::num::ParseIntError> {
        self.text(name).map(|value| value.replace('_', "").parse()).transpose()
    }

    fn options(&self) -> Result<Options, Box<dyn Error>> {
        let policies = self.text("--policy").map(|names| names.split(',').collect::<Vec<_>>());
        let mut options = Options::of_policies(&policies.unwrap_or_else(|| DEFAULT_POLICIES.to_vec()))?;
        options.model = self.text("--model").map(ToOwned::to_owned);
        options.context_window = self.number("--context-window")?;
        options.max_output = self.number("--max-output")?;
        options.overhead = self.number("--overhead")?;
        options.gap_seconds = self.number("--gap")?;
        options.cold_every = self.number("--cold-every")?;
        options.threads = self.number("--threads")?.map(usize::try_from).transpose()?;
        options.counter = self.text("--counter").map(str::parse).transpose()?.unwrap_or_default();
        options.cache_prices = self.text("--prices").map(str::parse).transpose()?;
        options.timings = self.timings;
        Ok(options)
    }
}
