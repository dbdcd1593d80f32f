//! Random histories of every format, tidy and untidy.

use louver::wire::{Format, Message};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// One step of a conversation, in words that every format has.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    User(usize),
    /// With an entry of the system right behind it, where the format has such entries.
    UserAndSystem(usize),
    Assistant(usize),
    /// The model thought and said nothing, where the format can tell.
    Thought(Thinking),
    Calls {
        thinking: Thinking,
        calls: Vec<Call>,
        is_split: bool,
    },
    /// The provider's own summary of everything before it, where the format has one.
    Compaction,
    /// The answer to an earlier call, long after it; to none, where it was answered already.
    LateAnswer(Call),
    Orphan,
    System,
}

/// Whether the model thought before it acted, and whether one may read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    None,
    Readable,
    Redacted,
}

/// A tool call and the size of its answer; no size means that it was never answered.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    id: u8,
    answer: Option<usize>,
}

/// A conversation as a person and an agent would have it, with the accidents that real ones hold.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        4 => prop::collection::vec(tidy_step(), 0..9),
        2 => prop::collection::vec(tidy_step(), 9..24),
        2 => prop::collection::vec(any_step(), 0..9),
        1 => prop::collection::vec(any_step(), 9..24),
    ]
    .prop_flat_map(|mut steps| {
        steps.insert(0, Step::User(40));
        // A provider puts its summary in front of the history, or where it ran.
        let place = prop_oneof![1 => Just(0), 4 => 1..=steps.len()];
        (Just(steps), prop::option::weighted(0.15, place))
    })
    .prop_flat_map(|(mut steps, compaction)| {
        if let Some(place) = compaction {
            steps.insert(place, Step::Compaction);
        }
        (Just(steps), any::<bool>())
    })
    .prop_map(|(steps, has_unique_ids)| if has_unique_ids { renumbered(steps) } else { steps })
}

/// The same with another id for every call; late answers answer the latest of the calls that had their id.
fn renumbered(mut steps: Vec<Step>) -> Vec<Step> {
    let (mut next, mut latest) = (0, [u8::MAX; 6]);
    for step in &mut steps {
        match step {
            Step::Calls { calls, .. } => {
                for call in calls {
                    latest[usize::from(call.id)] = next;
                    call.id = next;
                    next += 1;
                }
            }
            Step::LateAnswer(call) => call.id = latest[usize::from(call.id)],
            _ => {}
        }
    }
    steps
}

fn thinking() -> impl Strategy<Value = Thinking> {
    prop_oneof![3 => Just(Thinking::None), 3 => Just(Thinking::Readable), 1 => Just(Thinking::Redacted)]
}

fn thought() -> impl Strategy<Value = Step> {
    prop_oneof![2 => Just(Thinking::Readable), 1 => Just(Thinking::Redacted)].prop_map(Step::Thought)
}

fn tidy_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..400usize).prop_map(Step::User),
        2 => (1..400usize).prop_map(Step::UserAndSystem),
        2 => (1..400usize).prop_map(Step::Assistant),
        1 => thought(),
        8 => (thinking(), prop::collection::vec(call(true), 1..4), any::<bool>()).prop_map(|(thinking, mut calls, is_split)| {
            // Providers give parallel calls distinct ids, though ids come again later.
            calls.sort_by_key(|call| call.id);
            calls.dedup_by_key(|call| call.id);
            Step::Calls { thinking, calls, is_split }
        }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..400usize).prop_map(Step::User),
        2 => (0..400usize).prop_map(Step::Assistant),
        4 => (thinking(), prop::collection::vec(call(false), 1..4), any::<bool>())
            .prop_map(|(thinking, calls, is_split)| Step::Calls { thinking, calls, is_split }),
        1 => thought(),
        1 => Just(Step::Compaction),
        2 => call(true).prop_map(Step::LateAnswer),
        1 => Just(Step::Orphan),
        1 => Just(Step::System),
    ]
}

