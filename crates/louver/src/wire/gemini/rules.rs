//! What `generateContent` refuses, in its own words.

use super::pairing::{has_wrong_count, is_call_turn, without_partner};
use crate::wire::pairing::{calls_in, direct_parts, results_in};
use crate::wire::repair::Spot;
use crate::wire::rule::{
    Finding, Rule, append, drop_found_and_lone_thinking, drop_parts_and_lone_thinking, precede, remove,
};
use crate::wire::{Message, PartKind};

const CALL_OUT_OF_PLACE: &str =
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";

const RESPONSE_OUT_OF_PLACE: &str =
    "Please ensure that function response turn comes immediately after a function call turn.";

pub(super) static RULES: [Rule; 8] = [
    Rule {
        name: "empty-parts",
        wording: "GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.",
        law: "a content has parts",
        check: |case| {
            let mut found = case.messages_where(|spot| spot.message.shape().parts.is_empty());
            found.iter_mut().for_each(|finding| finding.place = ".parts".to_owned());
            found
        },
        fix: remove,
    },
    Rule {
        name: "call-out-of-place",
        wording: CALL_OUT_OF_PLACE,
        law: "the model calls and the user responds",
        check: |case| case.each(|spot| strays(spot, !spot.message.shape().is_from_model(), PartKind::ToolCall)),
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "response-out-of-place",
        wording: RESPONSE_OUT_OF_PLACE,
        law: "the model calls and the user responds",
        check: |case| case.each(|spot| strays(spot, spot.message.shape().is_from_model(), PartKind::ToolResult)),
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "response-out-of-place",
        wording: RESPONSE_OUT_OF_PLACE,
        law: "a response turn follows a call turn",
        check: |case| {
            case.each(|spot| {
                let responses: Vec<_> = results_in(spot.message.shape()).collect();
                let is_refused = !responses.is_empty() && !spot.previous.is_some_and(is_call_turn);
                Vec::from_iter(is_refused.then(|| turn(spot, responses)))
            })
        },
        fix: drop_parts_and_lone_thinking,
    },
    Rule {
        name: "response-count",
        wording: "Please ensure that the number of function response parts is equal to the number of function call \
                  parts of the function call turn.",
        law: "a call turn is answered by as many responses",
        check: |case| case.messages_where(|spot| has_wrong_count(spot.message, spot.next)),
        fix: |repair, _| drop_found_and_lone_thinking(repair, unpaired),
    },
    Rule {
        name: "call-out-of-place",
        wording: CALL_OUT_OF_PLACE,
        law: "the turn before a call turn is the user's",
        check: |case| {
            // Words of the model before a call are the same turn gone on: real sessions hold them as contents of their
            // own. At the start of a history another rule is broken.
            case.each(|spot| {
                let is_refused = is_call_turn(spot.message) && spot.previous.is_some_and(is_call_turn);
                Vec::from_iter(is_refused.then(|| turn(spot, calls_in(spot.message.shape()).collect())))
            })
        },
        fix: precede,
    },
    Rule {
        name: "first-not-user",
        wording: "First content should be with role 'user', got model",
        law: "the first turn is the user's",
        check: |case| case.messages_where(|spot| spot.index == 0 && spot.message.shape().is_from_model()),
        fix: precede,
    },
    Rule {
        name: "no-messages",
        wording: "GenerateContentRequest.contents: contents is not specified",
        law: "a history has a content",
        check: |case| Vec::from_iter(case.history.messages.is_empty().then(Finding::default)),
        fix: append,
    },
];

/// A finding for each part of this kind where it cannot be.
fn strays(spot: Spot<'_>, is_stray: bool, kind: PartKind) -> Vec<Finding> {
    let parts = direct_parts(spot.message.shape(), kind).filter(|_| is_stray);
    parts.map(|part| turn(spot, vec![part])).collect()
}

/// A finding at the first of these parts.
fn turn(spot: Spot<'_>, parts: Vec<usize>) -> Finding {
    let before = parts.first().map_or(0, |first| position(spot.message, *first));
    Finding { place: format!(".parts[{before}]"), parts, ..Finding::at(spot.index) }
}

/// The index of a part among those that stand directly in the content.
fn position(message: &Message, part: usize) -> usize {
    message.shape().parts[..part].iter().filter(|part| !part.nested).count()
}

/// The calls of a turn that have no response, and the responses that have no call.
fn unpaired(spot: Spot<'_>) -> Vec<usize> {
    let (mut parts, _) = without_partner(spot.message, spot.next);
    if let Some(call_turn) = spot.previous.filter(|previous| is_call_turn(previous)) {
        parts.extend(without_partner(call_turn, Some(spot.message)).1);
    }
    parts
}
