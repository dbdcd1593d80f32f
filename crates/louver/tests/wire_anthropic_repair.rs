//! Anthropic Messages: a repaired history is legal, a legal one stays, and what we write ourselves is legal too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod wire_history;

use louver::wire::{Fix, Format, Message, PartKind, Role, Thinking};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_history::{Request, corpus, legality_cases};

const FORMAT: Format = Format::Anthropic;

/// A block of any kind; few ids, so that they pair, repeat and miss.
fn block() -> impl Strategy<Value = Value> {
    let id = prop_oneof![Just("a"), Just("b")];
    let inner = prop_oneof![
        Just(json!("done")),
        Just(json!([])),
        Just(json!([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}])),
        Just(json!([{"type": "text", "text": " "}, {"type": "text", "text": "y"}])),
    ];
    let plain = prop_oneof![Just("hello"), Just("  "), Just("")].prop_map(|text| json!({"type": "text", "text": text}));
    let result =
        (id.clone(), inner).prop_map(|(id, inner)| json!({"type": "tool_result", "tool_use_id": id, "content": inner}));
    let block = prop_oneof![
        3 => plain,
        4 => id.clone().prop_map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}})),
        4 => result,
        1 => id.clone().prop_map(|id| json!({"type": "server_tool_use", "id": id, "name": "g", "input": {}})),
        1 => id.prop_map(|id| json!({"type": "g_tool_result", "tool_use_id": id, "content": {}})),
        2 => Just(json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
        1 => Just(json!({"type": "novelty", "content": [{"cache_control": {}}]})),
    ];
    let compaction = prop_oneof![Just(json!("so far")), Just(Value::Null)]
        .prop_map(|content| json!({"type": "compaction", "content": content, "signature": "s"}));
    let marked = (block, 0..8u8).prop_map(|(mut block, mark)| {
        match mark {
            0 => block["cache_control"] = json!({"type": "ephemeral"}),
            1 => block["cache_control"] = Value::Null,
            _ => {}
        }
        block
    });
    prop_oneof![16 => marked, 1 => compaction]
}

fn any_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![4 => Just("user"), 4 => Just("assistant"), 2 => Just("system")];
    let content = prop_oneof![
        1 => prop_oneof![Just(json!("hi")), Just(json!("")), Just(json!(" ")), Just(Value::Null)],
        6 => proptest::collection::vec(block(), 0..5).prop_map(Value::Array),
    ];
    (role, content, any::<bool>()).prop_map(|(role, content, is_pretty)| {
        let value = json!({"role": role, "content": content});
        let raw = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        Message::parse(FORMAT, &raw).unwrap()
    })
}

/// Calls and their results, so that legal turns are not left to chance.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let read = |value: Value| Message::parse(FORMAT, &value.to_string()).unwrap();
    let tools = proptest::collection::vec(block(), 0..2).prop_map(move |extra| {
        let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": "a"});
        let calls = [extra.clone(), vec![call]].concat();
        let results = [vec![result], extra].concat();
        vec![read(json!({"role": "assistant", "content": calls})), read(json!({"role": "user", "content": results}))]
    });
    prop_oneof![any_message().prop_map(|message| vec![message]), tools]
}

fn request() -> impl Strategy<Value = Request> {
    let turns = proptest::collection::vec(turn(), 0..7).prop_map(|turns| turns.concat());
    let thinking = prop_oneof![Just(Thinking::Unset), Just(Thinking::Enabled)];
    (turns, 0..=4u32, thinking).prop_map(|(messages, outer_cache_marks, thinking)| Request {
        messages,
        outer_cache_marks,
        thinking,
    })
}

fn repaired(request: &Request) -> Request {
    let fixes = FORMAT.wire().repair(&request.history());
    request.fixed(FORMAT, &fixes)
}

fn raws(request: &Request) -> Vec<&str> {
    request.messages.iter().map(Message::raw).collect()
}

