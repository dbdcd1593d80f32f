//! What the Messages API refuses, in its own words.

use super::pairing::unanswered_server_calls;
use super::write::{begins_with_compaction, may_precede_system};
use crate::json::Span;
use crate::wire::field::{members, members_of};
use crate::wire::pairing::{PartPlace, calls_in, direct_parts};
use crate::wire::repair::{Change, Repair};
use crate::wire::rule::{
    Advice, Case, Finding, Rule, append, by_message, drop_parts, drop_parts_and_lone_thinking, precede, remove,
};
use crate::wire::{Message, Part, PartKind, Role, Shape, Splice, Thinking};
use std::borrow::Cow;
use std::collections::HashSet;

/// Blocks with a cache mark that one request may have.
const MAX_CACHE_MARKS: u64 = 4;

const BLANK_TEXT: &str = "messages: text content blocks must be non-empty";

pub(super) static RULES: [Rule; 12] = [
    Rule {
        name: "empty-content",
        wording: BLANK_TEXT,
        law: "a message has content",
        check: |case| case.each(|spot| Vec::from_iter(is_empty(spot.message).then(|| inside_content(spot.index)))),
        fix: remove,
    },
    Rule {
        name: "blank-text",
        wording: BLANK_TEXT,
        law: "text is not blank",
        check: |case| {
            case.each(|spot| match is_empty(spot.message) {
                true => Vec::new(),
                false => parts_where(spot.index, spot.message, |part| part.kind == PartKind::Text && part.blank),
            })
        },
        fix: drop_parts,
    },
    Rule {
        name: "thinking-misplaced",
        wording: "{path}: `thinking` or `redacted_thinking` blocks may only be in `assistant` messages",
        law: "only the assistant thinks",
        check: |case| {
            case.each(|spot| {
                let is_from_model = spot.message.shape().is_from_model();
                parts_where(spot.index, spot.message, |part| {
                    !is_from_model && part.kind == PartKind::Thinking && !part.nested
                })
            })
        },
        fix: drop_parts,
    },
    Rule {
        name: "server-tool-without-result",
        wording: "messages.{index}: `{what}` tool use with id `{id}` was found without a corresponding \
                  `{what}_tool_result` block",
        law: "a server tool call has its result",
        check: |case| case.each(|spot| parts_of(spot.index, spot.message, &unanswered_server_calls(spot.message))),
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "system-misplaced",
        wording: "messages.{index}: a `system` message must follow a `user` message or an `assistant` message that ends \
                  in server tool use, and must be last or be followed by an `assistant` message",
        law: "a system message follows the user and precedes the assistant",
        check: |case| {
            case.messages_where(|spot| {
                let may_follow = spot.previous.is_some_and(|previous| may_precede_system(previous.shape()));
                spot.message.shape().is_instruction() && !(may_follow && may_follow_system(spot.next))
            })
        },
        fix: |repair, _| settle_system_entries(repair),
    },
    Rule {
        name: "tool-use-without-result",
        wording: "messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
                  `tool_use` block must have a corresponding `tool_result` block in the next message.",
        law: "a tool call has its result in the next message",
        check: |case| by_message(&case.unpaired.calls, |index, parts| unanswered_calls(case, index, parts)),
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "tool-result-without-use",
        wording: "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must \
                  have a corresponding `tool_use` block in the previous message.",
        law: "a tool result has its call in the previous message",
        check: |case| {
            let messages = case.unpaired.results.chunk_by(|a, b| a.index == b.index);
            messages.flat_map(|places| at(case, places)).collect()
        },
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "tool-result-not-first",
        wording: "{path}: `tool_result` blocks must come first in the content of a message",
        law: "tool results come first",
        check: |case| {
            case.each(|spot| parts_of(spot.index, spot.message, &Vec::from_iter(first_late_result(spot.message))))
        },
        fix: results_first,
    },
    Rule {
        name: "too-many-cache-marks",
        wording: "A maximum of 4 blocks with cache_control may be provided. Found {what}.",
        law: "at most 4 blocks carry a cache mark",
        check: too_many_cache_marks,
        fix: |repair, _| drop_oldest_cache_marks(repair),
    },
    Rule {
        name: "no-messages",
        wording: "messages: at least one message is required",
        law: "a history starts with the user",
        check: |case| Vec::from_iter(case.history.messages.is_empty().then(Finding::default)),
        fix: append,
    },
    Rule {
        name: "first-not-user",
        wording: "messages: first message must use the \"user\" role",
        law: "a history starts with the user",
        check: |case| {
            let first = case.history.messages.first().map(|message| message.shape());
            Vec::from_iter(first.filter(|first| !may_stand_first(first)).map(|_| Finding::default()))
        },
        fix: precede,
    },
    // Thinking that was never there cannot be made up, but behind a text of the user the tool turn is an old one.
    Rule {
        name: "thinking-misplaced",
        wording: "{path}.type: Expected `thinking` or `redacted_thinking`, but found `{what}`. When `thinking` is \
                  enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of \
                  `tool_use` and `tool_result` blocks).",
        law: "an open tool turn starts with thinking",
        check: |case| Vec::from_iter(open_tool_turn_without_thinking(case)),
        fix: append,
    },
];