fn call(is_answered: bool) -> impl Strategy<Value = Call> {
    let size = prop_oneof![4 => 1..800usize, 1 => 3_000..9_000usize];
    let answer = if is_answered { size.prop_map(Some).boxed() } else { prop::option::weighted(0.8, size).boxed() };
    (0..6u8, answer).prop_map(|(id, answer)| Call { id, answer })
}

/// The steps in a format's own words.
pub(crate) fn render(format: Format, steps: &[Step]) -> Vec<Arc<Message>> {
    let values = steps.iter().enumerate().flat_map(|(number, step)| match format {
        Format::Anthropic => anthropic(number, step),
        Format::OpenAiChat => openai_chat(number, step),
        Format::OpenAiResponses => openai_responses(number, step),
        Format::Gemini => gemini(number, step),
    });
    values.map(|value| Arc::new(Message::parse(format, &value.to_string()).unwrap())).collect()
}

fn words(number: usize, length: usize) -> String {
    format!("{number} lorem/ipsum_{number}.rs \"é\" ").chars().cycle().take(length).collect()
}

fn id(call: &Call) -> String {
    format!("call_{}", call.id)
}

/// What a format says in place of a step that it has no words for.
fn stand_in(step: &Step) -> Step {
    match step {
        Step::UserAndSystem(length) => Step::User(*length),
        Step::Thought(_) | Step::Compaction => Step::Assistant(20),
        other => other.clone(),
    }
}

fn anthropic_thinking(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::None => None,
        Thinking::Readable => Some(json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" })),
        Thinking::Redacted => Some(json!({ "type": "redacted_thinking", "data": "cmVkYWN0ZWQ=" })),
    }
}

fn anthropic(number: usize, step: &Step) -> Vec<Value> {
    let text = |length| json!([{ "type": "text", "text": words(number, length) }]);
    let user = |length| json!({ "role": "user", "content": words(number, length) });
    match step {
        Step::User(length) => vec![user(*length)],
        Step::UserAndSystem(length) => {
            vec![user(*length), json!({ "role": "system", "content": "A file was changed." })]
        }
        Step::Thought(thinking) => {
            vec![json!({ "role": "assistant", "content": Vec::from_iter(anthropic_thinking(*thinking)) })]
        }
        Step::Compaction => {
            let block = json!({ "type": "compaction", "content": "So far, so good.", "signature": "c2ln" });
            vec![json!({ "role": "assistant", "content": [block] })]
        }
        Step::Assistant(length) => vec![json!({ "role": "assistant", "content": text(*length) })],
        Step::System => vec![json!({ "role": "system", "content": text(9) })],
        Step::Orphan => {
            vec![json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "x", "content": "?" }] })]
        }
        Step::LateAnswer(call) => {
            let content = words(number, call.answer.unwrap_or_default());
            let result = json!({ "type": "tool_result", "tool_use_id": id(call), "content": content });
            vec![json!({ "role": "user", "content": [result] })]
        }
        Step::Calls { thinking, calls, is_split } => {
            let thought = anthropic_thinking(*thinking);
            let uses = calls
                .iter()
                .map(|call| json!({ "type": "tool_use", "id": id(call), "name": "read", "input": { "path": "a.rs" } }));
            let results: Vec<Value> = answered(calls)
                .map(|(call, size)| json!({ "type": "tool_result", "tool_use_id": id(call), "content": words(number, size) }))
                .collect();
            let content: Vec<Value> = thought.into_iter().chain(uses).collect();
            let groups = results.chunks(if *is_split { 1 } else { 99 });
            let users = groups.map(|group| json!({ "role": "user", "content": group }));
            std::iter::once(json!({ "role": "assistant", "content": content })).chain(users).collect()
        }
    }
}

fn answered(calls: &[Call]) -> impl Iterator<Item = (&Call, usize)> {
    calls.iter().filter_map(|call| call.answer.map(|size| (call, size)))
}