/// The compactions as they are spelled.
fn compactions(request: &Request) -> Vec<&str> {
    let spelled = |message| {
        let message: &Message = message;
        message.shape().parts_of(PartKind::Compaction).map(|part| part.span.of(message.raw())).collect::<Vec<_>>()
    };
    request.messages.iter().flat_map(spelled).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_repaired_history_is_legal_and_repairing_it_again_changes_nothing(request in request()) {
        let was_legal = FORMAT.wire().check(&request.history()).is_empty();
        let fixes = FORMAT.wire().repair(&request.history());
        prop_assert_eq!(was_legal, fixes.is_empty());
        let repaired = request.fixed(FORMAT, &fixes);
        prop_assert_eq!(FORMAT.wire().check(&repaired.history()), [], "{:?}\n{:?}", raws(&request), fixes);
        prop_assert_eq!(FORMAT.wire().repair(&repaired.history()), []);
    }

    #[test]
    fn a_repaired_history_holds_every_compaction_as_it_came(request in request()) {
        let repaired = repaired(&request);
        prop_assert_eq!(compactions(&request), compactions(&repaired));
    }

    #[test]
    fn fixes_come_in_order_and_touch_each_message_once(request in request()) {
        let fixes = FORMAT.wire().repair(&request.history());
        let places: Vec<_> = fixes.iter().map(|fix| (fix.index(), !matches!(fix, Fix::Insert { .. }))).collect();
        prop_assert!(places.is_sorted());
        let changed: Vec<_> = places.iter().filter(|(_, is_change)| *is_change).collect();
        prop_assert!(changed.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn neighbours_from_legal_histories_may_stand_together_over_a_bridge(first in request(), second in request()) {
        let (first, second) = (repaired(&first), repaired(&second));
        let heads = std::iter::once(None).chain(first.messages.iter().map(Some));
        for before in heads {
            let after = second.messages.first().unwrap();
            let is_between_systems = before.is_some_and(|it| it.shape().role == Role::System)
                && after.shape().role == Role::System;
            if is_between_systems {
                continue;
            }
            let bridge = FORMAT.wire().bridge(before.map(Message::shape), Some(after.shape()));
            let bridge = bridge.map(|role| Message::synthetic(FORMAT, role, "[cut]").unwrap());
            let start = Message::synthetic(FORMAT, Role::User, "start").unwrap();
            let prefix = before.map(|before| [&start, before]).into_iter().flatten();
            let joined: Vec<_> = prefix.chain(bridge.as_ref()).chain([after]).cloned().collect();
            let rules = ["first-not-user", "system-misplaced"];
            let found = FORMAT.wire().check(&Request::of(joined).history());
            prop_assert!(!found.iter().any(|violation| rules.contains(&violation.rule)), "{found:?}");
        }
    }

    #[test]
    fn what_we_write_is_read_back_and_legal(text in prop_oneof![any::<String>(), "[ \n\t]*"]) {
        for role in [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool] {
            let message = Message::synthetic(FORMAT, role, &text).unwrap();
            let expected = if role == Role::Assistant { Role::Assistant } else { Role::User };
            prop_assert_eq!(message.shape().role, expected);
            let part = message.shape().parts[0];
            prop_assert!(!part.blank);
            prop_assert!(text.trim().is_empty() || message.text_of(&part) == text);
        }
        let content = format!("[{}]", FORMAT.wire().write_part(&text));
        let result = FORMAT.wire().write_result("\"long\"", &text);
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
        let answer = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{result}}}]}}"#
        );
        let raws = [format!(r#"{{"role":"user","content":{content}}}"#), call.to_string(), answer];
        let messages = raws.iter().map(|raw| Message::parse(FORMAT, raw).unwrap()).collect();
        prop_assert_eq!(FORMAT.wire().check(&Request::of(messages).history()), []);
    }
}

#[test]
fn every_illegal_request_of_the_test_data_is_repaired() {
    for (rule, legal, illegal) in legality_cases(include_str!("data/legality/anthropic.json"), FORMAT) {
        assert_eq!(FORMAT.wire().repair(&legal.history()), [], "{rule}");
        assert_eq!(FORMAT.wire().check(&repaired(&illegal).history()), [], "{rule}");
    }
}

