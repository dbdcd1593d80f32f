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
        Some(first) if !may_stand_first(first.shape()) => {
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

/// Whether a history may start with it: the user's word does, or a compaction, which stands for all that came before.
pub(super) fn may_stand_first(shape: &Shape) -> bool {
    shape.role == Role::User || begins_with_compaction(shape)
}

/// Whether the model's turn starts anew here: it reads nothing that stands before a compaction.
pub(super) fn begins_with_compaction(shape: &Shape) -> bool {
    shape.is_from_model() && shape.parts.first().is_some_and(|part| part.kind == PartKind::Compaction)
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
    let blank = parts_where(message, |part| part.kind == PartKind::Text && part.blank);
    refuse_parts("blank-text", index, message, &blank, |_, _| BLANK_TEXT.to_owned())
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
    let is_misplaced = |part: &Part| part.kind == PartKind::Thinking && !part.nested;
    let thinking = match message.shape().role {
        Role::Assistant => Vec::new(),
        _ => parts_where(message, is_misplaced),
    };
    refuse_parts("thinking-misplaced", index, message, &thinking, |_, path| {
        format!("{path}: `thinking` or `redacted_thinking` blocks may only be in `assistant` messages")
    })
}

fn orphan_results(index: usize, previous: Option<&Message>, message: &Message) -> Vec<Violation> {
    let orphans = pairing::orphan_results(previous, message);
    refuse_parts("tool-result-without-use", index, message, &orphans, |part, path| {
        let id = message.id_of(part);
        format!(
            "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
             a corresponding `tool_use` block in the previous message."
        )
    })
}

/// The first result that stands behind other content, as an index of parts.
pub(super) fn first_late_result(message: &Message) -> Option<usize> {
    let mut parts = message.shape().parts.iter().enumerate().filter(|(_, part)| !part.nested);
    parts.find(|(_, part)| part.kind != PartKind::ToolResult)?;
    parts.find(|(_, part)| part.kind == PartKind::ToolResult).map(|(at, _)| at)
}

fn late_result(index: usize, message: &Message) -> Vec<Violation> {
    let late = Vec::from_iter(first_late_result(message));
    refuse_parts("tool-result-not-first", index, message, &late, |_, path| {
        format!("{path}: `tool_result` blocks must come first in the content of a message")
    })
}

fn unanswered_calls(index: usize, message: &Message, next: Option<&Message>) -> Vec<Violation> {
    let calls = pairing::unanswered_calls(message, next);
    let ids: Vec<_> = calls.iter().map(|at| message.id_of(&message.shape().parts[*at])).collect();
    let first = &calls[..calls.len().min(1)];
    refuse_parts("tool-use-without-result", index, message, first, |_, _| {
        format!(
            "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        )
    })
}

fn unanswered_server_calls(index: usize, message: &Message) -> Vec<Violation> {
    let calls = pairing::unanswered_server_calls(message);
    refuse_parts("server-tool-without-result", index, message, &calls, |part, _| {
        let (name, id) = (message.name_of(part), message.id_of(part));
        format!(
            "messages.{index}: `{name}` tool use with id `{id}` was found without a corresponding \
             `{name}_tool_result` block"
        )
    })
}

/// With manual thinking, the turn whose results end the history must start with thinking. A turn is everything since the
/// last prompt: between its calls the model need not think again.
fn open_tool_turn_without_thinking(history: &History<'_>) -> Option<Violation> {
    let (last, earlier) = history.messages.split_last()?;
    let is_open = last.shape().role == Role::User
        && last.shape().parts.iter().rfind(|part| !part.nested)?.kind == PartKind::ToolResult
        && earlier.last()?.shape().has(PartKind::ToolCall);
    if history.thinking != Thinking::Enabled || !is_open {
        return None;
    }
    let start = earlier.iter().rposition(|message| is_prompt(message)).map_or(0, |prompt| prompt + 1);
    let index = start + earlier[start..].iter().position(|message| opens_turn(message.shape()))?;
    let parts = &earlier[index].shape().parts;
    let block = usize::from(begins_with_compaction(earlier[index].shape()));
    let first = parts.get(block)?;
    if first.kind == PartKind::Thinking {
        return None;
    }
    let text = format!(
        "messages.{index}.content.{block}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` \
         is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of \
         `tool_use` and `tool_result` blocks).",
        type_name(first.kind)
    );
    Some(violation("thinking-misplaced", index, &format!(".content[{block}]"), &text))
}

/// Whether the model starts its turn here. A message that holds a compaction alone is the start of the history instead.
fn opens_turn(shape: &Shape) -> bool {
    shape.is_from_model() && !(shape.parts.len() == 1 && begins_with_compaction(shape))
}

/// Whether the user says something, instead of only passing results on.
fn is_prompt(message: &Message) -> bool {
    message.shape().role == Role::User && !message.shape().has(PartKind::ToolResult)
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

fn parts_where(message: &Message, is_wanted: impl Fn(&Part) -> bool) -> Vec<usize> {
    message.shape().parts.iter().enumerate().filter(|(_, part)| is_wanted(part)).map(|(at, _)| at).collect()
}

/// A violation for each of these parts. `describe` gets the part and its path as the API writes it, such as
/// `messages.3.content.2`.
fn refuse_parts(
    rule: &'static str,
    index: usize,
    message: &Message,
    parts: &[usize],
    describe: impl Fn(&Part, &str) -> String,
) -> Vec<Violation> {
    if parts.is_empty() {
        return Vec::new();
    }
    let positions = positions(message);
    let refuse = |at: &usize| {
        let (place, path) = &positions[*at];
        violation(rule, index, place, &describe(&message.shape().parts[*at], &format!("messages.{index}{path}")))
    };
    parts.iter().map(refuse).collect()
}

/// Where each part stands in its message, as `.content[2]` and as `.content.2`.
fn positions(message: &Message) -> Vec<(String, String)> {
    let mut blocks = 0;
    let mut nested = 0;
    let position = |part: &Part| {
        if part.span.of(message.raw()).starts_with('"') {
            return (".content".to_owned(), ".content".to_owned());
        }
        if part.nested {
            nested += 1;
            let (block, inner) = (blocks - 1, nested - 1);
            return (format!(".content[{block}].content[{inner}]"), format!(".content.{block}.content.{inner}"));
        }
        (blocks, nested) = (blocks + 1, 0);
        (format!(".content[{}]", blocks - 1), format!(".content.{}", blocks - 1))
    };
    message.shape().parts.iter().map(position).collect()
}
