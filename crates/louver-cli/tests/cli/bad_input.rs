//! Every kind of bad input: exit 2, one sentence with a path or an offset, nothing written.

use crate::{louver, louver_with};
use std::fs;

const COMMANDS: [&str; 4] = ["trim", "check", "repair", "inspect"];

/// Each input is refused by each command from stdin and from a file, and no output appears.
#[track_caller]
fn refuse(input: impl Into<Vec<u8>>, flags: &str, expected: &str) {
    let input = input.into();
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("chat.json"), folder.path().join("out.json"));
    fs::write(&file, &input).unwrap();
    for command in COMMANDS {
        let typed = format!("{command} {flags}");
        assert_eq!(louver_with(&typed, input.clone()).refused(), format!("stdin: {expected}"), "{typed}");
        let from_file = louver(&format!("{typed} {} -o {}", file.display(), out.display()));
        assert_eq!(from_file.refused(), format!("{}: {expected}", file.display()), "{typed}");
    }
    let report = folder.path().join("report.json");
    louver(&format!("trim {flags} {} -o {} --report {}", file.display(), out.display(), report.display())).refused();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the input is left");
}

#[test]
fn broken_json_has_an_offset() {
    refuse("[{", "", "$[0]: not JSON, the text ends inside a value (byte 2)");
    refuse("[] []", "", "not JSON, expected the end of the text (byte 3)");
    refuse("?", "", "not JSON, expected a value (byte 0)");
    refuse("\u{feff}[]", "", "starts with a byte order mark, which is not JSON (byte 0)");
}

#[test]
fn empty_input_is_refused() {
    refuse("", "", "the input is empty (byte 0)");
    refuse(" \n\t", "", "the input is empty (byte 0)");
}

#[test]
fn a_wrong_shape_is_refused() {
    refuse("{\"a\":1}", "", "no `messages` list in this object (byte 0)");
    refuse("\"hi\"", "", "expected a list of messages or a request body, found a string (byte 0)");
    refuse("[1]", "", "$[0]: expected a message object, found a number (byte 1)");
    refuse("{\"messages\":{}}", "", "$.messages: expected an array, found an object (byte 12)");
}

#[test]
fn a_wrong_type_is_refused_in_every_format() {
    let chat = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":5}]}"#;
    refuse(chat, "", "$.messages[1].content: expected a string, an array or null, found a number (byte 73)");
    for format in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let run = louver_with(&format!("check --format {format}"), r#"[{"role":7,"content":"a"}]"#);
        assert!(run.refused().starts_with("stdin: $[0].role: "), "{format}: {}", run.stderr);
    }
}

#[test]
fn an_unknown_role_is_refused_in_every_format() {
    for format in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let input = r#"[{"role":"wizard","content":"a","parts":[{"text":"a"}]}]"#;
        let run = louver_with(&format!("trim --format {format}"), input);
        assert!(run.refused().starts_with("stdin: $[0].role: "), "{format}: {}", run.stderr);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    refuse(deep.clone(), "", "$[0]: expected a message object, found an array (byte 1)");
    for input in [
        format!(r#"[{{"role":"user","content":{deep}}}]"#),
        format!(r#"{{"messages":[],"metadata":{deep}}}"#),
        format!(r#"[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":{deep}}}]}}]"#),
    ] {
        for command in COMMANDS {
            let run = louver_with(command, input.clone());
            let line = run.refused();
            assert!(line.contains("nested deeper than") && line.contains("byte"), "{line}");
            assert!(line.len() < 300, "{line}");
        }
    }
}

#[test]
fn invalid_utf8_is_refused() {
    refuse(b"[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]".to_vec(), "", "not UTF-8 text (byte 27)");
}

#[test]
fn a_body_over_the_limit_is_refused_while_reading() {
    let limit = "the input goes on beyond the limit at byte 10 (--max-bytes raises it)";
    refuse(r#"[{"role":"user","content":"hi"}]"#, "--max-bytes 10", limit);
    let megabytes = vec![b' '; 64_000_001];
    let run = louver_with("check", megabytes);
    assert_eq!(run.refused(), "stdin: the input goes on beyond the limit at byte 64000000 (--max-bytes raises it)");
    assert_eq!(louver("check --max-bytes 1KB examples/agent.json").code, 2);
    assert_eq!(louver("check --max-bytes 1MB examples/agent.json").code, 0);
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    for command in COMMANDS {
        let missing = louver(&format!("{command} no/such/file.json"));
        assert_eq!(missing.refused(), "no/such/file.json: no such file or directory");
        assert_eq!(louver(&format!("{command} examples")).refused(), "examples: is a directory, not a file");
    }
}

#[test]
fn unknown_names_are_refused() {
    let policy = louver("trim examples/chat.json --policy magic");
    assert!(
        policy.refused().starts_with("invalid value 'magic' for '--policy <NAME>' [possible values: messages, tokens")
    );
    let format = louver("check examples/chat.json --format klingon");
    assert_eq!(
        format.refused(),
        "invalid value 'klingon' for '--format <FORMAT>' [possible values: anthropic, openai-chat, openai-responses, \
         gemini]"
    );
    let counter = louver("inspect examples/chat.json --counter gpt2");
    assert!(counter.refused().contains("[possible values: chars4, o200k, cl100k, auto]"));
    for command in ["trim", "inspect"] {
        let model = louver(&format!("{command} examples/chat.json --model llama-99"));
        assert!(model.refused().starts_with("--model: `llama-99` is not in the catalogue"));
    }
}

#[test]
fn bad_numbers_name_their_flag() {
    let negative = louver("trim examples/chat.json --max-messages -3");
    assert_eq!(negative.refused(), "invalid value '-3' for '--max-messages <N>': expected a whole number, 0 or more");
    assert!(louver("trim examples/chat.json --context-window 0").refused().contains("--context-window"));
    assert!(louver("trim examples/chat.json --preserve-last 1.5").refused().contains("--preserve-last"));
    assert!(louver("trim examples/chat.json --max-bytes many").refused().contains("--max-bytes"));
}

#[test]
fn a_typo_gets_a_suggestion_in_the_same_line() {
    let run = louver("trim examples/chat.json --polcy tokens");
    assert_eq!(run.refused(), "unexpected argument '--polcy' found; a similar argument exists: '--policy'");
    assert_eq!(louver("trimm").refused(), "unrecognized subcommand 'trimm'; a similar subcommand exists: 'trim'");
}

#[test]
fn a_policy_without_its_window_is_refused() {
    let input = r#"[{"role":"user","content":"hi"}]"#;
    let none = louver_with("trim --policy tokens", input);
    assert!(none.refused().contains("needs a context window"), "{}", none.stderr);
    let unknown = louver_with("trim --policy tokens", r#"{"model":"llama-99","messages":[]}"#);
    assert!(unknown.refused().contains("model `llama-99` is not in the catalogue"), "{}", unknown.stderr);
    assert_eq!(louver_with("trim --policy tokens --context-window 20000", input).code, 0);
}

#[test]
fn a_reserve_that_leaves_nothing_is_refused() {
    let run = louver("trim examples/chat.json --policy tokens --context-window 8000 --max-output 7200");
    assert!(run.refused().contains("leaves nothing"), "{}", run.stderr);
}

#[test]
fn a_history_that_cannot_fit_names_the_floor() {
    let run = louver("trim examples/agent.json --policy tokens --context-window 9500 --max-output 8400");
    let line = run.refused();
    assert!(line.starts_with("examples/agent.json: cannot fit: "), "{line}");
    assert!(line.contains("150 are allowed") && line.contains("largest message"), "{line}");
}
