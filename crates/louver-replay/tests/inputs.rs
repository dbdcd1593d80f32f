//! Every kind of file that holds conversations, with invented contents.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "helpers of tests, where a panic is the message"
)]

use louver::wire::{Format, PartKind, Role};
use louver_replay::input::{Kind, Source, find, read, read_text};
use louver_replay::{Conversation, Strand};
use serde_json::{Value, json};

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn only(text: &str) -> Conversation {
    let mut found = read_text("file", text).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn roles(conversation: &Conversation) -> Vec<Role> {
    conversation.messages.iter().map(|message| message.shape().role).collect()
}

#[test]
fn bodies_wrappers_and_lists_are_one_conversation() {
    let body = json!({"model": "gpt-5.5", "input": [{"role": "user", "content": "Hi"}], "instructions": "Be brief."});
    let conversation = only(&body.to_string());
    assert_eq!((conversation.format, conversation.model.as_deref()), (Format::OpenAiResponses, Some("gpt-5.5")));
    assert_eq!(conversation.system, ["Be brief."]);
    let wrapper = json!({"format": "gemini", "messages": [{"role": "user", "parts": [{"text": "Hi"}]}]});
    assert_eq!(only(&serde_json::to_string_pretty(&wrapper).unwrap()).format, Format::Gemini);
    assert_eq!(only(r#"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]"#).turns().len(), 1);
}

#[test]
fn lines_are_messages_or_whole_bodies() {
    let messages = lines(&[json!({"role": "user", "content": "Hi"}), json!({"role": "assistant", "content": "Hello"})]);
    assert_eq!(Kind::of(&messages), Kind::MessageLines);
    assert_eq!(only(&messages).messages.len(), 2);
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]});
    let bodies = lines(&[body.clone(), body]);
    assert_eq!(Kind::of(&bodies), Kind::BodyLines);
    let names: Vec<_> = read_text("file", &bodies).unwrap().into_iter().map(|one| one.file).collect();
    assert_eq!(names, ["file", "file#2"]);
}

fn claude(kind: &str, uuid: &str, parent: Option<&str>, second: u32, message: Value) -> Value {
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
           "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "message": message})
}

fn block(id: &str, block: Value) -> Value {
    json!({"id": id, "role": "assistant", "model": "claude-opus-4-5", "content": [block]})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}})
}

fn result(id: &str) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": format!("result of {id}")}]})
}

/// Two calls in one answer, a result of the first off the chain, a rewound branch, a note and a sub-agent's line.
fn claude_session() -> Vec<Value> {
    let mut note = claude("user", "n", Some("u1"), 2, json!({"role": "user", "content": "a note"}));
    note["isMeta"] = json!(true);
    let mut side = claude("user", "side", None, 3, json!({"role": "user", "content": "a sub-agent's task"}));
    side["isSidechain"] = json!(true);
    vec![
        json!({"type": "summary", "summary": "A title", "leafUuid": "x"}),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}),
        claude("user", "u1", None, 1, json!({"role": "user", "content": "Read both files."})),
        note,
        side,
        claude("user", "rewound", Some("u1"), 4, json!({"role": "user", "content": "never mind"})),
        claude("assistant", "a1", Some("u1"), 5, block("msg1", json!({"type": "text", "text": "I will."}))),
        claude("assistant", "a2", Some("a1"), 6, block("msg1", call("one"))),
        claude("user", "r1", Some("a2"), 7, result("one")),
        claude("assistant", "a3", Some("a2"), 8, block("msg1", call("two"))),
        claude("user", "r2", Some("a3"), 9, result("two")),
        claude("assistant", "a4", Some("r2"), 10, block("msg2", json!({"type": "text", "text": "Both read."}))),
    ]
}

#[test]
fn claude_code_blocks_are_put_together_and_parallel_results_found() {
    let conversation = only(&lines(&claude_session()));
    assert_eq!((conversation.format, conversation.model.as_deref()), (Format::Anthropic, Some("claude-opus-4-5")));
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
    let kinds = |at: usize| conversation.messages[at].shape().parts.iter().map(|part| part.kind).collect::<Vec<_>>();
    assert_eq!(kinds(1), [PartKind::Text, PartKind::ToolCall, PartKind::ToolCall]);
    assert_eq!(kinds(2), [PartKind::ToolResult, PartKind::ToolResult]);
    let history = louver::wire::History::of(conversation.messages.iter().map(|message| &**message));
    assert!(Format::Anthropic.wire().check(&history).is_empty());
    let seconds: Vec<_> = conversation.times.iter().map(|time| time.unwrap() / 1000 % 60).collect();
    assert_eq!(seconds, [1, 5, 7, 10]);
}

