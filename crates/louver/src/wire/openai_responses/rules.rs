//! What Responses refuses, in its own words.

use super::pairing::reasoning_without_item;
use crate::json::text;
use crate::wire::Message;
use crate::wire::field::members_of;
use crate::wire::pairing::PartPlace;
use crate::wire::rule::{Case, Finding, Rule, remove};

pub(super) static RULES: [Rule; 3] = [
    Rule {
        name: "call-without-output",
        wording: "No tool output found for {what} {id}.",
        law: "an output answers each call",
        check: |case| named(case, &case.unpaired.calls),
        fix: remove,
    },
    Rule {
        name: "output-without-call",
        wording: "No tool call found for {what} with call_id {id}.",
        law: "an output answers a call before it",
        check: |case| named(case, &case.unpaired.results),
        fix: remove,
    },
    Rule {
        name: "reasoning-without-item",
        wording: "Item '{id}' of type 'reasoning' was provided without its required following item.",
        law: "an item of the model follows its reasoning",
        check: |case| {
            let messages = &case.history.messages;
            let own_id = |index: usize| messages[index].own_id_of(&messages[index].shape().parts[0]).into_owned();
            let found = reasoning_without_item(messages).into_iter();
            found.map(|index| Finding { id: own_id(index), ..Finding::at(index) }).collect()
        },
        fix: remove,
    },
];

/// A finding for each of these items that has an id. What has none is run by the provider: nothing has to answer it, and
/// it answers nothing of ours.
fn named(case: &Case<'_>, places: &[PartPlace]) -> Vec<Finding> {
    let finding = |place: &PartPlace| {
        let message = case.history.messages[place.index];
        let id = message.id_of(&message.shape().parts[place.part]).into_owned();
        (!id.is_empty()).then(|| Finding { id, what: spoken_type(message), ..Finding::at(place.index) })
    };
    places.iter().filter_map(finding).collect()
}

/// An item's type as the API's sentences have it: `function call output`.
fn spoken_type(message: &Message) -> String {
    let kind =
        members_of(message.raw(), "type").last().map(|member| member.value.of(message.raw())).unwrap_or_default();
    text::decode(kind.trim_matches('"')).replace('_', " ")
}
