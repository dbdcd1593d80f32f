//! `check` and `repair`.

use crate::{json, louver, louver_with};
use serde_json::json as value;

const UNANSWERED: &str = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hi"},
 {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]},{"role":"user","content":"well?"}]}"#;
const ORPHAN: &str = r#"[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"?"}]"#;

#[test]
fn a_legal_history_is_praised() {
    for (example, line) in [
        ("examples/agent.json", "examples/agent.json: legal (anthropic, 60 messages)\n"),
        ("examples/chat.json", "examples/chat.json: legal (openai-chat, 27 messages)\n"),
    ] {
        let run = louver(&format!("check {example}"));
        assert_eq!((run.done(), run.stderr.as_str()), ("", line));
        assert_eq!(louver(&format!("check --json {example}")).done(), "[]\n");
        assert_eq!(louver(&format!("check --quiet {example}")).stderr, "");
    }
}

#[test]
fn a_violation_has_path_rule_and_wording() {
    let run = louver_with("check", ORPHAN);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.stdout,
        "$[1].role: result-without-call: Invalid parameter: messages with role 'tool' must be a response to a \
         preceeding message with 'tool_calls'.\n"
    );
    assert_eq!(run.stderr, "stdin: 1 violation (openai-chat, 2 messages); louver repair makes it legal\n");
}

#[test]
fn json_has_one_object_per_violation() {
    let run = louver_with("check --json", UNANSWERED);
    assert_eq!(run.code, 1);
    let found = json(&run.stdout);
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(
        (&found[0]["path"], &found[0]["rule"], &found[0]["index"]),
        (&value!("$.messages[1].content[0]"), &value!("tool-use-without-result"), &value!(1))
    );
    assert!(found[0]["message"].as_str().unwrap().starts_with("messages.1: `tool_use` ids were found without"));
    let keys: Vec<_> = found[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["index", "message", "path", "rule"]);
}

#[test]
fn a_line_stays_a_line_whatever_an_id_holds() {
    let run = louver_with("check", UNANSWERED.replace("\"id\":\"a\"", "\"id\":\"a\\u001b[2J\\nb\""));
    assert_eq!(run.stdout.lines().count(), 1);
    assert!(run.stdout.contains("a\\u{1b}[2J\\nb"), "{}", run.stdout);
}

#[test]
fn repair_makes_it_legal_and_lists_each_change() {
    for input in [UNANSWERED, ORPHAN] {
        let run = louver_with("repair", input);
        run.done();
        assert!(run.stderr.starts_with('$') && run.stderr.contains("stdin: legal after "), "{}", run.stderr);
        assert_eq!(louver_with("check", run.stdout).code, 0);
    }
}

#[test]
fn repair_returns_a_legal_history_byte_for_byte() {
    let run = louver("repair examples/agent.json");
    assert_eq!(run.done(), std::fs::read_to_string(crate::root().join("examples/agent.json")).unwrap());
    assert_eq!(run.stderr, "examples/agent.json: nothing to repair\n");
}

#[test]
fn repair_says_what_it_cannot_mend_and_writes_what_it_could() {
    let mark = r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#;
    let system = [mark; 5].join(",");
    let input = format!(
        r#"{{"system":[{system}],"messages":[{{"role":"user","content":"hi"}},{{"role":"user","content":" "}}]}}"#
    );
    let run = louver_with("repair", input);
    assert_eq!(run.code, 1);
    assert_eq!(json(&run.stdout)["messages"], value!([{"role": "user", "content": "hi"}]));
    assert_eq!(
        run.stderr,
        "$.messages[1]: removed: text is not blank\nerror: stdin: 1 violation cannot be mended, the first at $.messages[0]: \
         A maximum of 4 blocks with cache_control may be provided. Found 5.\n"
    );
}

#[test]
fn ids_that_come_again_are_a_warning_and_no_finding() {
    let turn = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
    let input = format!(r#"[{{"role":"user","content":"hi"}},{turn},{turn},{turn}]"#);
    let run = louver_with("check --json", input);
    assert_eq!(run.done(), "[]\n");
    assert_eq!(
        run.stderr,
        "warning: tool-use-id-repeats at $[3].content[0] and 1 more place: messages.3.content.0: `tool_use` ids must be \
         unique\nstdin: legal (anthropic, 7 messages)\n"
    );
}

#[test]
fn a_history_that_is_longer_than_its_models_window_is_a_finding() {
    let run = louver("check examples/agent.json --context-window 8000 --counter chars4");
    assert_eq!(run.code, 1);
    let line = run.stdout.strip_prefix("$.messages[").unwrap();
    let (index, said) = line.split_once("]: context-window: prompt is too long: ").unwrap();
    assert!((1..60).contains(&index.parse::<usize>().unwrap()), "{line}");
    assert!(said.ends_with(" tokens > 8000 maximum\n"), "{said}");
    assert_eq!(
        run.stderr,
        "warning: tokens are counted with chars4, which may be off by 50 %\n\
         examples/agent.json: 1 violation (anthropic, 60 messages); louver trim makes it fit\n"
    );
    let found = json(&louver("check examples/agent.json --context-window 8000 --json -q").stdout);
    assert_eq!((&found[0]["rule"], found.as_array().unwrap().len()), (&value!("context-window"), 1));
    let fits = louver("check examples/agent.json --model gpt-5");
    assert_eq!((fits.done(), fits.stderr.as_str()), ("", "examples/agent.json: legal (anthropic, 60 messages)\n"));
    let refused = louver("check examples/agent.json --model llama-99");
    assert_eq!(refused.refused(), "--model: `llama-99` is not in the catalogue");
}

#[test]
fn a_history_that_is_too_long_and_illegal_is_told_both_ways_out() {
    let content = "many words ".repeat(200);
    let input =
        format!(r#"[{{"role":"user","content":[{{"type":"text","text":""}},{{"type":"text","text":"{content}"}}]}}]"#);
    let run = louver_with("check --format anthropic --context-window 100 --counter chars4", input);
    assert_eq!(run.code, 1);
    assert!(run.stderr.ends_with("; louver repair makes it legal, louver trim makes it fit\n"), "{}", run.stderr);
}

#[test]
fn the_model_that_the_input_names_has_to_take_it() {
    let content = "many words ".repeat(12_000);
    let input = |model: &str| format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"{content}"}}]}}"#);
    let small = louver_with("check --format openai-chat", input("gpt-4"));
    assert_eq!(small.code, 1);
    assert!(small.stdout.contains("This model's maximum context length is 8192 tokens. However, your messages"));
    assert_eq!(louver_with("check --format openai-chat", input("gpt-5")).code, 0);
    assert_eq!(louver_with("check --format openai-chat", input("nobody-knows")).code, 0);
}
