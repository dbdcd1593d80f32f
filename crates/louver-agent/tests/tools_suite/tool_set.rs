use std::sync::Arc;

use louver_agent::tools::{DuplicateTool, Environment, Limits, Signal, TaskComplete, ToolOutput, ToolSet};
use serde_json::json;

use crate::fixture::Fixture;

const NAMES: [&str; 7] =
    ["list_files", "read_file", "run_command", "search_files", "task_blocked", "task_complete", "write_file"];

#[test]
fn definitions_come_in_the_order_of_their_names_with_schemas_of_objects() {
    let fixture = Fixture::new();
    let definitions = fixture.tools.definitions();
    let names: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    assert_eq!(names, NAMES);
    for definition in definitions {
        assert!(!definition.description.is_empty());
        assert_eq!(definition.schema["type"], "object");
        assert_eq!(definition.schema["additionalProperties"], false);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_names_there_are() {
    let text = Fixture::new().refused("rm_file", json!({})).await;
    assert_eq!(text, format!("there is no tool `rm_file`; use one of: {}", NAMES.join(", ")));
    let text = Fixture::new().refused(&"x".repeat(1 << 20), json!({})).await;
    assert!(text.len() < 1_000);
}

#[tokio::test]
async fn every_tool_explains_malformed_arguments() {
    let fixture = Fixture::new();
    for name in NAMES {
        for arguments in [json!([]), json!("x"), json!(7), json!({"no_such_argument": 1})] {
            let text = fixture.refused(name, arguments).await;
            assert!(text.starts_with(&format!("{name}: ")), "{text}");
            assert!(text.contains("this tool takes: "), "{text}");
        }
    }
}

/// A schema that says one thing and a tool that takes another would send the model in circles.
#[tokio::test]
async fn every_tool_takes_what_its_schema_says() {
    let fixture = Fixture::new();
    for definition in fixture.tools.definitions() {
        for (name, property) in definition.schema["properties"].as_object().unwrap() {
            let wrong = if property["type"] == "object" { json!(1) } else { json!({"a": 1}) };
            let text = fixture.refused(&definition.name, json!({name: wrong})).await;
            assert!(!text.contains("unknown field"), "{text}");
        }
        for required in definition.schema["required"].as_array().unwrap() {
            let mut all =
                json!({"path": "a", "content": "", "pattern": "a", "command": "a", "summary": "", "reason": ""});
            let known = definition.schema["properties"].as_object().unwrap();
            all.as_object_mut().unwrap().retain(|name, _| known.contains_key(name) && required != name);
            let text = fixture.refused(&definition.name, all).await;
            assert!(text.contains(&format!("missing field `{}`", required.as_str().unwrap())), "{text}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_task_is_a_signal() {
    let fixture = Fixture::new();
    let complete = fixture.call("task_complete", json!({"summary": "all done"})).await;
    let expected = ToolOutput { signal: Some(Signal::Complete("all done".into())), ..ToolOutput::text("noted") };
    assert_eq!(complete, expected);
    let blocked = fixture.call("task_blocked", json!({"reason": "no key"})).await;
    assert_eq!(blocked.signal, Some(Signal::Blocked("no key".into())));
    assert_eq!(fixture.call("task_complete", json!({})).await.signal, None);
}

#[test]
fn two_tools_cannot_go_by_one_name() {
    let mut tools = ToolSet::default();
    tools.add(Arc::new(TaskComplete)).unwrap();
    let again = tools.add(Arc::new(TaskComplete));
    assert_eq!(again, Err(DuplicateTool { name: "task_complete".into() }));
}

#[test]
fn debug_output_shows_no_secrets() {
    let environment = Environment::new([("API_KEY", "sk-very-secret")]);
    let fixture = Fixture::with_environment(Limits::default(), &["env"], environment);
    let shown = format!("{:?} {:#?}", fixture.tools, fixture.tools);
    assert!(shown.contains("API_KEY") && !shown.contains("sk-very-secret"), "{shown}");
}
