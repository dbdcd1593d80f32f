//! The sandbox's reading of the rules and the engine's are two, and they agree.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver_sandbox::{Format, judge};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A rule and the index of the message that breaks it.
type Found = BTreeSet<(String, usize)>;

fn by_sandbox(format: Format, body: &Value) -> Found {
    let index = |path: &str| path.split('.').nth(1).and_then(|segment| segment.parse().ok()).unwrap_or(0);
    judge(format, body).into_iter().map(|violation| (violation.rule.to_string(), index(&violation.path))).collect()
}

fn by_engine(format: Format, body: &Value) -> Result<Found, louver::json::JsonError> {
    let body = louver::wire::Body::parse(&body.to_string(), Some(format.name().parse().unwrap()))?;
    let found = louver::legality::check(&body);
    Ok(found.into_iter().map(|violation| (violation.rule.to_owned(), violation.index)).collect())
}

fn corpus_files() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS") else {
        println!("skipped: LOUVER_CORPUS is not set");
        return Vec::new();
    };
    let entries =
        |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let folders = entries(Path::new(&folder)).into_iter().filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| entries(&folder));
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    files.sort();
    files
}

#[test]
fn they_agree_on_every_prefix_of_every_real_conversation() {
    for file in corpus_files() {
        let wrapper: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let format: Format = wrapper["format"].as_str().unwrap().parse().unwrap();
        let messages = wrapper["messages"].as_array().unwrap();
        // A prefix differs from the one before only at its end, so a long history is judged whole every so often.
        let stride = 1 + messages.len() / 24;
        for length in (0..=messages.len()).rev().step_by(stride).chain(1..messages.len().min(24)) {
            let body = json!({ format.history_field(): messages[..length] });
            assert_eq!(
                by_engine(format, &body).unwrap(),
                by_sandbox(format, &body),
                "{} up to {length}",
                file.display()
            );
        }
        // Ends are where prefixes differ: each one behind the last few messages alone.
        for length in 1..=messages.len() {
            let body = json!({ format.history_field(): messages[length.saturating_sub(4)..length] });
            assert_eq!(
                by_engine(format, &body).unwrap(),
                by_sandbox(format, &body),
                "{} end at {length}",
                file.display()
            );
        }
    }
}

#[test]
fn they_agree_on_the_just_legal_and_the_just_illegal() {
    let mut judged = 0;
    for (name, cases) in [
        ("anthropic", include_str!("../../louver/tests/data/legality/anthropic.json")),
        ("openai-chat", include_str!("../../louver/tests/data/legality/openai-chat.json")),
        ("openai-responses", include_str!("../../louver/tests/data/legality/openai-responses.json")),
        ("gemini", include_str!("../../louver/tests/data/legality/gemini.json")),
    ] {
        let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
        for case in cases {
            judged += compare(name.parse().unwrap(), &case);
        }
    }
    let cases: Vec<Value> = serde_json::from_str(include_str!("data/legality.json")).unwrap();
    for case in cases {
        judged += compare(case["format"].as_str().unwrap().parse().unwrap(), &case);
    }
    assert!(judged > 100, "only {judged} cases were judged");
}

fn compare(format: Format, case: &Value) -> usize {
    if case.to_string().contains("\"function_call\":{") {
        // Calls from before there were ids: the engine keeps them together, the sandbox does not serve them.
        return 0;
    }
    assert_eq!(by_engine(format, &case["legal"]).unwrap(), Found::new(), "{case}");
    assert_eq!(by_sandbox(format, &case["legal"]), Found::new(), "{case}");
    let rules = |found: Found| found.into_iter().map(|(rule, _)| rule).collect::<BTreeSet<_>>();
    let sandbox = rules(by_sandbox(format, &case["illegal"]));
    // An unknown role is no history at all for the engine.
    let engine = by_engine(format, &case["illegal"]).map_or_else(|_| BTreeSet::from(["bad-role".to_owned()]), rules);
    assert_eq!(engine, sandbox, "{case}");
    assert!(sandbox.contains(case["rule"].as_str().unwrap()), "{case}");
    2
}