#[test]
fn a_compaction_of_claude_code_starts_a_new_conversation() {
    let mut records = claude_session();
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null,
                          "logicalParentUuid": "a4"});
    let mut summary = claude("user", "s", Some("b"), 20, json!({"role": "user", "content": "So far: both were read."}));
    summary["isCompactSummary"] = json!(true);
    records.extend([boundary, summary]);
    records.push(claude("user", "u9", Some("s"), 21, json!({"role": "user", "content": "Go on."})));
    records.push(claude("assistant", "a9", Some("u9"), 22, block("msg9", json!({"type": "text", "text": "Yes."}))));
    let found = read_text("file", &lines(&records)).unwrap();
    assert_eq!(found.iter().map(|one| one.messages.len()).collect::<Vec<_>>(), [4, 3]);
    assert_eq!(found[1].file, "file#2");
    assert!(found[1].messages[0].raw().contains("So far"));
}

fn codex(kind: &str, second: u32, payload: Value) -> Value {
    json!({"timestamp": format!("2026-03-01T10:00:{second:02}Z"), "type": kind, "payload": payload})
}

fn codex_session() -> Vec<Value> {
    let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    vec![
        codex("session_meta", 0, json!({"id": "x", "cwd": "/tmp", "base_instructions": {"text": "Be careful."}})),
        codex("turn_context", 1, json!({"cwd": "/tmp", "model": "gpt-5.5"})),
        codex("response_item", 2, message("user", "input_text", "List the files.")),
        codex("event_msg", 2, json!({"type": "user_message", "message": "List the files."})),
        codex("response_item", 3, json!({"type": "reasoning", "summary": [], "encrypted_content": "zzz"})),
        codex("response_item", 4, json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"})),
        codex("response_item", 5, json!({"type": "function_call_output", "call_id": "c", "output": "README.md"})),
        codex("response_item", 6, json!({"type": "ghost_snapshot", "ghost_commit": {}})),
        codex("response_item", 7, message("assistant", "output_text", "One file.")),
    ]
}

#[test]
fn a_codex_rollout_is_its_response_items() {
    let conversation = only(&lines(&codex_session()));
    assert_eq!((conversation.format, conversation.model.as_deref()), (Format::OpenAiResponses, Some("gpt-5.5")));
    assert_eq!(conversation.system, ["Be careful."]);
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(conversation.turns().len(), 2);
    assert_eq!(conversation.request_times().len(), 2);
}

#[test]
fn a_compacted_rollout_goes_on_from_its_replacement() {
    let mut records = codex_session();
    let kept = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]}]);
    records.push(codex("compacted", 8, json!({"message": "", "replacement_history": kept})));
    let said = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Again."}]});
    records.push(codex("response_item", 9, said));
    let found = read_text("file", &lines(&records)).unwrap();
    assert_eq!(found.iter().map(|one| one.messages.len()).collect::<Vec<_>>(), [5, 2]);
    assert_eq!((found[1].model.as_deref(), found[1].system.len()), (Some("gpt-5.5"), 1));
}

fn gemini_records() -> Vec<Value> {
    vec![
        json!({"id": "1", "type": "user", "timestamp": "2026-03-01T10:00:01.000Z", "content": "Read it."}),
        json!({"id": "2", "type": "gemini", "timestamp": "2026-03-01T10:00:02.000Z", "content": "Reading.",
               "model": "gemini-2.5-pro", "thoughts": [{"subject": "Plan", "description": "read"}],
               "tokens": {"input": 10, "output": 2, "cached": 0, "total": 12},
               "toolCalls": [
                 {"id": "a", "name": "read_file", "args": {"path": "a"}, "status": "success", "result": [
                    {"functionResponse": {"id": "a", "name": "read_file", "response": {"output": "text of a"}}}]},
                 {"id": "b", "name": "read_file", "args": {"path": "b"}, "status": "cancelled"}]}),
        json!({"id": "3", "type": "info", "timestamp": "2026-03-01T10:00:03.000Z", "content": "a hint"}),
        json!({"id": "4", "type": "gemini", "timestamp": "2026-03-01T10:00:04.000Z", "content": "Read."}),
    ]
}

