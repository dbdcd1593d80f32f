//! The history rules of the Messages API.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};
use crate::models::{self, Thinking};

const MAX_CACHE_MARKS: usize = 4;

/// Names every history rule that a Messages body breaks.
pub(super) fn judge(body: &Value) -> Vec<Violation> {
    let messages = items(body, "messages");
    let mut found = Vec::new();
    first_message(messages, &mut found);
    for index in 0..messages.len() {
        content(messages, index, &mut found);
        system_place(messages, index, &mut found);
        tool_results(messages, index, &mut found);
        tool_uses(messages, index, &mut found);
        server_tools(messages, index, &mut found);
        stray_thinking(messages, index, &mut found);
    }
    cache_marks(body, &mut found);
    open_turn_thinking(body, messages, &mut found);
    found
}

fn first_message(messages: &[Value], found: &mut Vec<Violation>) {
    match messages.first() {
        None => found.push(Violation::new("no-messages", "messages", "messages: at least one message is required")),
        Some(first) if text(first, "role") != "user" && !starts_over(first) => found.push(Violation::new(
            "first-not-user",
            "messages.0",
            "messages: first message must use the \"user\" role",
        )),
        Some(_) => {}
    }
}

/// Whether a message stands in place of everything that was said before it.
fn starts_over(message: &Value) -> bool {
    text(message, "role") == "assistant" && items(message, "content").first().is_some_and(is_compaction)
}

/// Whether a block compacts anything; one that has no content failed to.
fn is_compaction(block: &Value) -> bool {
    let is_readable = !is_missing(block, "content");
    text(block, "type") == "compaction" && (is_readable || !is_missing(block, "encrypted_content"))
}

fn content(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    let message = &messages[index];
    let path = format!("messages.{index}");
    // A system entry may change how hard the model works, and say nothing.
    let says_how =
        text(message, "role") == "system" && !is_missing(message, "output_config") && !message["content"].is_string();
    if is_empty(message) && !says_how {
        found.push(Violation::new("empty-content", &path, format!("{path}: all messages must have non-empty content")));
        return;
    }
    if message.get("content").and_then(Value::as_str).is_some_and(is_blank) {
        found.push(blank_text(format!("{path}.content")));
    }
    for (position, block) in items(message, "content").iter().enumerate() {
        let place = format!("{path}.content.{position}");
        if is_blank_block(block) {
            found.push(blank_text(place));
        } else if text(block, "type") == "tool_result" {
            let inner = items(block, "content").iter().enumerate().filter(|(_, block)| is_blank_block(block));
            found.extend(inner.map(|(inner, _)| blank_text(format!("{place}.content.{inner}"))));
        }
    }
}

fn is_blank_block(block: &Value) -> bool {
    text(block, "type") == "text" && is_blank(text(block, "text"))
}

fn is_empty(message: &Value) -> bool {
    is_missing(message, "content")
        || message["content"].as_str().is_some_and(str::is_empty)
        || message["content"].as_array().is_some_and(Vec::is_empty)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn blank_text(path: String) -> Violation {
    Violation::new("blank-text", path, "messages: text content blocks must be non-empty")
}

fn system_place(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    if text(&messages[index], "role") != "system" {
        return;
    }
    let follows_well = index > 0 && may_precede_system(&messages[index - 1]);
    let followed_well = messages.get(index + 1).is_none_or(|next| text(next, "role") == "assistant");
    if !(follows_well && followed_well) {
        let path = format!("messages.{index}");
        let message = format!(
            "{path}: a `system` message must follow a `user` message and be last or followed by an `assistant` message"
        );
        found.push(Violation::new("system-misplaced", path, message));
    }
}

fn may_precede_system(message: &Value) -> bool {
    match text(message, "role") {
        "user" => true,
        "assistant" => items(message, "content").last().is_some_and(|block| {
            let kind = text(block, "type");
            is_server_use(kind) || is_server_result(kind)
        }),
        _ => false,
    }
}

/// Ids of the `tool_use` blocks of an assistant message, in order, repeated ones included.
fn use_ids(message: &Value) -> Vec<&str> {
    if text(message, "role") != "assistant" {
        return Vec::new();
    }
    blocks_of(message, "tool_use").map(|(_, block)| text(block, "id")).collect()
}

fn blocks_of<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = (usize, &'a Value)> {
    items(message, "content").iter().enumerate().filter(move |(_, block)| text(block, "type") == kind)
}

fn tool_results(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    let message = &messages[index];
    let mut open =
        if index > 0 && text(message, "role") == "user" { use_ids(&messages[index - 1]) } else { Vec::new() };
    let first_other = items(message, "content").iter().position(|block| text(block, "type") != "tool_result");
    for (position, block) in blocks_of(message, "tool_result") {
        let path = format!("messages.{index}.content.{position}");
        let id = text(block, "tool_use_id");
        match open.iter().position(|open_id| *open_id == id) {
            Some(answered) => drop(open.swap_remove(answered)),
            None => found.push(result_without_use(&path, id)),
        }
        if first_other.is_some_and(|other| other < position) {
            let message = uses_without_results(index.saturating_sub(1), &[id]);
            found.push(Violation::new("tool-result-not-first", path, message));
        }
    }
}

fn result_without_use(path: &str, id: &str) -> Violation {
    let message = format!(
        "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a \
         corresponding `tool_use` block in the previous message."
    );
    Violation::new("tool-result-without-use", path, message)
}

fn tool_uses(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    let mut open = use_ids(&messages[index]);
    if let Some(next) = messages.get(index + 1).filter(|next| text(next, "role") == "user") {
        for (_, result) in blocks_of(next, "tool_result") {
            if let Some(answered) = open.iter().position(|id| *id == text(result, "tool_use_id")) {
                open.remove(answered);
            }
        }
    }
    if !open.is_empty() {
        let path = format!("messages.{index}");
        let message = uses_without_results(index, &open);
        found.push(Violation::new("tool-use-without-result", path, message));
    }
}

/// The API says the same of results that are missing and of results that something else precedes.
fn uses_without_results(index: usize, ids: &[&str]) -> String {
    format!(
        "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    )
}

fn is_server_use(kind: &str) -> bool {
    kind == "server_tool_use" || kind == "mcp_tool_use"
}

fn is_server_result(kind: &str) -> bool {
    kind != "tool_result" && kind.ends_with("_tool_result")
}

fn server_tools(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    let blocks = items(&messages[index], "content");
    for (position, block) in blocks.iter().enumerate() {
        if !is_server_use(text(block, "type")) {
            continue;
        }
        let id = text(block, "id");
        let answered = blocks[position + 1..]
            .iter()
            .any(|later| is_server_result(text(later, "type")) && text(later, "tool_use_id") == id);
        if !answered {
            let name = text(block, "name");
            let message = format!(
                "messages.{index}: `{name}` tool use with id `{id}` was found without a corresponding \
                 `{name}_tool_result` block"
            );
            found.push(Violation::new(
                "server-tool-without-result",
                format!("messages.{index}.content.{position}"),
                message,
            ));
        }
    }
}

pub(super) fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), "thinking" | "redacted_thinking")
}