#[test]
fn every_conversation_of_the_corpus_is_repaired_with_few_changes() {
    for conversation in corpus(FORMAT) {
        let request = Request::of(conversation.messages);
        let violations = FORMAT.wire().check(&request.history());
        let fixes = FORMAT.wire().repair(&request.history());
        assert_eq!(violations.is_empty(), fixes.is_empty(), "{}", conversation.name);
        let repaired = request.fixed(FORMAT, &fixes);
        assert_eq!(FORMAT.wire().check(&repaired.history()), [], "{}", conversation.name);
        assert!(fixes.len() <= 3 * violations.len(), "{}: {fixes:?}", conversation.name);
    }
}

fn repaired_raws(messages: &[Value]) -> Vec<Value> {
    let messages = messages.iter().map(|raw| Message::parse(FORMAT, &raw.to_string()).unwrap()).collect();
    let repaired = repaired(&Request::of(messages));
    repaired.messages.iter().map(|message| serde_json::from_str(message.raw()).unwrap()).collect()
}

#[test]
fn a_dangling_call_goes_with_the_thinking_that_led_to_it() {
    let ask = json!({"role": "user", "content": "Go"});
    let call = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let say = json!({"type": "text", "text": "On it."});
    let alone = json!({"role": "assistant", "content": [thinking, call]});
    assert_eq!(repaired_raws(&[ask.clone(), alone]), std::slice::from_ref(&ask));
    let with_text = json!({"role": "assistant", "content": [thinking, say, call]});
    let left = json!({"role": "assistant", "content": [thinking, say]});
    assert_eq!(repaired_raws(&[ask.clone(), with_text]), [ask, left]);
}

#[test]
fn a_system_entry_keeps_its_words_where_it_may_not_keep_its_role() {
    let system = json!({"role": "system", "content": "Be brief."});
    let ask = json!({"role": "user", "content": "Go"});
    let said = json!({"role": "user", "content": "Be brief."});
    assert_eq!(repaired_raws(&[system.clone(), ask.clone()]), [said, ask.clone()]);
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]});
    let between = [ask.clone(), call.clone(), system.clone(), system.clone(), system, result.clone()];
    assert_eq!(repaired_raws(&between), [ask, call, result]);
}

#[test]
fn a_system_entry_is_judged_again_when_the_call_behind_it_goes() {
    let ask = json!({"role": "user", "content": "Go"});
    let system = json!({"role": "system", "content": "Be brief."});
    let said = json!({"role": "user", "content": "Be brief."});
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
    assert_eq!(repaired_raws(&[ask.clone(), system, call, ask.clone()]), [ask.clone(), said, ask]);
}

#[test]
fn results_move_first_and_the_oldest_marks_go() {
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    let user = |blocks: Vec<Value>| json!({"role": "user", "content": blocks});
    let four = vec![marked("b"), marked("c"), marked("d"), marked("e")];
    let found = repaired_raws(&[user(vec![marked("a")]), user(four.clone())]);
    assert_eq!(found, [user(vec![json!({"type": "text", "text": "a"})]), user(four)]);

    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "x"});
    let say = json!({"type": "text", "text": "Look:"});
    let found = repaired_raws(&[user(vec![say.clone()]), call.clone(), user(vec![say.clone(), result.clone()])]);
    assert_eq!(found, [user(vec![say.clone()]), call, user(vec![result, say])]);
}

#[test]
fn a_compaction_keeps_its_cache_mark_and_its_place() {
    let mark = json!({"type": "ephemeral"});
    let compaction = json!({"role": "assistant", "content": [
        {"type": "compaction", "content": "So far.", "signature": "s", "cache_control": mark},
    ]});
    let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": mark});
    let five = |last: Vec<Value>| json!({"role": "user", "content": last});
    let found = repaired_raws(&[compaction.clone(), five(["a", "b", "c", "d"].map(marked).to_vec())]);
    let left = [vec![json!({"type": "text", "text": "a"})], ["b", "c", "d"].map(marked).to_vec()].concat();
    assert_eq!(found, [compaction, five(left)]);
}
