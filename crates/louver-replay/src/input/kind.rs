//! What kind of file a text is.

use louver::display::truncate;
use serde_json::Value;

/// How many lines are looked at.
const LOOK_AHEAD: usize = 20;

/// The kinds of files that hold conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One JSON value: a request body, a wrapper, or a list of messages.
    Body,
    /// Such a value per line.
    BodyLines,
    /// A message per line.
    MessageLines,
    /// A session file of Claude Code.
    ClaudeCode,
    /// A rollout of Codex.
    Codex,
    /// A session file of Gemini CLI.
    GeminiCli,
    /// The same, a record per line.
    GeminiCliLines,
}

impl Kind {
    /// Whether a client wrote it while it worked, so that it says more than messages.
    pub fn is_session(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::GeminiCli | Self::GeminiCliLines)
    }

    /// The kind of a text, by its first lines.
    pub fn of(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).take(LOOK_AHEAD);
        let values: Vec<Option<Value>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
        match values.as_slice() {
            // A first line that is no whole object belongs to a value over several lines.
            [] | [None, ..] => Self::of_whole(text),
            [Some(only)] => Self::of_line(only).unwrap_or_else(|| Self::of_whole(text)),
            [Some(first), ..] if !first.is_object() => Self::of_whole(text),
            several => several.iter().flatten().find_map(Self::of_line).unwrap_or(Self::of_lines(several)),
        }
    }

    /// The tool that wrote a line, if it can be told.
    fn of_line(line: &Value) -> Option<Self> {
        let has = |key: &str| line.get(key).is_some();
        let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_codex = matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted");
        if has("payload") && is_codex {
            return Some(Self::Codex);
        }
        if has("parentUuid") || (kind == "summary" && has("leafUuid")) || kind == "file-history-snapshot" {
            return Some(Self::ClaudeCode);
        }
        if has("sessionId") && (has("projectHash") || has("startTime")) && !has("messages") {
            return Some(Self::GeminiCliLines);
        }
        None
    }

    fn of_lines(lines: &[Option<Value>]) -> Self {
        let is_body = |line: &Value| ["messages", "contents", "input"].iter().any(|key| line.get(key).is_some());
        let is_item = |line: &Value| line.get("role").is_some() || line.get("call_id").is_some();
        match lines.first().and_then(Option::as_ref) {
            Some(first) if is_body(first) && !is_item(first) => Self::BodyLines,
            _ => Self::MessageLines,
        }
    }

    /// One value. Gemini CLI's sessions have `messages` too, but with a `type` where a message has a `role`.
    fn of_whole(text: &str) -> Self {
        let head = truncate(text, 4_000);
        let is_session = head.trim_start().starts_with('{') && head.contains("\"sessionId\"");
        if is_session && (head.contains("\"projectHash\"") || head.contains("\"startTime\"")) {
            Self::GeminiCli
        } else {
            Self::Body
        }
    }
}
