//! Codex's rollouts.
//!
//! Each line is `{timestamp, type, payload}`. A `response_item` is an item of the history as it was sent; a
//! `compacted` line replaces the history, so what follows is a conversation of its own, and turns that are rolled back
//! are a branch. A `token_count` says what the answer before it was billed as, sometimes more than once.

use super::{ReadError, lines, moment, numbered, push};
use crate::billed::Billed;
use crate::conversation::{Conversation, Strand};
use louver::wire::Part;
use louver::{Format, Message, Role};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_128;

#[derive(Deserialize)]
struct Line {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    payload: Option<Box<RawValue>>,
}

/// What is of use in a payload, whatever line it belongs to.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    info: Option<TokenInfo>,
    instructions: Option<String>,
    base_instructions: Option<BaseInstructions>,
    message: Option<String>,
    replacement_history: Option<Vec<Box<RawValue>>>,
    num_turns: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BaseInstructions {
    text: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TokenInfo {
    model_context_window: Option<u64>,
    last_token_usage: TokenUsage,
    total_token_usage: TokenUsage,
}

/// Input includes what was read from the cache and written to it, output includes reasoning.
#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
struct TokenUsage {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
}

impl TokenUsage {
    fn billed(&self, at: usize, model: Option<String>, id: String) -> Billed {
        let (read, written) = (self.cached_input_tokens, self.cache_write_input_tokens);
        let uncached = self.input_tokens.saturating_sub(read + written);
        Billed { at, id: Some(id), model, uncached, read, written, written_1h: 0, output: self.output_tokens }
    }
}

/// The conversations of a rollout: one, and one more per compaction.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let mut reader = Reader {
        name,
        done: Vec::new(),
        branches: Vec::new(),
        open: empty(name, None),
        model: None,
        answer: None,
        total: TokenUsage::default(),
    };
    for (number, line) in lines::parse::<Line>(text)? {
        reader.read(number, &line)?;
    }
    let mut found = reader.done;
    found.push(reader.open);
    found.extend(reader.branches);
    found.retain(|conversation| !conversation.messages.is_empty());
    Ok(found)
}

struct Reader<'a> {
    name: &'a str,
    done: Vec<Conversation>,
    branches: Vec<Conversation>,
    open: Conversation,
    /// The model of the present turn.
    model: Option<String>,
    /// Where the answer starts that nothing has been billed for yet.
    answer: Option<usize>,
    /// What had been billed in all.
    total: TokenUsage,
}

