//! Draws conversations, policies, settings and events for as long as one likes and holds the engine to its laws.
//!
//! ```text
//! cargo run --release -p louver --example soak -- --tuples 1000000 --seed 7 --seconds 600
//! ```
//!
//! Whether a view is legal is judged twice: by the engine's reading of the rules and by the sandbox's, which shares no
//! code with it. The same seed draws the same cases on any machine. A failure is printed with its seed and case, and the exit code is
//! 1 then.

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
use std::fmt::{self, Debug};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
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
    let mut soak = Soak::new(&options);
    match soak.run(&options) {
        Ok(()) => {
            println!("{}, 0 failures, {:.0} per second", soak.tally, soak.rate());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("{failure}\n{}, 1 failure, {:.0} per second", soak.tally, soak.rate());
            ExitCode::FAILURE
        }
    }
}

/// What the sandbox finds, which reads the rules without the engine's code.
fn by_sandbox(config: &WindowConfig, messages: &[(Option<usize>, &Message)]) -> Broken {
    let format: louver_sandbox::Format = config.format.name().parse().expect("the sandbox serves every format");
    let history: Vec<Value> =
        messages.iter().map(|(_, message)| serde_json::from_str(message.raw()).expect("a message is JSON")).collect();
    let mut body = json!({ format.history_field(): history });
    if config.thinking == ThinkingBinding::OpenTurn {
        body["thinking"] = json!({ "type": "enabled" });
    }
    // Where a tool id repeats, the two may blame different messages for the same missing answer: so they are numbered.
    let mut found: Vec<String> =
        louver_sandbox::judge(format, &body).into_iter().map(|it| it.rule.to_string()).collect();
    found.sort_unstable();
    let same = found.chunk_by(|a, b| a == b);
    same.flat_map(|same| same.iter().enumerate().map(|(number, rule)| (format!("{rule} {number}"), None))).collect()
}

/// What the command line says.
#[derive(Debug)]
struct Options {
    tuples: usize,
    seed: u64,
    /// Stops earlier, if this much time has passed.
    limit: Option<Duration>,
}

impl Options {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self { tuples: 10_000, seed: 0, limit: None };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let usage = || format!("`{name}`: expected --tuples N, --seed S or --seconds T, each with a whole number");
            let value: u64 = arguments.next().and_then(|value| value.parse().ok()).ok_or_else(usage)?;
            match name.as_str() {
                "--tuples" => options.tuples = usize::try_from(value).map_err(|_| usage())?,
                "--seed" => options.seed = value,
                "--seconds" => options.limit = Some(Duration::from_secs(value)),
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

/// A soak in progress.
#[derive(Debug)]
struct Soak {
    runner: TestRunner,
    tally: Tally,
    start: Instant,
    printed: Instant,
}

impl Soak {
    fn new(options: &Options) -> Self {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&options.seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let now = Instant::now();
        Self {
            runner: TestRunner::new_with_rng(Config::default(), rng),
            tally: Tally::default(),
            start: now,
            printed: now,
        }
    }

    fn run(&mut self, options: &Options) -> Result<(), String> {
        while self.tally.distinct.len() < options.tuples {
            if options.limit.is_some_and(|limit| self.start.elapsed() >= limit) {
                break;
            }
            let history = tree(&histories_of_a_format(), &mut self.runner);
            self.live(history, options)?;
            self.print_progress();
        }
        Ok(())
    }

    /// Lives through one history in several ways.
    fn live(&mut self, mut history: impl ValueTree<Value = History>, options: &Options) -> Result<(), String> {
        let (format, steps) = history.current();
        let messages = render(format, &steps);
        let key = hash_of(&(format, &steps));
        self.tally.histories.insert(key);
        let cases = cases(format);
        let missing = options.tuples.saturating_sub(self.tally.distinct.len());
        for _ in 0..missing.min(TUPLES_PER_HISTORY) {
            let mut drawn = tree(&cases, &mut self.runner);
            let case = drawn.current();
            if self.tally.distinct.insert(hash_of(&(key, &case))) {
                let Ok(failed) = lived(format, &messages, &case) else {
                    return Err(format!("FAILED, seed {}: {}", options.seed, smallest(&mut history, &mut drawn)));
                };
                self.tally.bound += usize::from(case.thinking != ThinkingBinding::None);
                self.tally.failing += usize::from(failed > 0);
            }
        }
        Ok(())
    }

    fn print_progress(&mut self) {
        if self.printed.elapsed() >= PROGRESS {
            self.printed = Instant::now();
            println!("{}, {:.0} per second", self.tally, self.rate());
        }
    }

    fn rate(&self) -> f64 {
        self.tally.distinct.len() as f64 / self.start.elapsed().as_secs_f64().max(0.001)
    }
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
    let mut hasher = DefaultHasher::new();
    format!("{value:?}").hash(&mut hasher);
    hasher.finish()
}