#[test]
fn a_gemini_session_is_contents_with_calls_and_responses() {
    let session = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00.000Z",
                         "messages": gemini_records()});
    let header = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00.000Z"});
    let mut as_lines = vec![header];
    as_lines.extend(gemini_records());
    for text in [serde_json::to_string_pretty(&session).unwrap(), session.to_string(), lines(&as_lines)] {
        let conversation = only(&text);
        assert_eq!((conversation.format, conversation.model.as_deref()), (Format::Gemini, Some("gemini-2.5-pro")));
        assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
        let history = louver::wire::History::of(conversation.messages.iter().map(|message| &**message));
        assert!(Format::Gemini.wire().check(&history).is_empty());
        assert!(conversation.times.iter().all(Option::is_some));
    }
}

#[test]
fn a_gemini_session_is_of_the_project_that_its_folder_is_named_after() {
    let header = json!({"sessionId": "s", "projectHash": "88af", "startTime": "2026-03-01T10:00:00.000Z"});
    let mut records = vec![header];
    records.extend(gemini_records());
    let project = |name: &str| read_text(name, &lines(&records)).unwrap().remove(0).project.unwrap();
    assert_eq!(project("/home/me/.gemini/tmp/shop/chats/session-1.jsonl"), "shop");
    assert_eq!(project("/home/me/.gemini/tmp/88af/chats/session-1.jsonl"), "88af");
    assert_eq!(project("session-1.jsonl"), "88af");
}

#[test]
fn a_tools_answer_that_gemini_cli_writes_twice_is_read_once() {
    let said = json!({"functionResponse": {"id": "a", "name": "read_file", "response": {"output": "text of a"}}});
    let call = json!({"id": "a", "name": "read_file", "args": {}, "status": "success", "result": [said]});
    let started = json!({"$set": {"messages": [{"id": "0", "type": "user", "content": [{"text": "Where we are."}]}]}});
    let records = [
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00.000Z", "kind": "main"}),
        started,
        json!({"id": "1", "type": "user", "content": [{"text": "Read it."}]}),
        json!({"id": "2", "type": "gemini", "content": "Reading.", "toolCalls": []}),
        json!({"$set": {"lastUpdated": "2026-03-01T10:00:00.000Z"}}),
        json!({"id": "2", "type": "gemini", "content": "Reading.", "toolCalls": [call]}),
        json!({"id": "3", "type": "user", "content": [said]}),
        json!({"id": "4", "type": "gemini", "content": "Read."}),
    ];
    let conversation = only(&lines(&records));
    let expected = [Role::User, Role::User, Role::Assistant, Role::User, Role::Assistant];
    assert_eq!(roles(&conversation), expected);
    let all: String = conversation.messages.iter().map(|message| message.raw()).collect();
    assert_eq!((all.matches("text of a").count(), all.matches("Where we are.").count()), (1, 1));
}

