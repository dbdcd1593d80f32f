//! Draws conversations, policies, settings and events for as long as one likes and holds the engine to its laws.
//!
//! ```text
//! cargo run --release -p louver --example soak -- --tuples 1000000 --seed 7 --seconds 600 --threads 2
//! ```
//!
//! Whether a view is legal is judged twice: by the engine's reading of the rules and by the sandbox's, which shares no
//! code with it. Each history is drawn from the seed and its number, so the same seed draws the same cases on any machine,
//! whatever the number of threads. A failure is printed with its case, smallest first, and the exit code is 1 then;
//! `--from` starts at the history that it names.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, reason = "a soak fails by saying so")]

#[path = "../tests/histories/mod.rs"]
mod histories;
#[allow(dead_code, reason = "a soak draws its own policies")]
#[path = "../tests/laws/mod.rs"]
mod laws;
#[path = "../tests/settings/mod.rs"]
mod settings;

use histories::{Step, render, steps};
use laws::{Broken, Script, bindings, hold, policies, scripts};
use louver::catalog::ThinkingBinding;
use louver::policy::PolicyKind;
use louver::window::WindowConfig;
use louver::wire::{Format, Message};
use proptest::prelude::{Just, Strategy};
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use settings::{Drawn, settings};
use std::collections::HashSet;
use std::fmt::{self, Debug, Write};
use std::hash::{DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How many tuples share a history: drawing and reading one costs about as much as living through it.
const TUPLES_PER_HISTORY: usize = 8;
/// How many smaller cases are tried once one has failed.
const SHRINKS: usize = 3_000;
/// How often progress is printed.
const PROGRESS: Duration = Duration::from_secs(10);

const FORMATS: [Format; 4] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini];

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(usage) => {
            eprintln!("{usage}");
            return ExitCode::from(2);
        }
    };
    assert!(laws::SECOND_READING.set(by_sandbox).is_ok(), "nobody else reads");
    // The case is printed below, and a backtrace of the law says nothing.
    std::panic::set_hook(Box::new(|_| {}));
    let soak = Soak::new(options);
    let failure = soak.run();
    println!("{}", soak.progress(usize::from(failure.is_some())));
    failure.map_or(ExitCode::SUCCESS, |failure| {
        println!("{failure}");
        ExitCode::FAILURE
    })
}

/// What the sandbox finds, which reads the rules without the engine's code.
fn by_sandbox(config: &WindowConfig, messages: &[(Option<usize>, &Message)], has_unique_ids: bool) -> Broken {
    let format: louver_sandbox::Format = config.format.name().parse().expect("the sandbox serves every format");
    let history: Vec<Value> =
        messages.iter().map(|(_, message)| serde_json::from_str(message.raw()).expect("a message is JSON")).collect();
    let mut body = json!({ format.history_field(): history });
    if config.thinking == ThinkingBinding::OpenTurn {
        body["thinking"] = json!({ "type": "enabled" });
    }
    let found = louver_sandbox::judge(format, &body).into_iter();
    if has_unique_ids {
        let origin = |path: &str| place(path).and_then(|place| messages.get(place)).and_then(|(origin, _)| *origin);
        return found.map(|violation| (origin(&violation.path), violation.rule)).map(|(at, rule)| (rule, at)).collect();
    }
    // Where a tool id repeats, another message may be blamed once something has left: so they are numbered.
    let mut found: Vec<String> = found.map(|violation| violation.rule).collect();
    found.sort_unstable();
    let same = found.chunk_by(|a, b| a == b);
    same.flat_map(|same| same.iter().enumerate().map(|(number, rule)| (format!("{rule} {number}"), None))).collect()
}

/// The message that a path names: its first number.
fn place(path: &str) -> Option<usize> {
    let digits = path.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?;
    digits.parse().ok()
}

/// What the command line says.
#[derive(Debug)]
struct Options {
    tuples: usize,
    seed: u64,
    /// Stops earlier, if this much time has passed.
    limit: Option<Duration>,
    threads: usize,
    /// The number of the first history.
    from: u64,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self { tuples: 10_000, seed: 0, limit: None, threads, from: 0 };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let expected = "--tuples N, --seed S, --seconds T, --threads N or --from N, each with a whole number";
            let usage = || format!("`{name}`: expected {expected}");
            let value: u64 = arguments.next().and_then(|value| value.parse().ok()).ok_or_else(usage)?;
            match name.as_str() {
                "--tuples" => options.tuples = usize::try_from(value).map_err(|_| usage())?,
                "--seed" => options.seed = value,
                "--seconds" => options.limit = Some(Duration::from_secs(value)),
                "--threads" => options.threads = usize::try_from(value.max(1)).map_err(|_| usage())?,
                "--from" => options.from = value,
                _ => return Err(usage()),
            }
        }
        Ok(options)
    }
}

/// A conversation in the words of a format.
type History = (Format, Vec<Step>);

/// What is drawn besides the history.
#[derive(Clone, Debug)]
struct Case {
    policy: PolicyKind,
    thinking: ThinkingBinding,
    settings: Drawn,
    script: Script,
}

fn cases(format: Format) -> impl Strategy<Value = Case> {
    let policies: Vec<PolicyKind> = policies().collect();
    (select(policies), select(bindings(format)), settings(), scripts())
        .prop_map(|(policy, thinking, settings, script)| Case { policy, thinking, settings, script })
}

/// Half of the histories are Anthropic's, because the other formats bind no thinking.
fn histories_of_a_format() -> impl Strategy<Value = History> {
    let formats = proptest::prop_oneof![
        3 => Just(FORMATS[0]),
        1 => Just(FORMATS[1]),
        1 => Just(FORMATS[2]),
        1 => Just(FORMATS[3]),
    ];
    (formats, steps())
}

