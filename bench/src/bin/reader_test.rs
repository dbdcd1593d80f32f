//! Can somebody go on from the view? A kit for whoever has readers: people, or any capable language model.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin reader_test -- CONVERSATION OUT_FOLDER [--at REQUEST]
//! [--policy ladder] [--seed N]`
//!
//! Replay cannot say whether a ledger is of use; a reader can. The conversation is cut at a request, and the folder gets:
//!
//! - `whole.md`: everything up to the request and what followed, for the one who writes the questions;
//! - `questions.md`: an empty sheet of 16 questions with their key, 8 on decisions and 8 on facts, whose answers stand only
//!   in what was folded and which whoever goes on must be able to answer;
//! - `view-a.md`, `view-b.md`: the policy's view and the newest text of the same size, in an order that the seed decides,
//!   each for a fresh reader who gets nothing else;
//! - `answers-a.md`, `answers-b.md`: empty sheets for them, on which what the view says stands apart from what is guessed;
//! - `grading.md`: an empty sheet for the grader, who does not know which view is which: 1 for right, 0.5 for half right,
//!   0 for no answer, -0.5 for confidently wrong; once for what the view says alone, once with the guesses;
//! - `which.json`: which view is which, to be opened last.
//!
//! The folder holds the conversation's text: keep it to yourself unless you may share that.

use louver::budget::Budget;
use louver::plain_text::{Speaker, plain_texts};
use louver::policy::PolicyKind;
use louver::tokens::CounterChoice;
use louver::window::{Window, WindowConfig};
use louver::wire::Message;
use louver_bench::Random;
use louver_replay::Conversation;
use louver_replay::input::{find, read};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const CONTEXT_WINDOW: u64 = 200_000;
const QUESTIONS: [(&str, usize); 2] =
    [("Decisions, wishes, causes, what is open", 8), ("Facts that going on needs", 8)];

fn main() -> ExitCode {
    match Arguments::read().map_err(Into::into).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// What was asked for.
struct Arguments {
    conversation: PathBuf,
    folder: PathBuf,
    at: Option<usize>,
    policy: String,
    seed: u64,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let (mut paths, mut at, mut policy, mut seed) = (Vec::new(), None, "ladder".to_owned(), 1);
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
            let number = |text: String| text.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
            match argument.as_str() {
                "--at" => at = Some(usize::try_from(number(value()?)?).unwrap_or(usize::MAX)),
                "--policy" => policy = value()?,
                "--seed" => seed = number(value()?)?,
                _ => paths.push(PathBuf::from(&argument)),
            }
        }
        let mut paths = paths.into_iter();
        let (Some(conversation), Some(folder)) = (paths.next(), paths.next()) else {
            return Err("name a recorded conversation and a folder to write to".to_owned());
        };
        Ok(Self { conversation, folder, at, policy, seed })
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let source = find(std::slice::from_ref(&arguments.conversation)).into_iter().next();
    let conversations = read(&source.ok_or("no conversation there")?)?;
    let longest = conversations.into_iter().max_by_key(|one| one.messages.len()).ok_or("no conversation there")?;
    let turns = longest.turns();
    let at = arguments.at.unwrap_or(turns.len() * 3 / 4);
    let turn = turns.get(at.saturating_sub(1)).ok_or("there is no such request")?;
    let window = window_at(&longest, turn.at, arguments.policy.parse()?)?;
    let view: Vec<&Message> = window.view().iter().map(|sent| sent.message).collect();
    let size: usize = view.iter().map(|message| text_of(message).len()).sum();
    let newest = newest(&longest.messages[..turn.at], size);
    let is_swapped = Random::new(arguments.seed).below(2) == 1;
    let views = [written(&view), newest];
    let names = if is_swapped { ["b", "a"] } else { ["a", "b"] };
    std::fs::create_dir_all(&arguments.folder)?;
    let put = |name: &str, text: &str| std::fs::write(arguments.folder.join(name), text);
    for (name, text) in names.iter().zip(&views) {
        put(&format!("view-{name}.md"), text)?;
        put(
            &format!("answers-{name}.md"),
            &sheet(
                "Answer from the view alone, and keep apart what it says and what you only guess.",
                &["what the view says", "what is guessed beyond that"],
            ),
        )?;
    }
    put("whole.md", &whole(&longest.messages, turn.at))?;
    put(
        "questions.md",
        &sheet("Ask what whoever goes on must know and only what was folded says.", &["question", "key"]),
    )?;
    put(
        "grading.md",
        &sheet(
            "1 right, 0.5 half right, 0 none, -0.5 confidently wrong.",
            &["a, as said", "a, with guesses", "b, as said", "b, with guesses"],
        ),
    )?;
    put("which.json", &which(arguments, names, at))?;
    println!("{}: request {at} of {}, views of {size} characters", arguments.folder.display(), turns.len());
    Ok(())
}

fn which(arguments: &Arguments, names: [&str; 2], at: usize) -> String {
    let file = Path::new(&arguments.conversation).display().to_string();
    let value =
        serde_json::json!({ names[0]: arguments.policy, names[1]: "newest text", "conversation": file, "request": at });
    format!("{value:#}\n")
}

/// The window right before a request.
fn window_at(conversation: &Conversation, at: usize, policy: PolicyKind) -> Result<Window, Box<dyn Error>> {
    let mut config = WindowConfig::new(conversation.format, policy).with_budget(Budget::new(CONTEXT_WINDOW, None)?);
    config.counter = CounterChoice::Chars4.resolve(None);
    config.overhead = conversation.overhead(&*config.counter, None);
    let mut window = Window::new(config)?;
    for turn in conversation.turns().iter().take_while(|turn| turn.at <= at) {
        for message in &conversation.messages[window.len()..turn.at] {
            window.push(Arc::clone(message));
        }
        window.fit()?;
    }
    Ok(window)
}

/// The newest text of so many characters.
fn newest(messages: &[Arc<Message>], size: usize) -> String {
    let text = written(&messages.iter().map(|message| &**message).collect::<Vec<_>>());
    let start = text.char_indices().rev().nth(size.saturating_sub(1)).map_or(0, |(at, _)| at);
    text[start..].to_owned()
}

fn whole(messages: &[Arc<Message>], at: usize) -> String {
    let both = messages.split_at(at);
    let written = |part: &[Arc<Message>]| written(&part.iter().map(|message| &**message).collect::<Vec<_>>());
    format!("{}\n\n# WHAT FOLLOWED\n\n{}", written(both.0), written(both.1))
}

fn written(messages: &[&Message]) -> String {
    messages.iter().map(|message| text_of(message)).collect::<Vec<_>>().join("\n")
}

fn text_of(message: &Message) -> String {
    let mut text = String::new();
    plain_texts(message, |speaker, _, said| {
        let name = match speaker {
            Speaker::User => "user",
            Speaker::Tool => "tool",
            Speaker::Own => "agent",
        };
        let _ = writeln!(text, "## {name}\n{said}");
    });
    text
}

/// An empty table of the questions.
fn sheet(task: &str, columns: &[&str]) -> String {
    let mut text = format!("{task}\n");
    for (about, count) in QUESTIONS {
        let _ = writeln!(text, "\n{about}\n\n| | {} |\n|---|{}", columns.join(" | "), "---|".repeat(columns.len()));
        (1..=count).for_each(|number| _ = writeln!(text, "| {number} |{}", "  |".repeat(columns.len())));
    }
    text
}
