//! The sandbox's reading of the rules and the engine's are two, and they agree.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver::wire::{History, Violation};
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
    Ok(found(louver::legality::check(&body)))
}

fn found(violations: Vec<Violation>) -> Found {
    violations.into_iter().map(|violation| (violation.rule.to_owned(), violation.index)).collect()
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
        let mut body = json!({ format.history_field(): wrapper["messages"] });
        assert_eq!(by_engine(format, &body).unwrap(), by_sandbox(format, &body), "{}", file.display());
        // Read once and shortened from the end, because reading every prefix anew costs the square of the file.
        let read = louver::wire::Body::parse(&body.to_string(), Some(format.name().parse().unwrap())).unwrap();
        for length in (0..read.messages().len()).rev() {
            body[format.history_field()].as_array_mut().unwrap().truncate(length);
            let history = History::of(read.messages()[..length].iter().map(|message| &**message));
            let engine = found(read.format().wire().check(&history));
            assert_eq!(engine, by_sandbox(format, &body), "{} up to {length}", file.display());
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
