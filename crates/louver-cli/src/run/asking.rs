//! `--ask`: nothing is changed before somebody at the terminal has said so.

use crate::printer::{safe, truncate};
use anyhow::Context;
use async_trait::async_trait;
use louver_agent::tools::Approver;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// The terminal of whoever started the run, wherever its streams lead.
const TERMINAL: &str = "/dev/tty";

/// Characters of a call that are shown.
const SHOWN_CHARS: usize = 400;

/// Somebody at a terminal.
#[derive(Debug, Default)]
pub(super) struct Asking {
    /// What does not have to be asked again.
    always: Mutex<BTreeSet<String>>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
    is_waiting: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Once,
    Always,
    No,
}

impl Asking {
    /// Where there is a terminal.
    pub(super) fn at_terminal() -> anyhow::Result<Self> {
        terminal().context("--ask needs a terminal to ask at")?;
        Ok(Self::default())
    }

    /// Whether a question stands on the terminal, which nothing may write over.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    fn is_known(&self, subject: &str) -> bool {
        self.always.lock().unwrap_or_else(PoisonError::into_inner).contains(subject)
    }
}

#[async_trait]
impl Approver for Asking {
    async fn allows(&self, tool: &str, arguments: &Value) -> bool {
        let subject = subject(tool, arguments);
        let _turn = self.turn.lock().await;
        if self.is_known(&subject) {
            return true;
        }
        let (sender, answer) = oneshot::channel();
        let question = question(tool, arguments);
        self.is_waiting.store(true, Ordering::Relaxed);
        // A thread of its own: one of the runtime's would be waited for when the run is stopped meanwhile.
        std::thread::spawn(move || sender.send(ask(&question).unwrap_or(Answer::No)));
        let answer = answer.await.unwrap_or(Answer::No);
        self.is_waiting.store(false, Ordering::Relaxed);
        if answer == Answer::Always {
            self.always.lock().unwrap_or_else(PoisonError::into_inner).insert(subject);
        }
        answer != Answer::No
    }
}

/// What "always" is about: a command with its arguments, and any other tool whatever it is called with.
fn subject(tool: &str, arguments: &Value) -> String {
    if tool == "run_command" {
        format!("{tool} {} {}", arguments["command"], arguments["args"])
    } else {
        tool.to_owned()
    }
}

fn question(tool: &str, arguments: &Value) -> String {
    let what = match (tool, &arguments["path"], &arguments["content"]) {
        ("write_file", Value::String(path), Value::String(content)) => format!("{path} ({} bytes)", content.len()),
        _ => arguments.to_string(),
    };
    let what = louver_agent::redact(truncate(&what, SHOWN_CHARS)).into_owned();
    format!("\r\u{1b}[K{} {}\n[o]nce, [a]lways, [n]o? ", safe(tool), safe(&what))
}

fn terminal() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(TERMINAL)
}

fn ask(question: &str) -> io::Result<Answer> {
    let mut terminal = terminal()?;
    terminal.write_all(question.as_bytes())?;
    let mut typed = String::new();
    BufReader::new(terminal).read_line(&mut typed)?;
    Ok(match typed.trim().to_ascii_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => Answer::Once,
        "a" | "always" => Answer::Always,
        _ => Answer::No,
    })
}
