//! Units: whatever leaves as whole units leaves a legal history behind, over the bridges that the format asks for.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

#[allow(dead_code, reason = "every test uses its own part of this")]
mod histories;
mod wire_history;

use histories::{render, steps};
use louver::unit::units_of;
use louver::wire::{Format, Message, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::Range;
use wire_history::Request;

fn message(format: Format, value: &Value) -> Message {
    Message::parse(format, &value.to_string()).unwrap()
}

fn anthropic(values: &[Value]) -> Vec<Message> {
    values.iter().map(|value| message(Format::Anthropic, value)).collect()
}

fn units(messages: &[Message]) -> Vec<Range<usize>> {
    units_of(Format::Anthropic, messages).collect()
}

fn user() -> Value {
    json!({"role": "user", "content": "Which tide is next?"})
}

fn system() -> Value {
    json!({"role": "system", "content": "Be brief."})
}

fn assistant() -> Value {
    json!({"role": "assistant", "content": "High tide."})
}

fn call() -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]})
}

fn result() -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]})
}

/// A turn that ends in the use of a tool that Anthropic runs.
fn search() -> Value {
    json!({"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
    ]})
}

fn compaction() -> Value {
    json!({"role": "assistant", "content": [{"type": "compaction", "content": "So far.", "signature": "s"}]})
}

#[test]
fn nothing_of_ours_stands_beside_a_compaction() {
    let bridge = |before: Option<&Value>, after: &Value| {
        let before = before.map(|before| message(Format::Anthropic, before));
        let after = message(Format::Anthropic, after);
        Format::Anthropic.wire().bridge(before.as_ref().map(Message::shape), Some(after.shape()))
    };
    assert_eq!(bridge(None, &compaction()), None);
    assert_eq!(bridge(Some(&assistant()), &compaction()), None);
    assert_eq!(bridge(Some(&compaction()), &assistant()), None);
    assert_eq!(bridge(Some(&assistant()), &assistant()), Some(Role::User));
}

#[test]
fn what_follows_a_compaction_item_is_not_bound_to_what_it_replaces() {
    let items = [
        json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": "c", "output": "x"}),
        json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        json!({"type": "message", "role": "assistant", "content": "Done."}),
        json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "ZW5j"}),
        json!({"type": "reasoning", "id": "rs_2", "summary": []}),
        json!({"type": "message", "role": "assistant", "content": "Going on."}),
        json!({"type": "reasoning", "id": "rs_3", "summary": []}),
        json!({"type": "compaction", "id": "cmp_2", "encrypted_content": "ZW5j"}),
    ];
    let items = items.map(|item| message(Format::OpenAiResponses, &item));
    let units: Vec<_> = units_of(Format::OpenAiResponses, &items).collect();
    assert_eq!(units, [0..2, 2..4, 4..5, 5..9], "reasoning keeps the item that follows it");
}

#[test]
fn a_system_entry_belongs_to_what_it_follows_and_the_answer_does_not() {
    let messages = anthropic(&[user(), system(), assistant(), user(), system(), call(), result(), system()]);
    assert_eq!(units(&messages), [0..2, 2..3, 3..5, 5..8]);
    let messages = anthropic(&[user(), search(), system(), assistant(), user()]);
    assert_eq!(units(&messages), [0..1, 1..3, 3..4, 4..5]);
}

/// What stands before a seam and behind it: the ends of legal units, a summary, the start and the end of a history.
#[test]
fn any_two_ends_may_meet_over_a_bridge() {
    let starts: [Vec<Value>; 9] = [
        vec![],
        vec![compaction()],
        vec![user(), compaction()],
        vec![compaction(), user(), system()],
        vec![user()],
        vec![user(), system()],
        vec![user(), assistant()],
        vec![user(), call(), result()],
        vec![user(), call(), result(), system()],
    ];
    let ends: [Vec<Value>; 9] = [
        vec![],
        vec![compaction()],
        vec![compaction(), assistant()],
        vec![user()],
        vec![user(), system()],
        vec![assistant()],
        vec![call(), result()],
        vec![call(), result(), system(), assistant()],
        vec![search(), system(), assistant(), user()],
    ];
    for (start, end) in starts.iter().flat_map(|start| ends.iter().map(move |end| (start, end))) {
        let found = joined(Format::Anthropic, [anthropic(start), anthropic(end)]);
        let violations = Format::Anthropic.wire().check(&Request::of(found).history());
        let violations: Vec<_> = violations.into_iter().filter(|violation| violation.rule != "no-messages").collect();
        assert_eq!(violations, [], "{start:?} meets {end:?}");
    }
}

/// Puts runs of messages together, with what has to stand between them.
fn joined(format: Format, runs: impl IntoIterator<Item = Vec<Message>>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::new();
    for run in runs {
        let bridge = format.wire().bridge(joined.last().map(Message::shape), run.first().map(Message::shape));
        joined.extend(bridge.map(|role| Message::synthetic(format, role, "[cut]").unwrap()));
        joined.extend(run);
    }
    joined
}

/// A legal history with a system entry behind some of the user's messages, as newer models take it.
fn legal(format: Format, messages: Vec<Message>, is_followed: &[bool]) -> Request {
    let mut entries = Vec::new();
    for (at, entry) in messages.into_iter().enumerate() {
        let is_followed = format == Format::Anthropic && entry.shape().role == Role::User && is_followed[at % 64];
        entries.push(entry);
        entries.extend(is_followed.then(|| message(format, &system())));
    }
    let request = Request::of(entries);
    let fixes = format.wire().repair(&request.history());
    request.fixed(format, &fixes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_units_may_leave_a_legal_history(
        steps in steps(),
        is_followed in proptest::collection::vec(any::<bool>(), 64),
        is_kept in proptest::collection::vec(any::<bool>(), 64),
    ) {
        for format in Format::ALL {
            let messages = render(format, &steps).iter().map(|message| (**message).clone()).collect();
            let request = legal(format, messages, &is_followed);
            prop_assert_eq!(format.wire().check(&request.history()), []);
            let units: Vec<_> = units_of(format, &request.messages).collect();
            let kept = units.into_iter().enumerate().filter(|(at, _)| is_kept[at % 64]);
            let runs: Vec<_> = kept.map(|(_, unit)| request.messages[unit].to_vec()).collect();
            if runs.is_empty() {
                continue;
            }
            let left = joined(format, runs);
            prop_assert_eq!(format.wire().check(&Request::of(left).history()), [], "{}", format);
        }
    }
}
