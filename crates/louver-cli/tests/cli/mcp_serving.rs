//! `louver mcp` over pipes: a client of either era talks to it.

use crate::{json, louver_with};

fn answers(store: &std::path::Path, messages: &[&str]) -> Vec<serde_json::Value> {
    let run = louver_with(&format!("mcp --store {}", store.display()), messages.join("\n") + "\n");
    run.done().lines().map(json).collect()
}

#[test]
fn a_client_of_either_era_is_answered_and_the_end_of_input_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let before = answers(
        &store,
        &[
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"progressToken":0}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","arguments":{"what":"x"}}}"#,
        ],
    );
    assert_eq!(before.len(), 3, "{before:?}");
    assert_eq!(before[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(before[1]["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(before[2]["result"]["isError"], true);
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let probe = format!(r#"{{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{meta}}}"#);
    let after = answers(&store, &[&probe, "no json"]);
    assert_eq!((&after[0]["id"], &after[0]["result"]["supportedVersions"][0]), (&"p".into(), &"2026-07-28".into()));
    assert_eq!(after[1]["error"]["code"], -32700);
}
