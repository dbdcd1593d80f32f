//! What the Messages API refuses, in its own words.

use super::pairing;
use crate::wire::{History, Message, Part, PartKind, Role, Shape, Thinking, Violation};

/// Blocks with a cache mark that one request may have.
pub(super) const MAX_CACHE_MARKS: u64 = 4;

const BLANK_TEXT: &str = "messages: text content blocks must be non-empty";

/// Every rule that the history breaks, in message order.
pub(super) fn check(history: &History<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    match history.messages.first() {
        None => found.push(violation("no-messages", 0, "", "messages: at least one message is required")),
        Some(first) if first.shape().role != Role::User => {
            let message = "messages: first message must use the \"user\" role";
            found.push(violation("first-not-user", 0, "", message));
        }
        Some(_) => {}
    }
    for index in 0..history.messages.len() {
        check_message(&history.messages, index, &mut found);
    }
    found.extend(open_tool_turn_without_thinking(history));
    found.extend(too_many_cache_marks(history));
    found.sort_by_key(|violation| violation.index);
    found
}

fn check_message(messages: &[&Message], index: usize, found: &mut Vec<Violation>) {
    let message = messages[index];
    let previous = index.checked_sub(1).map(|before| messages[before]);
    let next = messages.get(index + 1).copied();
    found.extend(empty_or_blank(index, message));
    if is_misplaced_system(previous, message, next) {
        found.push(violation("system-misplaced", index, "", &system_misplaced(index)));
    }
    found.extend(misplaced_thinking(index, message));
    found.extend(orphan_results(index, previous, message));
    found.extend(late_result(index, message));
    found.extend(unanswered_calls(index, message, next));
    found.extend(unanswered_server_calls(index, message));
}

/// Whether there is nothing in the message at all.
pub(super) fn is_empty(message: &Message) -> bool {
    match message.shape().parts.as_slice() {
        [] => true,
        [only] => only.span.of(message.raw()) == "\"\"",
        _ => false,
    }
}

fn empty_or_blank(index: usize, message: &Message) -> Vec<Violation> {
    if is_empty(message) {
        return vec![violation("empty-content", index, ".content", BLANK_TEXT)];
    }
    let parts = message.shape().parts.iter().enumerate();
    let blank = parts.filter(|(_, part)| part.kind == PartKind::Text && part.blank);
    blank.map(|(at, _)| violation("blank-text", index, &place(message, at), BLANK_TEXT)).collect()
}

/// Whether this is a system entry that may not stand between these neighbours.
pub(super) fn is_misplaced_system(previous: Option<&Message>, message: &Message, next: Option<&Message>) -> bool {
    let may_follow = previous.is_some_and(|previous| may_precede_system(previous.shape()));
    let may_lead = next.is_none_or(|next| next.shape().role == Role::Assistant);
    message.shape().role == Role::System && !(may_follow && may_lead)
}

/// Whether a system entry may follow: the user does, or an assistant that ends in server tool use.
pub(super) fn may_precede_system(shape: &Shape) -> bool {
    let last = shape.parts.iter().rfind(|part| !part.nested);
    match shape.role {
        Role::User => true,
        Role::Assistant => {
            last.is_some_and(|part| matches!(part.kind, PartKind::ServerToolCall | PartKind::ServerToolResult))
        }
        _ => false,
    }
}

fn system_misplaced(index: usize) -> String {
    format!(
        "messages.{index}: a `system` message must follow a `user` message or an `assistant` message that ends in \
         server tool use, and must be last or be followed by an `assistant` message"
    )
}

fn misplaced_thinking(index: usize, message: &Message) -> Vec<Violation> {
    if message.shape().role == Role::Assistant {
        return Vec::new();
    }
    let parts = message.shape().parts.iter().enumerate();
    let thinking = parts.filter(|(_, part)| part.kind == PartKind::Thinking && !part.nested);
    let describe = |at| {
        let path = path(index, message, at);
        format!("{path}: `thinking` or `redacted_thinking` blocks may only be in `assistant` messages")
    };
    thinking.map(|(at, _)| violation("thinking-misplaced", index, &place(message, at), &describe(at))).collect()
}

fn orphan_results(index: usize, previous: Option<&Message>, message: &Message) -> Vec<Violation> {
    let describe = |at: usize| {
        let path = path(index, message, at);
        let id = message.id_of(&message.shape().parts[at]);
        format!(
            "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
             a corresponding `tool_use` block in the previous message."
        )
    };
    let orphans = pairing::orphan_results(previous, message).into_iter();
    orphans.map(|at| violation("tool-result-without-use", index, &place(message, at), &describe(at))).collect()
}