#[test]
fn what_cannot_be_read_says_why() {
    let reason = |text: &str| read_text("file", text).unwrap_err().to_string();
    assert_eq!((reason(""), reason("\u{feff} \n")), ("is empty".to_owned(), "is empty".to_owned()));
    assert_eq!(reason("[]"), "holds no messages");
    assert!(reason("{\"role\":\"user\",\"content\":\"x\"}\nnot json\n{}\n").contains("line 2"));
    assert!(read_text("file", r#"{"name": "not a conversation"}"#).is_err());
    let missing = Source::File("no/such/file.json".into());
    assert_eq!(read(&missing).unwrap_err().to_string(), "cannot be opened");
}

#[test]
fn folders_are_searched_in_order_for_json() {
    let folder = std::env::temp_dir().join(format!("louver-replay-inputs-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("b/deep")).unwrap();
    for name in ["c.json", "a.jsonl", "b/deep/x.json", "b/notes.txt"] {
        std::fs::write(folder.join(name), "[]").unwrap();
    }
    let names: Vec<String> = find(std::slice::from_ref(&folder)).iter().map(Source::name).collect();
    let tails: Vec<&str> = names.iter().map(|name| name.strip_prefix(&*folder.to_string_lossy()).unwrap()).collect();
    assert_eq!(tails, ["/a.jsonl", "/b/deep/x.json", "/c.json"]);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A question and its answer, billed or not.
fn gemini_turn(number: u32, is_billed: bool) -> [Value; 2] {
    let tokens = json!({"input": 1_000 * number, "output": 2, "cached": 0, "total": 1_000 * number + 2});
    let (asked, said) = (format!("u{number}"), format!("g{number}"));
    let mut answer =
        json!({"id": said, "type": "gemini", "content": format!("Answer {number}."), "model": "gemini-2.5-pro"});
    if is_billed {
        answer["tokens"] = tokens;
    }
    [json!({"id": asked, "type": "user", "content": format!("Question {number}.")}), answer]
}

fn gemini_session(records: &[Value]) -> Vec<Conversation> {
    let header = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T10:00:00.000Z"});
    read_text("file", &lines(&[&[header], records].concat())).unwrap()
}

/// Each conversation: its name, whether it is a branch, its messages, its requests, how many of those are counted
/// elsewhere, and how many were billed.
fn told(found: &[Conversation]) -> Vec<(&str, bool, usize, usize, usize, usize)> {
    let mut told = Vec::new();
    for one in found {
        let (is_branch, turns) = (one.strand == Strand::Branch, one.turns().len());
        told.push((&*one.file, is_branch, one.messages.len(), turns, one.counted_elsewhere, one.billed.len()));
    }
    told
}

#[test]
fn what_gemini_cli_rewinds_is_a_branch() {
    for is_billed in [true, false] {
        let mut records: Vec<Value> = [1, 2, 3].into_iter().flat_map(|number| gemini_turn(number, is_billed)).collect();
        records.push(json!({"$rewindTo": "u2"}));
        records.extend(gemini_turn(4, is_billed));
        let found = gemini_session(&records);
        let billed = |count: usize| if is_billed { count } else { 0 };
        assert_eq!(told(&found), [("file", false, 4, 2, 0, billed(2)), ("file#branch-1", true, 6, 3, 1, billed(3))]);
        let all: String = found[0].messages.iter().map(|message| message.raw()).collect();
        assert!(all.contains("Question 1.") && !all.contains("Question 2.") && all.contains("Answer 4."), "{all}");
    }
    // A message that is not there: nothing is left.
    let mut records = gemini_turn(1, true).to_vec();
    records.push(json!({"$rewindTo": "nobody"}));
    records.extend(gemini_turn(2, true));
    assert_eq!(told(&gemini_session(&records)), [("file", false, 2, 1, 0, 1), ("file#branch-1", true, 2, 1, 0, 1)]);
}

#[test]
fn a_history_that_gemini_cli_replaces_starts_a_new_conversation() {
    let mut records: Vec<Value> = [1, 2].into_iter().flat_map(|number| gemini_turn(number, true)).collect();
    let summary = json!([{"id": "s1", "type": "user", "content": "So far: two questions."},
                         {"id": "s2", "type": "gemini", "content": "Got it."}]);
    records.push(json!({"$set": {"messages": summary}}));
    records.extend(gemini_turn(3, true));
    // The request that the summary looks as if it had was never made.
    assert_eq!(told(&gemini_session(&records)), [("file", false, 4, 2, 0, 2), ("file#2", false, 4, 2, 1, 1)]);
    records.extend(gemini_turn(4, true));
    records.push(json!({"$rewindTo": "u4"}));
    let expected = [("file", false, 4, 2, 0, 2), ("file#2", false, 4, 2, 1, 1), ("file#branch-1", true, 6, 3, 2, 2)];
    assert_eq!(told(&gemini_session(&records)), expected);
}

#[test]
fn a_history_that_gemini_cli_writes_anew_and_longer_goes_on() {
    let mut records: Vec<Value> = [1, 2].into_iter().flat_map(|number| gemini_turn(number, true)).collect();
    let longer = [records.clone(), gemini_turn(3, true).to_vec()].concat();
    records.push(json!({"$set": {"messages": longer}}));
    records.extend(gemini_turn(4, true));
    assert_eq!(told(&gemini_session(&records)), [("file", false, 8, 4, 0, 4)]);
}

#[test]
fn a_record_of_claude_code_that_is_no_message_is_passed_over() {
    let mut records = claude_session();
    let note = |message: Value| json!({"type": "progress", "uuid": "p", "parentUuid": null, "isMeta": null, "message": message});
    records.insert(2, note(json!("Reading files")));
    records.insert(3, note(json!(["a", "list"])));
    records[4]["isSidechain"] = Value::Null;
    let conversation = only(&lines(&records));
    assert_eq!(roles(&conversation), [Role::User, Role::Assistant, Role::User, Role::Assistant]);
}
