//! Responses: what is read, what is refused, what is repaired.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skipped")]

mod wire_openai;

use louver::wire::{Fix, Format, MediaKind, Message, PartKind, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_openai::{
    Expected, any_object, assert_cut_text_is_refused, assert_harmless, assert_legality, assert_repairs, chars, check,
    corpus, describe, expected_part, object, string,
};

const RESPONSES: Format = Format::OpenAiResponses;

const SERVER_CALLS: [&str; 6] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
];

fn read(raw: &str) -> Message {
    Message::parse(RESPONSES, raw).unwrap()
}

fn error(raw: &str) -> String {
    Message::parse(RESPONSES, raw).unwrap_err().to_string()
}

/// The parts of an item as serde_json's reading has them, in order, and who speaks.
fn expected_item(item: &Value) -> (Role, Vec<String>) {
    let kind = item["type"].as_str().unwrap_or("message");
    let (role, parts) = match kind {
        "message" => (role_of(item), expected_content(item)),
        "reasoning" => (Role::Assistant, vec![expected_reasoning(item)]),
        _ if SERVER_CALLS.contains(&kind) => (Role::Assistant, expected_server_call(item)),
        _ if kind.ends_with("_call") => (Role::Assistant, vec![expected_call(item)]),
        _ if kind.ends_with("_output") => (Role::Tool, expected_output(item)),
        _ => (role_of(item), vec![Expected::new("Other").reading(item)]),
    };
    (role, parts.iter().map(Expected::line).collect())
}

fn role_of(item: &Value) -> Role {
    match item["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Developer,
    }
}

fn expected_content(item: &Value) -> Vec<Expected> {
    let own_id = string(item, "id");
    let parts: Vec<_> = match &item["content"] {
        text @ Value::String(_) => vec![Expected::new("Text").reading(text)],
        Value::Array(parts) => parts.iter().map(expected_part).collect(),
        _ => Vec::new(),
    };
    parts.into_iter().map(|part| Expected { own_id: own_id.clone(), ..part }).collect()
}

fn expected_reasoning(item: &Value) -> Expected {
    let lists = ["summary", "content"].map(|key| item[key].as_array().cloned().unwrap_or_default());
    let texts: Vec<Value> = lists.iter().flatten().map(|element| element["text"].clone()).collect();
    let text = match &texts[..] {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(item["summary"].clone()),
    };
    Expected { own_id: string(item, "id"), text, chars: texts.iter().map(chars).sum(), ..Expected::new("Thinking") }
}

fn asked(item: &Value) -> Value {
    let keys = ["arguments", "input", "action", "operation", "code", "queries"];
    keys.iter().map(|key| item[key].clone()).find(|value| !value.is_null()).unwrap_or_default()
}

fn expected_call(item: &Value) -> Expected {
    let call = Expected::new("ToolCall").reading(&asked(item));
    Expected {
        id: string(item, "call_id"),
        own_id: string(item, "id"),
        name: string(item, "name"),
        chars: call.chars + chars(&item["name"]),
        ..call
    }
}

fn expected_server_call(item: &Value) -> Vec<Expected> {
    let call = Expected { kind: "ServerToolCall".to_owned(), id: String::new(), ..expected_call(item) };
    let answers = ["results", "outputs", "tools", "output", "error"].map(|key| item[key].clone());
    let answers = answers.iter().filter(|answer| !answer.is_null());
    std::iter::once(call).chain(answers.map(|answer| Expected::new("ServerToolResult").reading(answer))).collect()
}

fn expected_output(item: &Value) -> Vec<Expected> {
    let mut result =
        Expected { id: string(item, "call_id"), own_id: string(item, "id"), ..Expected::new("ToolResult") };
    let mut nested = Vec::new();
    match &item["output"] {
        text @ Value::String(_) => result = result.reading(text),
        list @ Value::Array(parts) => {
            result.text = Some(list.clone());
            nested.extend(parts.iter().map(expected_part));
        }
        _ if item["tools"].is_array() => nested.push(Expected::new("Other").reading(&item["tools"])),
        _ => {}
    }
    nested.iter_mut().for_each(|part| part.nested = true);
    std::iter::once(result).chain(nested).collect()
}

/// Content, or else what the item carries: the seeds' estimate.
fn expected_estimate(item: &Value) -> usize {
    let payload = |keys: &[&str]| keys.iter().map(|key| chars(&item[key])).sum();
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "message" => payload(&["content"]),
        "reasoning" if !item["content"].is_null() => payload(&["content"]),
        "reasoning" => payload(&["summary"]),
        _ if kind.ends_with("_output") => payload(&["output", "tools"]),
        _ if kind.ends_with("_call") || kind == "mcp_list_tools" => {
            chars(&asked(item)) + payload(&["results", "outputs", "tools", "output", "error"])
        }
        _ => chars(item),
    }
}

