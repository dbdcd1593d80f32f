//! What a window holds in memory, over the bytes of its log.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin window_memory`
//!
//! Logs of 1, 10 and 100 MB, of turns of 9 KB whose names are all new and of the usual 2 KB. Every figure comes from a
//! process of its own: freed memory that another window left behind would be used again and not be seen. A process makes
//! several windows of a small log and keeps them, so that what any process takes does not count. Memory is what the
//! system says that the process holds, the allocator's loss included.

use louver::budget::Budget;
use louver::policy::PolicyKind;
use louver::tokens::CounterChoice;
use louver::window::{Window, WindowConfig};
use louver::wire::Format;
use louver_bench::{Conversation, Random, resident_bytes, turn_of_new_names};
use std::process::Command;

const CONTEXT_WINDOW: u64 = 200_000;
const POLICIES: [&str; 2] = ["messages", "ladder"];
/// Bytes of a log, and how many windows are made of it.
const LOGS: [(usize, usize); 3] = [(1_000_000, 32), (10_000_000, 6), (100_000_000, 1)];
/// Turns that are generated at once.
const BATCH_TURNS: usize = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [policy, kind, bytes, windows] = arguments.as_slice() {
        let number = |text: &str| text.parse().expect("a number");
        println!("{}", share(policy, kind, number(bytes), number(windows)));
        return;
    }
    println!(
        "memory of a window over the bytes of its log, cut as it grows, chars4, a window of {CONTEXT_WINDOW} tokens"
    );
    let program = std::env::current_exe().expect("this program has a path");
    for kind in ["9 KB", "2 KB"] {
        for policy in POLICIES {
            for (bytes, windows) in LOGS {
                let mut child = Command::new(&program);
                child.args([policy, kind, &bytes.to_string(), &windows.to_string()]);
                let output = child.output().expect("this program can be started").stdout;
                let share = String::from_utf8_lossy(&output);
                println!("turns of {kind}, {policy:<9} {:>4} MB: {}", bytes / 1_000_000, share.trim());
            }
        }
    }
}

/// What windows hold over what their logs hold.
fn share(policy: &str, kind: &str, bytes: usize, windows: usize) -> String {
    // Whatever the first window of a process loads is there before anything is counted.
    drop(Grown::to(50_000, policy, kind));
    let before = resident_bytes();
    let grown: Vec<Grown> = (0..windows).map(|_| Grown::to(bytes, policy, kind)).collect();
    let held = resident_bytes().saturating_sub(before);
    let log: usize = grown.iter().map(|grown| grown.log_bytes).sum();
    format!(
        "{:.2} ({} messages, {} in the view)",
        held as f64 / log as f64,
        grown[0].window.len(),
        grown[0].window.view().len()
    )
}

/// A window that was fitted after every turn.
struct Grown {
    window: Window,
    log_bytes: usize,
}

impl Grown {
    fn to(bytes: usize, policy: &str, kind: &str) -> Self {
        let policy: PolicyKind = policy.parse().expect("a known policy");
        let mut config = WindowConfig::new(Format::Anthropic, policy).with_model(None, CounterChoice::Chars4);
        config.budget = Some(Budget::new(CONTEXT_WINDOW, None).expect("a usual reserve leaves room"));
        let mut grown = Self { window: Window::new(config).expect("settings"), log_bytes: 0 };
        grown.push(r#"{"role":"user","content":"Mend whatever is broken."}"#);
        let mut random = Random::new(7);
        let mut batches = 0;
        while grown.log_bytes < bytes {
            let turns = match kind {
                "9 KB" => vec![turn_of_new_names(&mut random, batches)],
                _ => Conversation::generate(Format::Anthropic, BATCH_TURNS, batches as u64).turns,
            };
            batches += 1;
            for turn in turns {
                turn.iter().for_each(|raw| grown.push(raw));
                grown.window.fit().expect("every turn fits");
            }
        }
        grown
    }

    fn push(&mut self, raw: &str) {
        self.log_bytes += raw.len();
        self.window.push_raw(raw).expect("a message");
    }
}
