use serde_json::json;

use super::*;

#[test]
fn the_demo_makes_more_than_sixty_calls_some_of_them_at_once() {
    let demo = Scenario::named("demo").unwrap();
    let calls: usize = demo.turns().iter().map(|turn| turn.calls.len()).sum();
    assert!(calls > 60, "{calls}");
    assert!(demo.turns().iter().any(|turn| turn.calls.len() > 1));
    let last = demo.turns().last().unwrap();
    assert_eq!(last.calls[0].tool, Tool::Name("task_complete".to_owned()));
}

#[test]
fn the_demo_only_reads_files_that_exist() {
    let files: Vec<String> = demo_files().into_iter().map(|(path, _)| path).collect();
    let demo = Scenario::named("demo").unwrap();
    let reads =
        demo.turns().iter().flat_map(|turn| &turn.calls).filter(|call| call.tool == Tool::Name("read_file".to_owned()));
    for read in reads {
        let path = read.arguments["path"].as_str().unwrap();
        assert!(path.starts_with("notes/") || files.iter().any(|file| file == path), "{path}");
    }
}

#[test]
fn a_task_can_ask_for_big_outputs_now_and_then() {
    let scenario = Scenario::task(&Task { calls: 10, big_every: 5, ..Task::default() });
    let calls = scenario.turns().iter().flat_map(|turn| &turn.calls);
    let big = calls.filter(|call| call.arguments["path"] == "data/service.log").count();
    assert_eq!(big, 2);
}

#[test]
fn a_script_file_names_turns_calls_and_faults() {
    let text = json!({"name": "mine", "turns": [
        {"text": "look", "calls": [{"name": "read_file", "arguments": {"path": "a"}}, {"nth": 1}]},
        {"text": "done", "faults": [{"kind": "rate_limit", "retry_after_seconds": 2}, {"kind": "stall"}]},
    ]});
    let expected = Scenario::new("mine")
        .turn(Turn::calls([Call::new("read_file", json!({"path": "a"})), Call::nth(1)]).saying("look"))
        .turn(Turn::text("done").after(Fault::RateLimit { retry_after_seconds: Some(2) }).after(Fault::Stall));
    assert_eq!(Scenario::from_json(&text.to_string()).unwrap(), expected);
}

#[test]
fn a_recording_gives_its_assistant_turns_in_order() {
    let wrapper = json!({"format": "anthropic", "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A"}]},
        {"role": "assistant", "content": "Done."},
    ]});
    let recorded = Scenario::transcript(&wrapper).unwrap();
    let first = Turn::calls([Call::new("read", json!({"path": "a"}))]).thinking("hm").saying("I read.");
    assert_eq!(recorded.turns(), [first, Turn::text("Done.")]);
}

#[test]
fn a_recording_without_answers_is_refused() {
    let wrapper = json!({"format": "gemini", "messages": [{"role": "user", "parts": [{"text": "hi"}]}]});
    assert!(matches!(Scenario::transcript(&wrapper), Err(ScenarioError::Empty)));
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = Scenario::load("no-such-scenario").unwrap_err().to_string();
    assert!(error.contains("demo, echo, faults"), "{error}");
}