/// Compares what was read with serde_json's reading.
fn assert_read_as_serde_does(message: &Message) {
    let value: Value = serde_json::from_str(message.raw()).unwrap();
    let lines: Vec<_> = message.shape().parts.iter().map(|part| describe(message, part)).collect();
    assert_eq!((message.shape().role, lines), expected_item(&value), "{value}");
    assert_eq!(message.shape().estimate_chars, expected_estimate(&value) as u64, "{value}");
    for part in message.shape().parts_of(PartKind::Text) {
        assert_eq!(part.blank, message.text_of(part).trim().is_empty());
    }
}

#[test]
fn every_item_of_the_corpus_is_read_as_serde_reads_it() {
    for transcript in corpus(RESPONSES) {
        transcript.messages.iter().for_each(assert_read_as_serde_does);
    }
}

#[test]
fn the_corpus_is_judged_as_its_index_says_and_repaired() {
    for transcript in corpus(RESPONSES) {
        let violations = check(RESPONSES, &transcript.messages);
        assert_eq!(violations.is_empty(), transcript.legal, "{}: {violations:?}", transcript.name);
        assert_repairs(RESPONSES, &transcript.messages);
    }
}

#[test]
fn the_corpus_with_holes_is_judged_by_the_letter_and_repaired() {
    for transcript in corpus(RESPONSES) {
        for stride in [2, 5] {
            let numbered = transcript.messages.iter().enumerate();
            let rest: Vec<_> =
                numbered.filter(|(at, _)| at % stride != 1).map(|(_, message)| message.clone()).collect();
            let values: Vec<_> = rest.iter().map(|message| serde_json::from_str(message.raw()).unwrap()).collect();
            assert_eq!(check(RESPONSES, &rest).is_empty(), is_legal(&values), "{} / {stride}", transcript.name);
            assert_repairs(RESPONSES, &rest);
        }
    }
}

#[test]
fn each_rule_has_a_border() {
    assert_legality(RESPONSES, include_str!("data/legality/openai-responses.json"));
}

#[test]
fn members_may_come_in_any_order() {
    let message = read(
        r#"{"output":[{"text":"é\n","type":"input_text"},{"type":"input_image","image_url":"data:image/png;base64,AA"}],
            "call_id":"call_1","type":"function_call_output"}"#,
    );
    let kinds: Vec<_> = message.shape().parts.iter().map(|part| (part.kind, part.nested, part.chars)).collect();
    assert_eq!(
        kinds,
        [(PartKind::ToolResult, false, 0), (PartKind::Text, true, 2), (PartKind::Media(MediaKind::Image), true, 0)]
    );
    assert_eq!(message.name_of(&message.shape().parts[2]), "image/png");
}

#[test]
fn of_a_member_that_comes_twice_the_last_one_counts() {
    let message = read(
        r#"{"type":"message","output":[{}],"role":"user","content":[{"type":"input_text","text":"no"}],"role":"assistant",
            "content":"yes","id":"msg_1"}"#,
    );
    let parts: Vec<_> = message.shape().parts.iter().map(|p| (message.text_of(p), message.own_id_of(p))).collect();
    assert_eq!(message.shape().role, Role::Assistant);
    assert_eq!(parts, [("yes".into(), "msg_1".into())]);
}