/// Only a third party says that these are refused, and real histories hold them.
pub(super) static ADVICE: [Advice; 2] = [
    Advice {
        name: "tool-use-id-repeats",
        wording: "{path}: `tool_use` ids must be unique",
        check: |case| {
            let mut seen = HashSet::new();
            call_ids(case)
                .filter(|(_, id)| !seen.insert(id.clone()))
                .flat_map(|(place, _)| at(case, &[place]))
                .collect()
        },
    },
    Advice {
        name: "tool-use-id-malformed",
        wording: "{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        check: |case| {
            let is_word =
                |id: &str| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
            call_ids(case).filter(|(_, id)| !is_word(id)).flat_map(|(place, _)| at(case, &[place])).collect()
        },
    },
];

/// Every call that the model makes, with its id.
fn call_ids<'a>(case: &'a Case<'_>) -> impl Iterator<Item = (PartPlace, Cow<'a, str>)> {
    case.history.messages.iter().enumerate().flat_map(|(index, message)| {
        let id = |part: usize| message.id_of(&message.shape().parts[part]);
        calls_in(message.shape()).map(move |part| (PartPlace { index, part }, id(part)))
    })
}

/// Whether there is nothing in the message at all. A system entry may say by its settings what it has to say.
fn is_empty(message: &Message) -> bool {
    match &*message.shape().parts {
        [] => !(message.shape().is_instruction() && has_settings(message.raw())),
        [only] => only.span.of(message.raw()) == "\"\"",
        _ => false,
    }
}

fn has_settings(raw: &str) -> bool {
    let whole = Span { start: 0, end: raw.len() as u32 };
    members(raw, whole, "output_config").last().is_some_and(|member| member.value.of(raw) != "null")
}

fn inside_content(index: usize) -> Finding {
    Finding { place: ".content".to_owned(), ..Finding::at(index) }
}

/// Whether a history may start with it: the user's word does, or a compaction, which stands for all that came before.
fn may_stand_first(shape: &Shape) -> bool {
    shape.role == Role::User || begins_with_compaction(shape)
}

/// Whether a system entry may stand before it.
fn may_follow_system(next: Option<&Message>) -> bool {
    next.is_none_or(|next| next.shape().is_from_model())
}

/// A system entry is settled in view of what became of the one before it.
fn settle_system_entries(repair: &mut Repair<'_>) {
    let (mut may_follow, mut follows_call) = (false, false);
    repair.pass(|spot| {
        let shape = spot.message.shape();
        if !shape.is_instruction() {
            (may_follow, follows_call) = (may_precede_system(shape), shape.has(PartKind::ToolCall));
            return Change::Keep;
        }
        let change = match may_follow && may_follow_system(spot.next) {
            true => Change::Keep,
            false => settled(spot.message, follows_call),
        };
        // One that stays is followed by the assistant; one that goes leaves things as they are.
        may_follow |= matches!(change, Change::Replace(_));
        change
    });
}