fn openai_chat(number: usize, step: &Step) -> Vec<Value> {
    match step {
        Step::User(length) => vec![json!({ "role": "user", "content": words(number, *length) })],
        Step::Assistant(length) => vec![json!({ "role": "assistant", "content": words(number, *length) })],
        Step::System => vec![json!({ "role": "system", "content": "Be brief." })],
        Step::Orphan => vec![json!({ "role": "tool", "tool_call_id": "x", "content": "?" })],
        Step::LateAnswer(call) => {
            let content = words(number, call.answer.unwrap_or_default());
            vec![json!({ "role": "tool", "tool_call_id": id(call), "content": content })]
        }
        Step::Calls { calls, .. } => {
            let made: Vec<Value> = calls
                .iter()
                .map(|call| json!({ "id": id(call), "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a.rs\"}" } }))
                .collect();
            let results = answered(calls).map(
                |(call, size)| json!({ "role": "tool", "tool_call_id": id(call), "content": words(number, size) }),
            );
            std::iter::once(json!({ "role": "assistant", "content": null, "tool_calls": made }))
                .chain(results)
                .collect()
        }
        other => openai_chat(number, &stand_in(other)),
    }
}

fn openai_responses(number: usize, step: &Step) -> Vec<Value> {
    match step {
        Step::User(length) => vec![json!({ "role": "user", "content": words(number, *length) })],
        Step::Assistant(length) => vec![
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": words(number, *length) }] }),
        ],
        Step::System => vec![json!({ "role": "developer", "content": "Be brief." })],
        Step::Orphan => vec![json!({ "type": "function_call_output", "call_id": "x", "output": "?" })],
        Step::Calls { thinking, calls, is_split } => {
            let reasoning = (*thinking != Thinking::None)
                .then(|| json!({ "type": "reasoning", "id": format!("rs_{number}"), "summary": [] }));
            let call_item = |call: &Call| json!({ "type": "function_call", "call_id": id(call), "name": "read", "arguments": "{}" });
            let output = |(call, size): (&Call, usize)| json!({ "type": "function_call_output", "call_id": id(call), "output": words(number, size) });
            let mut items: Vec<Value> = reasoning.into_iter().collect();
            if *is_split {
                for call in calls {
                    items.push(call_item(call));
                    items.extend(call.answer.map(|size| output((call, size))));
                }
            } else {
                items.extend(calls.iter().map(call_item));
                items.extend(answered(calls).map(output));
            }
            items
        }
        Step::LateAnswer(call) => {
            let output = words(number, call.answer.unwrap_or_default());
            vec![json!({ "type": "function_call_output", "call_id": id(call), "output": output })]
        }
        Step::Compaction => {
            vec![json!({ "type": "compaction", "id": format!("cmp_{number}"), "encrypted_content": "ZW5j" })]
        }
        other => openai_responses(number, &stand_in(other)),
    }
}

fn gemini(number: usize, step: &Step) -> Vec<Value> {
    match step {
        Step::User(length) => vec![json!({ "role": "user", "parts": [{ "text": words(number, *length) }] })],
        Step::Assistant(length) => vec![json!({ "role": "model", "parts": [{ "text": words(number, *length) }] })],
        Step::System => vec![json!({ "role": "user", "parts": [] })],
        Step::Orphan => {
            vec![
                json!({ "role": "user", "parts": [{ "functionResponse": { "name": "x", "response": { "output": "?" } } }] }),
            ]
        }
        Step::LateAnswer(call) => {
            let response = json!({ "output": words(number, call.answer.unwrap_or_default()) });
            vec![json!({ "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": response } }] })]
        }
        Step::Calls { calls, .. } => {
            let made: Vec<Value> = calls
                .iter()
                .map(|_| json!({ "functionCall": { "name": "read", "args": { "path": "a.rs" } } }))
                .collect();
            let results: Vec<Value> = answered(calls)
                .map(|(_, size)| json!({ "functionResponse": { "name": "read", "response": { "output": words(number, size) } } }))
                .collect();
            let answer = (!results.is_empty()).then(|| json!({ "role": "user", "parts": results }));
            std::iter::once(json!({ "role": "model", "parts": made })).chain(answer).collect()
        }
        other => gemini(number, &stand_in(other)),
    }
}