#[test]
fn what_is_no_item_is_refused_with_its_place() {
    assert_eq!(error("\"a\""), "expected an object, found a string (byte 0)");
    assert_eq!(error(r#"{"content":"a"}"#), "expected an item with a `type` or a `role` (byte 0)");
    assert_eq!(error(r#"{"type":7}"#), "$.type: expected a string, found a number (byte 8)");
    assert_eq!(
        error(r#"{"role":"owner","content":""}"#),
        "$.role: expected one of system, developer, user, assistant (byte 8)"
    );
    assert_eq!(
        error(r#"{"role":"user","content":true}"#),
        "$.content: expected a string, an array or null, found a boolean (byte 25)"
    );
    assert_eq!(error(r#"{"role":"user","content":[7]}"#), "$.content[0]: expected an object, found a number (byte 26)");
}

#[test]
fn an_item_of_an_unknown_type_is_kept_whatever_it_holds() {
    let message = read(r#"{"type": "weather", "content": 7, "role": "owner", "id": "w_1"}"#);
    let part = message.shape().parts[0];
    assert_eq!(
        (message.shape().role, part.kind, message.own_id_of(&part)),
        (Role::Developer, PartKind::Other, "w_1".into())
    );
    assert_eq!(u64::from(part.chars), message.shape().estimate_chars);
    assert_eq!(part.chars, 56);
    let call = read(r#"{"type":"weather_call","call_id":"c"}"#);
    assert_eq!((call.shape().role, call.shape().parts[0].kind), (Role::Assistant, PartKind::ToolCall));
    let call = read(r#"{"type":"weather_call"}"#);
    assert_eq!((call.shape().role, call.shape().parts[0].kind), (Role::Assistant, PartKind::Other));
}

#[test]
fn a_list_that_is_no_list_of_parts_is_kept_in_any_item_but_a_message() {
    let message = read(r#"{"type":"function_call_output","call_id":"a","content":[null],"output":[null, 7, {"b":1}]}"#);
    let parts: Vec<_> = message.shape().parts.iter().map(|part| part.text.of(message.raw())).collect();
    assert_eq!(parts, [r#"[null, 7, {"b":1}]"#, "7", r#"{"b":1}"#]);
}

#[test]
fn what_only_the_provider_can_read_counts_nothing() {
    for (raw, kind) in [
        (r#"{"type":"compaction","id":"c_1","encrypted_content":"AAAA"}"#, PartKind::Compaction),
        (r#"{"type":"item_reference","id":"c_1"}"#, PartKind::Reference),
        (r#"{"type":"reasoning","id":"c_1","summary":null,"encrypted_content":"AAAA"}"#, PartKind::Thinking),
    ] {
        let message = read(raw);
        let part = message.shape().parts[0];
        assert_eq!((part.kind, part.chars, message.shape().estimate_chars), (kind, 0, 0), "{raw}");
        assert_eq!(message.own_id_of(&part), "c_1");
    }
    let picture = read(r#"{"type":"image_generation_call","id":"ig_1","result":"AAAA"}"#);
    assert_eq!(picture.shape().chars(), 0);
    assert_eq!(picture.media_of(&picture.shape().parts[1]), "AAAA");
}

#[test]
fn a_result_that_takes_no_string_has_no_text_to_replace() {
    for raw in [
        r#"{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:a/b;c"}}"#,
        r#"{"type":"tool_search_output","call_id":"c","tools":[{"name":"a"}]}"#,
    ] {
        let message = read(raw);
        assert!(message.shape().parts[0].text.is_empty(), "{raw}");
        assert!(message.shape().parts[1].nested && !message.shape().parts[1].text.is_empty(), "{raw}");
    }
}

#[test]
fn the_output_of_a_shell_stays_a_list_of_runs() {
    let outcome = r#"{"type": "exit", "exit_code": 2}"#;
    let like = format!(r#"[{{"stdout":"a","stderr":"b","outcome":{outcome}}}]"#);
    let wire = RESPONSES.wire();
    assert_eq!(wire.write_result(&like, "cut"), format!(r#"[{{"stdout":"cut","stderr":"","outcome":{outcome}}}]"#));
    assert_eq!(wire.write_result(r#"[{"type":"input_text","text":"a"}]"#, "cut"), "\"cut\"");
    assert_eq!(wire.write_result("\"a\"", "c\"t"), r#""c\"t""#);
}

#[test]
fn violations_are_in_the_words_of_the_api() {
    let messages = history(&[
        r#"{"type":"function_call_output","call_id":"a","output":""}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
        r#"{"role":"user","content":""}"#,
        r#"{"type":"custom_tool_call","call_id":"b","name":"c","input":""}"#,
    ]);
    let found: Vec<_> = check(RESPONSES, &messages).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "[0]: output-without-call: No tool call found for function call output with call_id a.",
            "[1]: reasoning-without-item: Item 'rs_1' of type 'reasoning' was provided without its required following \
             item.",
            "[3]: call-without-output: No tool output found for custom tool call b.",
        ]
    );
}

fn history(raw: &[&str]) -> Vec<Message> {
    wire_openai::parse(RESPONSES, raw).unwrap()
}

#[test]
fn reasoning_goes_with_the_call_that_it_led_to() {
    let messages = history(&[
        r#"{"role":"user","content":"a"}"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
        r#"{"type":"reasoning","id":"rs_2","summary":[]}"#,
        r#"{"type":"function_call","call_id":"a","name":"b","arguments":""}"#,
    ]);
    let gone: Vec<_> = wire_openai::repair(RESPONSES, &messages).iter().map(Fix::index).collect();
    assert_eq!(gone, [1, 2, 3]);
}

#[test]
fn what_we_write_is_read_back() {
    for role in [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool] {
        let message = Message::synthetic(RESPONSES, role, "a \"b\"\n\u{1}é").unwrap();
        let read_as = if role == Role::Tool { Role::User } else { role };
        assert_eq!(message.shape().role, read_as);
        assert_eq!(message.text_of(&message.shape().parts[0]), "a \"b\"\n\u{1}é");
    }
    let part = RESPONSES.wire().write_part("a\tb");
    let message = read(&format!(r#"{{"role":"user","content":[{part}]}}"#));
    assert_eq!(message.text_of(&message.shape().parts[0]), "a\tb");
}

/// Judges by the letter of the rules: per id never more outputs than calls, in the end as many; reasoning before an
/// item of the model.
fn is_legal(items: &[Value]) -> bool {
    let kind = |item: &Value| string(item, "type");
    let is_call = |item: &Value| kind(item).ends_with("_call") && !SERVER_CALLS.contains(&kind(item).as_str());
    let mut open = std::collections::HashMap::<String, i32>::new();
    let never_below = items.iter().all(|item| {
        let open = open.entry(string(item, "call_id")).or_default();
        *open += i32::from(is_call(item)) - i32::from(kind(item).ends_with("_output"));
        *open >= 0
    });
    let paired = never_below && open.values().all(|open| *open == 0);
    let reasoned = (0..items.len()).filter(|at| kind(&items[*at]) == "reasoning" && items[*at]["id"].is_string());
    let followed = |at: usize| {
        let next = items[at..].iter().find(|item| kind(item) != "reasoning");
        next.is_some_and(|item| item["role"] == "assistant" || kind(item).ends_with("_call"))
    };
    paired && reasoned.clone().all(followed)
}

fn any_text() -> impl Strategy<Value = Value> {
    "[ \n\t\\\\\"a-cé😀\u{3000}]{0,6}".prop_map(Value::from)
}

fn any_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_text().prop_map(|text| json!({"type": "input_text", "text": text})),
        any_text().prop_map(|text| json!({"type": "output_text", "text": text, "annotations": []})),
        any_text().prop_map(|text| json!({"type": "refusal", "refusal": text})),
        any_text().prop_map(|text| json!({"type": "new", "text": text})),
        Just(json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA", "file_id": null})),
        Just(json!({"type": "input_file", "file_id": "f", "filename": "a"})),
    ]
}

fn any_content() -> impl Strategy<Value = Value> {
    prop_oneof![any_text(), proptest::collection::vec(any_part(), 0..4).prop_map(Value::Array)]
}

fn any_id() -> impl Strategy<Value = Value> {
    proptest::sample::select(vec![json!("a"), json!("b"), json!("c")])
}

type Members = Vec<(&'static str, Value)>;

fn any_message() -> impl Strategy<Value = Members> {
    let roles = &["system", "developer", "user", "assistant"][..];
    (proptest::sample::select(roles), any_content(), any::<bool>()).prop_map(|(role, content, typed)| {
        let mut members = vec![("role", json!(role)), ("content", content)];
        members.extend(typed.then(|| ("type", json!("message"))));
        members.extend(typed.then(|| ("id", json!("msg_1"))));
        members
    })
}

fn any_call() -> impl Strategy<Value = Members> {
    let kinds = vec![("function_call", "arguments"), ("custom_tool_call", "input"), ("computer_call", "action")];
    (proptest::sample::select(kinds), any_id(), any_text(), any_text()).prop_map(|((kind, key), id, name, input)| {
        let input = if key == "action" { json!({"type": input}) } else { input };
        vec![("type", json!(kind)), ("call_id", id), ("name", name), (key, input), ("id", json!("fc_1"))]
    })
}

fn any_output() -> impl Strategy<Value = Members> {
    let kinds = &["function_call_output", "custom_tool_call_output"][..];
    (proptest::sample::select(kinds), any_id(), any_content())
        .prop_map(|(kind, id, output)| vec![("type", json!(kind)), ("call_id", id), ("output", output)])
}

fn any_reasoning() -> impl Strategy<Value = Members> {
    let texts = proptest::collection::vec("[a-cé]{1,3}", 0..3);
    (texts, any::<bool>()).prop_map(|(texts, has_id)| {
        let summary: Vec<_> = texts.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
        let mut members = vec![("type", json!("reasoning")), ("summary", json!(summary))];
        members.push(("encrypted_content", json!("AAAA")));
        members.extend(has_id.then(|| ("id", json!("rs_1"))));
        members
    })
}

fn any_server_call() -> impl Strategy<Value = Members> {
    prop_oneof![
        Just(vec![("type", json!("web_search_call")), ("id", json!("ws_1")), ("action", json!({"query": "a"}))]),
        any_text().prop_map(|text| {
            vec![("type", json!("mcp_call")), ("name", json!("a")), ("arguments", json!("{}")), ("output", text)]
        }),
        any_text().prop_map(|text| {
            let outputs = json!([{"type": "logs", "logs": text}]);
            vec![("type", json!("code_interpreter_call")), ("code", json!("1+1")), ("outputs", outputs)]
        }),
    ]
}

fn any_item() -> impl Strategy<Value = Members> {
    prop_oneof![any_message(), any_call(), any_output(), any_reasoning(), any_server_call()]
}

/// Reasoning, calls, and their outputs in some order.
fn any_turn() -> impl Strategy<Value = Vec<Members>> {
    let calls = proptest::collection::vec(any_call(), 1..3);
    (proptest::option::of(any_reasoning()), calls).prop_flat_map(|(reasoning, calls)| {
        let outputs: Vec<Members> = calls
            .iter()
            .map(|call| vec![("type", json!("function_call_output")), call[1].clone(), ("output", json!("x"))])
            .collect();
        let before: Vec<Members> = reasoning.into_iter().chain(calls).collect();
        Just(outputs).prop_shuffle().prop_map(move |outputs| [before.clone(), outputs].concat())
    })
}

fn any_history() -> impl Strategy<Value = Vec<Members>> {
    let some = prop_oneof![1 => any_item().prop_map(|item| vec![item]), 3 => any_turn()];
    proptest::collection::vec(some, 0..5).prop_map(|turns| turns.concat())
}

const KEYS: &[&str] = &[
    "type",
    "role",
    "content",
    "output",
    "summary",
    "id",
    "call_id",
    "approval_request_id",
    "name",
    "arguments",
    "input",
    "action",
    "result",
    "results",
    "tools",
    "reason",
    "status",
    "text",
    "image_url",
    "file_data",
];

const WORDS: &[&str] = &[
    "user",
    "assistant",
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "mcp_call",
    "new_call",
    "tool_search_output",
    "mcp_approval_response",
    "image_generation_call",
    "compaction",
    "input_text",
    "data:a,",
    "a",
];

proptest! {
    #[test]
    fn any_item_is_read_as_serde_reads_it(members in any_item().prop_shuffle()) {
        let raw = object(&members);
        let message = read(&raw);
        prop_assert_eq!(message.raw(), &raw);
        assert_read_as_serde_does(&message);
        assert_cut_text_is_refused(RESPONSES, &raw);
    }

    #[test]
    fn any_object_does_no_harm(value in any_object(KEYS, WORDS), kind in proptest::sample::select(WORDS)) {
        assert_harmless(RESPONSES, &value.to_string());
        let mut value = value;
        value["type"] = kind.into();
        assert_harmless(RESPONSES, &value.to_string());
    }

    #[test]
    fn any_history_is_judged_by_the_letter_and_repaired(turns in any_history()) {
        let raw: Vec<String> = turns.iter().map(|members| object(members)).collect();
        let messages = wire_openai::parse(RESPONSES, &raw).unwrap();
        let values: Vec<Value> = raw.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        prop_assert_eq!(check(RESPONSES, &messages).is_empty(), is_legal(&values));
        assert_repairs(RESPONSES, &messages);
    }
}

#[test]
fn an_item_that_carries_tools_is_an_instruction_whoever_it_names() {
    let is_instruction = |raw: &str| Message::parse(RESPONSES, raw).unwrap().shape().is_instruction();
    assert!(is_instruction(r#"{"type":"additional_tools","role":"developer","tools":[{"name":"f"}]}"#));
    assert!(is_instruction(r#"{"type":"additional_tools","role":"user","tools":[]}"#));
    assert!(is_instruction(r#"{"type":"additional_tools","tools":[]}"#));
    assert!(is_instruction(r#"{"type":"message","role":"developer","content":"Be brief."}"#));
    assert!(is_instruction(r#"{"role":"system","content":"Be brief."}"#));
    assert!(!is_instruction(r#"{"role":"user","content":"Be brief."}"#));
    assert!(!is_instruction(r#"{"type":"mcp_list_tools","server_label":"s","tools":[{"name":"f"}]}"#));
}