/// A system entry of plain text can say the same as the user, unless it stands between a call and its result. A
/// compaction is never lost: it is the assistant's anyway.
fn settled(message: &Message, follows_call: bool) -> Change {
    let is_plain = message.shape().parts.iter().all(|part| part.kind == PartKind::Text);
    let role = match message.shape().has(PartKind::Compaction) {
        true => "\"assistant\"",
        false if is_plain && !follows_call => "\"user\"",
        false => return Change::Remove,
    };
    let mut splice = Splice::default();
    if let Some(member) = members_of(message.raw(), "role").last() {
        splice.replace(member.value, role.to_owned());
    }
    Change::Replace(splice.apply(message.raw()))
}

fn unanswered_calls(case: &Case<'_>, index: usize, parts: Vec<usize>) -> Finding {
    let message = case.history.messages[index];
    let ids: Vec<_> = parts.iter().map(|part| message.id_of(&message.shape().parts[*part])).collect();
    Finding { index, place: places(message).swap_remove(parts[0]), id: ids.join(", "), parts, ..Finding::default() }
}

/// A finding for each of these parts, which are in one message.
fn at(case: &Case<'_>, places: &[PartPlace]) -> Vec<Finding> {
    let parts: Vec<_> = places.iter().map(|place| place.part).collect();
    parts_of(places[0].index, case.history.messages[places[0].index], &parts)
}

/// The first result that stands behind other content, as an index of parts.
fn first_late_result(message: &Message) -> Option<usize> {
    let first_other =
        message.shape().parts.iter().position(|part| !part.nested && part.kind != PartKind::ToolResult)?;
    direct_parts(message.shape(), PartKind::ToolResult).find(|part| *part > first_other)
}

/// Results move to the front; everything keeps its order otherwise, and the text between blocks stays.
fn results_first(repair: &mut Repair<'_>, _found: &[Finding]) {
    repair.pass(|spot| {
        if first_late_result(spot.message).is_none() {
            return Change::Keep;
        }
        let blocks = || spot.message.shape().parts.iter().filter(|part| !part.nested);
        let results = blocks().filter(|part| part.kind == PartKind::ToolResult);
        let others = blocks().filter(|part| part.kind != PartKind::ToolResult);
        let mut splice = Splice::default();
        for (slot, block) in blocks().zip(results.chain(others)) {
            splice.replace(slot.span, block.span.of(spot.message.raw()).to_owned());
        }
        Change::Replace(splice.apply(spot.message.raw()))
    });
}

/// Marks beyond the limit, at the message in which the first of them stands.
fn too_many_cache_marks(case: &Case<'_>) -> Vec<Finding> {
    let mut marks = u64::from(case.history.outer_cache_marks);
    let mut index = (marks > MAX_CACHE_MARKS).then_some(0);
    for (at, message) in case.history.messages.iter().enumerate() {
        marks += u64::from(message.shape().cache_marks);
        if marks > MAX_CACHE_MARKS {
            index.get_or_insert(at);
        }
    }
    Vec::from_iter(index.map(|index| Finding { what: marks.to_string(), ..Finding::at(index) }))
}

/// Marks on tools, system and compactions are not ours to drop; the newest of the messages' marks are the ones that save
/// most.
fn drop_oldest_cache_marks(repair: &mut Repair<'_>) {
    let history = repair.history();
    let inner: u64 = history.messages.iter().map(|message| u64::from(message.shape().cache_marks)).sum();
    let mut excess = (u64::from(history.outer_cache_marks) + inner).saturating_sub(MAX_CACHE_MARKS);
    repair.pass(|spot| {
        let (raw, shape) = (spot.message.raw(), spot.message.shape());
        if excess == 0 || shape.cache_marks == 0 {
            return Change::Keep;
        }
        let mut splice = Splice::default();
        for part in shape.parts.iter().filter(|part| part.kind != PartKind::Compaction) {
            let marks = cache_mark_members(raw, part.span);
            if excess > 0 && !marks.is_empty() {
                excess -= 1;
                marks.into_iter().for_each(|mark| splice.remove(mark));
            }
        }
        if splice.is_empty() { Change::Keep } else { Change::Replace(splice.apply(raw)) }
    });
}

