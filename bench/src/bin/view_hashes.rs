//! A hash of every view and every record of a whole corpus: two builds that print the same decide the same, to the byte.
//!
//! `LOUVER_CORPUS=... cargo run --release --manifest-path bench/Cargo.toml --bin view_hashes [-- --policies ladder,tokens]
//! [--counters chars4,auto] [--windows 200000,24000]`
//!
//! Each conversation is lived through as it was recorded: a fit before each of the model's answers and one behind the last.
//! Of every view the origin of each message goes into the hash, and the words of whatever does not stand as it came in,
//! with its sources; then the bill, and the records from which the window could be opened again. Generated conversations,
//! whose names are all new, come on top.

use louver::budget::Budget;
use louver::catalog::Catalog;
use louver::policy::PolicyKind;
use louver::tokens::CounterChoice;
use louver::window::{Origin, Window, WindowConfig};
use louver::wire::{Body, Format};
use louver_bench::{Random, turn_of_new_names};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The model of a conversation that names none.
const MODEL: &str = "claude-sonnet-4-5";
/// Turns of a generated conversation.
const TURNS: usize = 300;

fn main() {
    let Some(corpus) = std::env::var_os("LOUVER_CORPUS") else {
        println!("skipped: LOUVER_CORPUS is not set");
        return;
    };
    let mut bodies: Vec<Body> = files(Path::new(&corpus)).iter().map(|path| read(path)).collect();
    bodies.push(generated());
    println!("{} conversations", bodies.len());
    for policy in list("--policies", "ladder,ladder-lean,ladder-careful,ladder-full") {
        let policy: PolicyKind = policy.parse().expect("a known policy");
        for counter in list("--counters", "chars4,auto") {
            let counter: CounterChoice = counter.parse().expect("a known counter");
            for window in list("--windows", "200000,24000") {
                let window = window.parse().expect("--windows takes numbers");
                let mut told = Told::default();
                bodies.iter().for_each(|body| told.live(body, policy.clone(), counter, window));
                let Told { hasher, requests, cuts, failures } = told;
                println!(
                    "{:<15} {counter:?} {window}: {:016x}; {requests} requests, {cuts} cuts, {failures} that cannot fit",
                    policy.name(),
                    hasher.finish()
                );
            }
        }
    }
}

/// What was seen of many conversations.
#[derive(Default)]
struct Told {
    hasher: DefaultHasher,
    requests: usize,
    cuts: usize,
    failures: usize,
}

impl Told {
    fn live(&mut self, body: &Body, policy: PolicyKind, counter: CounterChoice, window: u64) {
        let known = Catalog::builtin().find(body.model().unwrap_or(MODEL)).or(Catalog::builtin().find(MODEL));
        let model = known.expect("a known model").model;
        let config = WindowConfig::new(body.format(), policy).with_model(Some(&model), counter);
        let config = config.with_budget(Budget::new(window, None).expect("a usual reserve leaves room"));
        let mut window = Window::new(config.with_frame(body)).expect("settings");
        let messages = body.messages();
        let is_models = |index: usize| messages.get(index).is_some_and(|message| message.shape().is_from_model());
        for (index, message) in messages.iter().enumerate() {
            if is_models(index) && index > 0 && !is_models(index - 1) {
                self.request(&mut window);
            }
            window.push(message.clone());
        }
        self.request(&mut window);
        let records = window.records_since(0).map(|record| serde_json::to_string(&record).expect("a record"));
        records.for_each(|record| record.hash(&mut self.hasher));
        format!("{:?}", window.account()).hash(&mut self.hasher);
    }

    fn request(&mut self, window: &mut Window) {
        self.requests += 1;
        match window.fit() {
            Ok(fit) => {
                self.cuts += usize::from(fit.is_cut());
                (fit.tokens_before, fit.tokens_after, fit.tokens_expected).hash(&mut self.hasher);
            }
            Err(overflow) => {
                self.failures += 1;
                format!("{overflow:?}").hash(&mut self.hasher);
            }
        }
        for sent in window.view().iter() {
            match sent.origin {
                Origin::Kept(index) => index.hash(&mut self.hasher),
                origin => {
                    (format!("{origin:?}{:?}", sent.sources), sent.message.raw()).hash(&mut self.hasher);
                }
            }
        }
    }
}

fn list(option: &str, usual: &str) -> Vec<String> {
    let given = std::env::args().skip_while(|argument| argument != option).nth(1);
    given.as_deref().unwrap_or(usual).split(',').map(str::to_owned).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let in_entry = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    let mut files: Vec<PathBuf> = entries.flat_map(in_entry).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

fn read(path: &Path) -> Body {
    let bytes = std::fs::read(path).expect("a file that can be read");
    Body::parse_bytes(&bytes, None).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn generated() -> Body {
    let mut random = Random::new(7);
    let mut messages = vec![r#"{"role":"user","content":"Mend whatever is broken."}"#.to_owned()];
    messages.extend((0..TURNS).flat_map(|number| turn_of_new_names(&mut random, number)));
    Body::parse(&format!("[{}]", messages.join(",")), Some(Format::Anthropic)).expect("a list")
}
