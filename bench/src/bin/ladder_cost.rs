//! What the policy `ladder` costs: a turn at which it only looks, and a cut of a full conversation.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin ladder_cost [-- --json]`
//!
//! Counting is left out: the messages are counted beforehand. With free reads no cut ever pays off, so the window is cut
//! when it is full and not before.

use louver::budget::Budget;
use louver::count::count_message;
use louver::policy::Economy;
use louver::tokens::{Chars4, Factor, Millitokens};
use louver::window::{ConversationWindow, WindowConfig};
use louver::wire::{Format, Message};
use louver_bench::{Conversation, Median, nanoseconds};
use std::sync::Arc;

const CONTEXT_WINDOW: u64 = 200_000;
const TURNS: usize = 2_000;
const ROUNDS: usize = 7;

#[derive(serde::Serialize)]
struct Case {
    policy: &'static str,
    format: &'static str,
    /// Between two cuts: append a turn, fit, take the view.
    ns_per_turn: u64,
    /// The first fit that cuts.
    cut_ns: u64,
    tokens_before: u64,
    tokens_after: u64,
}

fn main() {
    let is_json = std::env::args().any(|argument| argument == "--json");
    for format in [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses, Format::Gemini] {
        let conversation = Conversation::generate(format, TURNS, 7);
        let turns = counted(&conversation);
        for policy in ["ladder-lean", "ladder", "ladder-careful"] {
            let case = measure(policy, format, &turns);
            if is_json {
                println!("{}", serde_json::to_string(&case).expect("numbers and names are JSON"));
            } else {
                println!(
                    "{:<17} {:<15} {:>6} ns a turn, {:>8.2} ms a cut from {} to {} tokens",
                    format.name(),
                    policy,
                    case.ns_per_turn,
                    case.cut_ns as f64 / 1e6,
                    case.tokens_before,
                    case.tokens_after
                );
            }
        }
    }
}

type Counted = (Arc<Message>, Millitokens);

/// The opening and the turns, read and counted.
fn counted(conversation: &Conversation) -> Vec<Vec<Counted>> {
    let read = |raw: &String| {
        let message = Message::parse(conversation.format, raw).expect("what is generated can be read");
        let amount = count_message(&Chars4, &message);
        (Arc::new(message), amount)
    };
    let opening = vec![read(&conversation.opening)];
    std::iter::once(opening).chain(conversation.turns.iter().map(|turn| turn.iter().map(read).collect())).collect()
}

fn measure(policy: &'static str, format: Format, turns: &[Vec<Counted>]) -> Case {
    let mut config = WindowConfig::new(format, policy);
    config.settings.budget = Some(Budget::new(CONTEXT_WINDOW, None).expect("a usual reserve leaves room"));
    config.settings.economy = Economy { read: Factor::from_thousandths(0), ..Economy::default() };
    let (mut quiet, mut cuts) = (Median::default(), Median::default());
    let (mut tokens_before, mut tokens_after) = (0, 0);
    for _ in 0..ROUNDS {
        let mut window = ConversationWindow::new(config.clone()).expect("a policy of the table");
        let mut turns = turns.iter();
        let cut = loop {
            let turn = turns.next().expect("enough turns to fill the window");
            let mut fit = None;
            let ns = nanoseconds(|| {
                for (message, amount) in turn {
                    window.push_counted(Arc::clone(message), *amount);
                }
                fit = window.fit().ok();
                window.view().iter().next().is_some()
            });
            match fit {
                Some(fit) if fit.is_cut() => break (ns, fit),
                _ => quiet.add(ns),
            }
        };
        cuts.add(cut.0);
        (tokens_before, tokens_after) = (cut.1.tokens_before, cut.1.tokens_after);
    }
    Case {
        policy,
        format: format.name(),
        ns_per_turn: quiet.get(),
        cut_ns: cuts.get(),
        tokens_before,
        tokens_after,
    }
}