/// The members of the block at `span` that mark it, key included; none where the last of them says null.
fn cache_mark_members(raw: &str, span: Span) -> Vec<Span> {
    let found = members(raw, span, "cache_control");
    let is_marked = found.last().is_some_and(|member| member.value.of(raw) != "null");
    found.into_iter().filter(|_| is_marked).map(|member| member.span).collect()
}

/// With manual thinking, the turn whose results end the history must start with thinking. A turn is everything since the
/// last prompt: between its calls the model need not think again.
fn open_tool_turn_without_thinking(case: &Case<'_>) -> Option<Finding> {
    let (last, earlier) = case.history.messages.split_last()?;
    let is_open = last.shape().role == Role::User
        && last.shape().parts.iter().rfind(|part| !part.nested)?.kind == PartKind::ToolResult;
    if case.history.thinking != Thinking::Enabled || !is_open {
        return None;
    }
    let start = earlier.iter().rposition(|message| is_prompt(message)).map_or(0, |prompt| prompt + 1);
    let index = start + earlier[start..].iter().position(|message| opens_turn(message.shape()))?;
    let block = usize::from(begins_with_compaction(earlier[index].shape()));
    let first = earlier[index].shape().parts.get(block)?;
    (first.kind != PartKind::Thinking).then(|| Finding {
        place: format!(".content[{block}]"),
        what: type_name(first.kind).to_owned(),
        ..Finding::at(index)
    })
}

/// Whether the user says something, instead of only passing results on.
fn is_prompt(message: &Message) -> bool {
    message.shape().role == Role::User && !message.shape().has(PartKind::ToolResult)
}

/// Whether the model starts its turn here. A message that holds a compaction alone is the start of the history instead.
fn opens_turn(shape: &Shape) -> bool {
    shape.is_from_model() && !(shape.parts.len() == 1 && begins_with_compaction(shape))
}

fn type_name(kind: PartKind) -> &'static str {
    match kind {
        PartKind::ToolCall => "tool_use",
        PartKind::ServerToolCall => "server_tool_use",
        PartKind::Text => "text",
        _ => "another block",
    }
}

fn parts_where(index: usize, message: &Message, is_wanted: impl Fn(&Part) -> bool) -> Vec<Finding> {
    let parts = message.shape().parts.iter().enumerate();
    parts_of(index, message, &parts.filter(|(_, part)| is_wanted(part)).map(|(at, _)| at).collect::<Vec<_>>())
}

/// A finding for each of these parts.
fn parts_of(index: usize, message: &Message, parts: &[usize]) -> Vec<Finding> {
    if parts.is_empty() {
        return Vec::new();
    }
    let places = places(message);
    let finding = |at: &usize| {
        let part = &message.shape().parts[*at];
        let (id, what) = (message.id_of(part).into_owned(), message.name_of(part).into_owned());
        Finding { index, parts: vec![*at], place: places[*at].clone(), id, what }
    };
    parts.iter().map(finding).collect()
}

/// Where each part stands in its message, such as `.content[2]`.
fn places(message: &Message) -> Vec<String> {
    let (mut blocks, mut nested) = (0, 0);
    let place = |part: &Part| {
        if part.span.of(message.raw()).starts_with('"') {
            return ".content".to_owned();
        }
        if part.nested {
            nested += 1;
            return format!(".content[{}].content[{}]", blocks - 1, nested - 1);
        }
        (blocks, nested) = (blocks + 1, 0);
        format!(".content[{}]", blocks - 1)
    };
    message.shape().parts.iter().map(place).collect()
}