/// The first result that stands behind other content, as an index of parts.
pub(super) fn first_late_result(message: &Message) -> Option<usize> {
    let mut parts = message.shape().parts.iter().enumerate().filter(|(_, part)| !part.nested);
    parts.find(|(_, part)| part.kind != PartKind::ToolResult)?;
    parts.find(|(_, part)| part.kind == PartKind::ToolResult).map(|(at, _)| at)
}

fn late_result(index: usize, message: &Message) -> Option<Violation> {
    let at = first_late_result(message)?;
    let path = path(index, message, at);
    let text = format!("{path}: `tool_result` blocks must come first in the content of a message");
    Some(violation("tool-result-not-first", index, &place(message, at), &text))
}

fn unanswered_calls(index: usize, message: &Message, next: Option<&Message>) -> Option<Violation> {
    let calls = pairing::unanswered_calls(message, next);
    let first = calls.first()?;
    let ids: Vec<_> = calls.iter().map(|at| message.id_of(&message.shape().parts[*at])).collect();
    let text = format!(
        "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    );
    Some(violation("tool-use-without-result", index, &place(message, *first), &text))
}

fn unanswered_server_calls(index: usize, message: &Message) -> Vec<Violation> {
    let describe = |part: &Part| {
        let (name, id) = (message.name_of(part), message.id_of(part));
        format!(
            "messages.{index}: `{name}` tool use with id `{id}` was found without a corresponding \
             `{name}_tool_result` block"
        )
    };
    let calls = pairing::unanswered_server_calls(message).into_iter();
    let refuse = |at: usize| {
        let text = describe(&message.shape().parts[at]);
        violation("server-tool-without-result", index, &place(message, at), &text)
    };
    calls.map(refuse).collect()
}

/// With manual thinking, the turn whose results end the history must start with thinking. Neighbours are one turn here:
/// the API merges assistant messages before it looks at their start.
fn open_tool_turn_without_thinking(history: &History<'_>) -> Option<Violation> {
    let (last, earlier) = history.messages.split_last()?;
    let is_open = last.shape().role == Role::User
        && last.shape().parts.iter().rfind(|part| !part.nested)?.kind == PartKind::ToolResult
        && earlier.last()?.shape().has(PartKind::ToolCall);
    if history.thinking != Thinking::Enabled || !is_open {
        return None;
    }
    let index = earlier.iter().rposition(|message| !message.shape().is_from_model()).map_or(0, |before| before + 1);
    let first = earlier.get(index)?.shape().parts.first()?;
    if first.kind == PartKind::Thinking {
        return None;
    }
    let text = format!(
        "messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` \
         is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of \
         `tool_use` and `tool_result` blocks).",
        type_name(first.kind)
    );
    Some(violation("thinking-misplaced", index, ".content[0]", &text))
}

fn type_name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::ToolCall => "tool_use",
        PartKind::ServerToolCall => "server_tool_use",
        PartKind::Text => "text",
        _ => "another block",
    }
}

/// Marks beyond the limit, at the message in which the first of them stands.
fn too_many_cache_marks(history: &History<'_>) -> Option<Violation> {
    let mut marks = u64::from(history.outer_cache_marks);
    let mut index = (marks > MAX_CACHE_MARKS).then_some(0);
    for (at, message) in history.messages.iter().enumerate() {
        marks += u64::from(message.shape().cache_marks);
        if marks > MAX_CACHE_MARKS {
            index.get_or_insert(at);
        }
    }
    let text = format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}.");
    index.map(|index| violation("too-many-cache-marks", index, "", &text))
}

fn violation(rule: &'static str, index: usize, place: &str, message: &str) -> Violation {
    Violation { rule, index, place: place.to_owned(), message: message.to_owned() }
}

/// Where a part stands: the index of its block and, for a nested one, its own index in there.
fn position(message: &Message, at: usize) -> (usize, Option<usize>) {
    let parts = &message.shape().parts[..=at];
    let block = parts.iter().filter(|part| !part.nested).count().saturating_sub(1);
    let nested = parts.iter().rev().take_while(|part| part.nested).count();
    (block, nested.checked_sub(1))
}

/// The place of a part inside its message, such as `.content[2]`.
fn place(message: &Message, at: usize) -> String {
    if message.shape().parts[at].span.of(message.raw()).starts_with('"') {
        return ".content".to_owned();
    }
    match position(message, at) {
        (block, Some(nested)) => format!(".content[{block}].content[{nested}]"),
        (block, None) => format!(".content[{block}]"),
    }
}

/// The path of a part as the API writes it, such as `messages.3.content.2`.
fn path(index: usize, message: &Message, at: usize) -> String {
    match position(message, at) {
        (block, Some(nested)) => format!("messages.{index}.content.{block}.content.{nested}"),
        (block, None) => format!("messages.{index}.content.{block}"),
    }
}