impl Reader<'_> {
    fn read(&mut self, number: usize, line: &Line) -> Result<(), ReadError> {
        let Some(raw) = line.payload.as_deref() else {
            return Ok(());
        };
        let time = moment::millis(line.timestamp.as_deref());
        // Payloads that are no objects, or have other fields under these names, say nothing to us.
        let payload: Payload = serde_json::from_str(raw.get()).unwrap_or_default();
        match (line.kind.as_str(), payload.kind.as_deref()) {
            ("session_meta", _) => self.open_session(payload),
            ("turn_context", _) => {
                self.model = payload.model;
                self.open.model = self.open.model.take().or_else(|| self.model.clone());
            }
            ("response_item", kind) if kind != Some("ghost_snapshot") => self.add(number, raw.get(), time)?,
            ("compacted", _) => self.compact(number, payload, time)?,
            ("event_msg", Some("token_count")) => self.bill(&payload.info.unwrap_or_default()),
            ("event_msg", Some("thread_rolled_back")) => self.roll_back(payload.num_turns.unwrap_or(0)),
            _ => {}
        }
        Ok(())
    }

    fn open_session(&mut self, payload: Payload) {
        let instructions = payload.base_instructions.and_then(|base| base.text).or(payload.instructions);
        self.open.system.extend(instructions);
        self.open.session = self.open.session.take().or(payload.id);
        self.open.project = self.open.project.take().or(payload.cwd);
    }

    fn add(&mut self, line: usize, raw: &str, time: Option<i64>) -> Result<(), ReadError> {
        let at = self.open.messages.len();
        push(&mut self.open, line, raw, time)?;
        let shape = self.open.messages[at].shape();
        if shape.is_from_model() {
            self.answer.get_or_insert(at);
        } else if shape.role == Role::User {
            // An answer that was interrupted is never billed: what comes next is not its bill.
            self.answer = None;
        }
        Ok(())
    }

    /// What the answer that was read last was billed as, unless that was said before.
    fn bill(&mut self, info: &TokenInfo) {
        self.open.context_window = info.model_context_window.or(self.open.context_window);
        let is_said = info.total_token_usage == self.total;
        self.total = info.total_token_usage;
        let usage = info.last_token_usage;
        if is_said || usage.input_tokens == 0 {
            return;
        }
        if let Some(at) = self.answer.take() {
            let answer: Vec<&str> = self.open.messages[at..].iter().map(|message| message.raw()).collect();
            let name = format!("{:032x} {}", xxh3_128(answer.join("\n").as_bytes()), usage.input_tokens);
            self.open.billed.push(usage.billed(at, self.model.clone(), name));
        }
    }

    fn compact(&mut self, line: usize, payload: Payload, time: Option<i64>) -> Result<(), ReadError> {
        let next = empty(&numbered(self.name, self.done.len() + 1), Some(&self.open));
        self.done.push(std::mem::replace(&mut self.open, next));
        self.answer = None;
        match payload.replacement_history {
            Some(items) => items.iter().try_for_each(|item| push(&mut self.open, line, item.get(), time)),
            None => {
                let summary = payload.message.unwrap_or_default();
                let wire = Format::OpenAiResponses.wire();
                push(&mut self.open, line, &wire.write(Role::User, &summary), time)
            }
        }
    }

    /// Takes the newest turns back, each from its user message on; all of them where there are fewer. What was paid for
    /// them is a branch.
    fn roll_back(&mut self, turns: usize) {
        let starts: Vec<usize> =
            (0..self.open.messages.len()).filter(|index| is_turn_start(&self.open.messages[*index])).collect();
        let back = turns.min(starts.len());
        let Some(start) = back.checked_sub(1).and_then(|back| starts.iter().rev().nth(back)) else {
            return;
        };
        let stem = self.open.turns().iter().filter(|turn| turn.at < *start).count();
        let name = format!("{}#branch-{}", self.name, self.branches.len() + 1);
        let counted_elsewhere = self.open.counted_elsewhere.max(stem);
        let branch = Conversation { file: name, strand: Strand::Branch, counted_elsewhere, ..self.open.clone() };
        if branch.turns().len() > counted_elsewhere {
            self.branches.push(branch);
        }
        self.open.messages.truncate(*start);
        self.open.times.truncate(*start);
        self.open.billed.retain(|one| one.at < *start);
        self.answer = None;
    }
}

/// How messages begin that Codex writes in the user's name.
const CONTEXTUAL: [&str; 7] = [
    "<environment_context>",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
    "# AGENTS.md instructions",
];

/// Whether a turn starts here: the user said it, and not Codex for them.
fn is_turn_start(message: &Message) -> bool {
    let shape = message.shape();
    let is_contextual = |part: &Part| {
        let text = message.text_of(part);
        CONTEXTUAL.iter().any(|start| text.trim_start().starts_with(start))
    };
    shape.role == Role::User && !shape.parts.iter().any(is_contextual)
}

/// A conversation without messages, of the same session as another.
fn empty(name: &str, like: Option<&Conversation>) -> Conversation {
    let fresh = Conversation::new(name, Format::OpenAiResponses, Vec::new());
    match like {
        Some(like) => Conversation {
            model: like.model.clone(),
            system: like.system.clone(),
            session: like.session.clone(),
            project: like.project.clone(),
            context_window: like.context_window,
            ..fresh
        },
        None => fresh,
    }
}