fn stray_thinking(messages: &[Value], index: usize, found: &mut Vec<Violation>) {
    if text(&messages[index], "role") == "assistant" {
        return;
    }
    for (position, block) in items(&messages[index], "content").iter().enumerate() {
        if is_thinking(block) {
            let path = format!("messages.{index}.content.{position}");
            let message = format!("{path}: `{}` blocks may only be in `assistant` messages", text(block, "type"));
            found.push(Violation::new("thinking-misplaced", path, message));
        }
    }
}

/// Every `cache_control` in the order tools, system, messages, the automatic one last.
pub(super) fn marks(body: &Value) -> Vec<&Value> {
    let mut marks = Vec::new();
    for field in ["tools", "system"] {
        items(body, field).iter().for_each(|block| marks.extend(mark(block)));
    }
    for message in items(body, "messages") {
        for block in items(message, "content") {
            items(block, "content").iter().for_each(|inner| marks.extend(mark(inner)));
            marks.extend(mark(block));
        }
    }
    marks.extend(mark(body));
    marks
}

fn mark(block: &Value) -> Option<&Value> {
    block.get("cache_control").filter(|mark| !mark.is_null())
}

fn cache_marks(body: &Value, found: &mut Vec<Violation>) {
    let count = marks(body).len();
    if count > MAX_CACHE_MARKS {
        let message =
            format!("A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {count}.");
        found.push(Violation::new("too-many-cache-marks", "cache_control", message));
    }
}

/// With manual thinking, the assistant messages since the last prompt are one turn, and it must start with thinking.
fn open_turn_thinking(body: &Value, messages: &[Value], found: &mut Vec<Violation>) {
    if !wants_leading_thinking(body) || !messages.last().is_some_and(is_only_results) {
        return;
    }
    let start = messages.iter().rposition(|message| text(message, "role") == "user" && !is_only_results(message));
    let start = start.map_or(0, |prompt| prompt + 1);
    // A turn begins behind the compaction that leads it in.
    let past_compaction = |index: usize| {
        let blocks = items(&messages[index], "content");
        let position = usize::from(blocks.first().is_some_and(is_compaction));
        (index, position, blocks.get(position))
    };
    let by_assistant = (start..messages.len()).filter(|&index| text(&messages[index], "role") == "assistant");
    let mut openings = by_assistant.map(past_compaction);
    let opening = openings.find(|(_, position, first)| *position == 0 || first.is_some());
    let Some((index, position, first)) = opening else { return };
    if first.is_some_and(|block| !is_thinking(block)) {
        let path = format!("messages.{index}.content.{position}.type");
        let kind = first.map_or("", |block| text(block, "type"));
        let message = format!(
            "{path}: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When `thinking` is enabled, a final \
             `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and \
             `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this \
             requirement, disable `thinking`."
        );
        found.push(Violation::new("thinking-misplaced", path, message));
    }
}

fn wants_leading_thinking(body: &Value) -> bool {
    let enabled = body.get("thinking").is_some_and(|thinking| text(thinking, "type") == "enabled");
    enabled && matches!(models::find(text(body, "model")).thinking, None | Some(Thinking::Manual))
}

/// Whether a message only carries tool results, and so continues the turn before it.
fn is_only_results(message: &Value) -> bool {
    let blocks = items(message, "content");
    text(message, "role") == "user" && blocks.iter().any(|block| text(block, "type") == "tool_result")
}