/// What has been seen so far.
#[derive(Debug, Default)]
struct Tally {
    /// Tuples by hash, so that one that is drawn twice counts once.
    distinct: HashSet<u64>,
    histories: HashSet<u64>,
    bound: usize,
    failing: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuples = self.distinct.len();
        let percent = |count: usize| 100.0 * count as f64 / tuples.max(1) as f64;
        write!(
            f,
            "{tuples} tuples over {} histories, {:.1} % with a thinking binding, {:.1} % with failing fits",
            self.histories.len(),
            percent(self.bound),
            percent(self.failing)
        )
    }
}

/// A soak in progress, which several threads share.
#[derive(Debug)]
struct Soak {
    options: Options,
    /// The number of the next history.
    next: AtomicU64,
    is_over: AtomicBool,
    tally: Mutex<Tally>,
    start: Instant,
}

impl Soak {
    fn new(options: Options) -> Self {
        let (next, is_over) = (AtomicU64::new(options.from), AtomicBool::new(false));
        Self { options, next, is_over, tally: Mutex::default(), start: Instant::now() }
    }

    /// The first failure, if there is one.
    fn run(&self) -> Option<String> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.options.threads).map(|_| scope.spawn(|| self.work())).collect();
            scope.spawn(|| self.print_progress());
            threads.into_iter().filter_map(|thread| thread.join().expect("a soak survives its cases")).next()
        })
    }

    fn work(&self) -> Option<String> {
        let is_late = || self.options.limit.is_some_and(|limit| self.start.elapsed() >= limit);
        while !self.is_over.load(Ordering::Relaxed) && !is_late() {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if let Err(failure) = self.live(number) {
                self.is_over.store(true, Ordering::Relaxed);
                return Some(failure);
            }
        }
        self.is_over.store(true, Ordering::Relaxed);
        None
    }

    /// Lives through one history in several ways.
    fn live(&self, number: u64) -> Result<(), String> {
        let mut runner = runner(self.options.seed, number);
        let mut history = tree(&histories_of_a_format(), &mut runner);
        let (format, steps) = history.current();
        let messages = render(format, &steps);
        let key = hash_of(&(format, &steps));
        self.tally().histories.insert(key);
        let cases = cases(format);
        for _ in 0..TUPLES_PER_HISTORY {
            let mut drawn = tree(&cases, &mut runner);
            let case = drawn.current();
            let is_new = self.tally().distinct.insert(hash_of(&(key, &case)));
            if !is_new {
                continue;
            }
            let Ok(failed) = lived(format, &messages, &case) else {
                let seed = self.options.seed;
                let smallest = smallest(&mut history, &mut drawn);
                return Err(format!("FAILED, --seed {seed} --from {number}: {smallest}"));
            };
            let mut tally = self.tally();
            tally.bound += usize::from(case.thinking != ThinkingBinding::None);
            tally.failing += usize::from(failed > 0);
            if tally.distinct.len() >= self.options.tuples {
                self.is_over.store(true, Ordering::Relaxed);
                break;
            }
        }
        Ok(())
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("nobody fails with the tally in hand")
    }

    fn print_progress(&self) {
        let mut printed = Instant::now();
        while !self.is_over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
            if printed.elapsed() >= PROGRESS {
                printed = Instant::now();
                println!("{}", self.progress(0));
            }
        }
    }

    fn progress(&self, failures: usize) -> String {
        let tally = self.tally();
        let rate = tally.distinct.len() as f64 / self.start.elapsed().as_secs_f64().max(0.001);
        format!("{tally}, {failures} failures, {rate:.0} per second")
    }
}

/// Draws the history of a number, and its cases.
fn runner(seed: u64, number: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// How many fits failed, as the laws allow; or the law that was broken.
fn lived(format: Format, messages: &[Arc<Message>], case: &Case) -> Result<usize, String> {
    let config = case.settings.config(format, case.policy.clone(), case.thinking);
    let life = catch_unwind(AssertUnwindSafe(|| hold(&config, messages, &case.script, 1)));
    life.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

/// The smallest case like this one that fails, in words.
fn smallest(history: &mut impl ValueTree<Value = History>, case: &mut impl ValueTree<Value = Case>) -> String {
    let law = |(format, steps): &History, case: &Case| lived(*format, &render(*format, steps), case).err();
    let drawn = case.current();
    let (format, steps) = shrunk(history, |history| {
        // A binding that another format does not have would be another failure.
        bindings(history.0).contains(&drawn.thinking) && law(history, &drawn).is_some()
    });
    let history = (format, steps);
    let case = shrunk(case, |case| bindings(format).contains(&case.thinking) && law(&history, case).is_some());
    format!("{}\n{history:#?}\n{case:#?}", law(&history, &case).unwrap_or_default())
}

/// Simplifies as long as it still fails.
fn shrunk<T: ValueTree>(tree: &mut T, fails: impl Fn(&T::Value) -> bool) -> T::Value
where
    T::Value: Clone,
{
    let mut smallest = tree.current();
    let mut has_moved = tree.simplify();
    for _ in 0..SHRINKS {
        if !has_moved {
            break;
        }
        let candidate = tree.current();
        has_moved = if fails(&candidate) {
            smallest = candidate;
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    smallest
}

fn tree<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Tree {
    strategy.new_tree(runner).expect("no strategy here rejects anything")
}

fn hash_of(value: &impl Debug) -> u64 {
    let mut hasher = HashedText(DefaultHasher::new());
    write!(hasher, "{value:?}").expect("hashing does not fail");
    hasher.0.finish()
}

/// Hashes a text without having it in memory.
struct HashedText(DefaultHasher);

impl Write for HashedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
