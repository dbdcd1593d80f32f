//! Gemini contents: a repaired history is legal, a legal one stays, and what we write ourselves is legal too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod wire_history;

use louver::wire::{Format, Message, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_history::{Request, corpus, legality_cases};

const FORMAT: Format = Format::Gemini;

fn part() -> impl Strategy<Value = Value> {
    let name = prop_oneof![Just("f"), Just("g")];
    prop_oneof![
        3 => Just(json!({"text": "hello"})),
        1 => Just(json!({"text": ""})),
        1 => Just(json!({"text": "hm", "thought": true, "thoughtSignature": "s"})),
        3 => name.clone().prop_map(|name| json!({"functionCall": {"name": name, "args": {}}})),
        3 => name.prop_map(|name| json!({"functionResponse": {"name": name, "response": {"output": 1}}})),
        1 => Just(json!({})),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just("user"), Just("model")];
    let parts = prop_oneof![
        1 => Just(Value::Null),
        8 => proptest::collection::vec(part(), 0..4).prop_map(Value::Array),
    ];
    (role, parts, any::<bool>()).prop_map(|(role, parts, is_pretty)| {
        let value = json!({"role": role, "parts": parts});
        let raw = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        Message::parse(FORMAT, &raw).unwrap()
    })
}

/// Calls and their responses, so that legal turns are not left to chance.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    let read = |value: Value| Message::parse(FORMAT, &value.to_string()).unwrap();
    let tools = proptest::collection::vec(part(), 0..2).prop_map(move |extra| {
        let call = json!({"functionCall": {"name": "f", "args": {}}});
        let response = json!({"functionResponse": {"name": "f", "response": {}}});
        let calls = [extra.clone(), vec![call]].concat();
        let responses = [vec![response], extra].concat();
        vec![read(json!({"role": "model", "parts": calls})), read(json!({"role": "user", "parts": responses}))]
    });
    prop_oneof![any_message().prop_map(|message| vec![message]), tools]
}

fn request() -> impl Strategy<Value = Request> {
    proptest::collection::vec(turn(), 0..8).prop_map(|turns| Request::of(turns.concat()))
}

fn repaired(request: &Request) -> Request {
    let fixes = FORMAT.wire().repair(&request.history());
    request.fixed(FORMAT, &fixes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_repaired_history_is_legal_and_repairing_it_again_changes_nothing(request in request()) {
        let was_legal = FORMAT.wire().check(&request.history()).is_empty();
        let fixes = FORMAT.wire().repair(&request.history());
        prop_assert_eq!(was_legal, fixes.is_empty());
        let repaired = request.fixed(FORMAT, &fixes);
        prop_assert_eq!(FORMAT.wire().check(&repaired.history()), [], "{:?}", fixes);
        prop_assert_eq!(FORMAT.wire().repair(&repaired.history()), []);
    }

    #[test]
    fn neighbours_from_legal_histories_may_stand_together_over_a_bridge(first in request(), second in request()) {
        let (first, second) = (repaired(&first), repaired(&second));
        for before in std::iter::once(None).chain(first.messages.iter().map(Some)) {
            for after in &second.messages {
                let bridge = FORMAT.wire().bridge(before.map(Message::shape), Some(after.shape()));
                let bridge = bridge.map(|role| Message::synthetic(FORMAT, role, "[cut]").unwrap());
                let start = Message::synthetic(FORMAT, Role::User, "start").unwrap();
                let prefix = before.map(|before| [&start, before]).into_iter().flatten();
                let joined: Vec<_> = prefix.chain(bridge.as_ref()).chain([after]).cloned().collect();
                let rules = ["first-not-user", "call-out-of-place"];
                let found = FORMAT.wire().check(&Request::of(joined).history());
                prop_assert!(!found.iter().any(|violation| rules.contains(&violation.rule)), "{found:?}");
            }
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
        let part: Value = serde_json::from_str(&FORMAT.wire().write_part(&text)).unwrap();
        let result: Value = serde_json::from_str(&FORMAT.wire().write_result("{}", &text)).unwrap();
        prop_assert!(part["text"].is_string() && result.is_object());
    }
}

#[test]
fn every_illegal_request_of_the_test_data_is_repaired() {
    for (rule, legal, illegal) in legality_cases(include_str!("data/legality/gemini.json"), FORMAT) {
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
        assert!(fixes.len() <= 2 * violations.len(), "{}: {fixes:?}", conversation.name);
    }
}

#[test]
fn surplus_calls_and_responses_go_by_name() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let response = |name: &str| json!({"functionResponse": {"name": name, "response": {}}});
    let content = |role: &str, parts: &[Value]| json!({"role": role, "parts": parts});
    let read = |value: &Value| Message::parse(FORMAT, &value.to_string()).unwrap();
    let ask = content("user", &[json!({"text": "Go"})]);
    let calls = content("model", &[call("a"), call("b"), call("c")]);
    let responses = content("user", &[response("c"), response("a")]);
    let request = Request::of([&ask, &calls, &responses].map(read).to_vec());
    let found = repaired(&request).messages.iter().map(|it| it.raw().to_owned()).collect::<Vec<_>>();
    let left = content("model", &[call("a"), call("c")]);
    assert_eq!(found, [ask.to_string(), left.to_string(), responses.to_string()]);
}
