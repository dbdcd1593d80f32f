//! The judge agrees with the corpus's own `legal` column, but for the classes of exceptions written down here.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use louver_sandbox::{Format, Scenario, ScenarioError, judge};
use serde_json::{Value, json};

/// Rules that the column does not look at and `wire.md` lists as refused: a file whose only violations are of these
/// is `yes` in the column and illegal for us.
const BEYOND_THE_COLUMN: [&str; 1] = ["blank-text"];

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LOUVER_CORPUS is not set, so there is no corpus to agree with");
    }
    folder
}

/// `file`, `format` and `legal` of every row. No field before them is quoted.
fn index(corpus: &Path) -> Vec<(String, Format, bool)> {
    let text = std::fs::read_to_string(corpus.join("index.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|title| *title == name).unwrap();
    let (file, format, legal) = (column("file"), column("format"), column("legal"));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            (fields[file].to_owned(), fields[format].parse().unwrap(), fields[legal] == "yes")
        })
        .collect()
}

fn body(format: Format, wrapper: &Value) -> Value {
    json!({ format.history_field(): wrapper["messages"] })
}

#[test]
fn the_judge_agrees_with_the_legal_column() {
    let Some(corpus) = corpus() else { return };
    let rows = index(&corpus);
    assert_eq!(rows.len(), 269);
    let mut exceptions: BTreeMap<String, usize> = BTreeMap::new();
    for (file, format, legal) in rows {
        let wrapper: Value = serde_json::from_slice(&std::fs::read(corpus.join(&file)).unwrap()).unwrap();
        let found = judge(format, &body(format, &wrapper));
        let (beyond, within): (Vec<_>, Vec<_>) =
            found.iter().partition(|violation| BEYOND_THE_COLUMN.contains(&violation.rule.as_str()));
        assert_eq!(within.is_empty(), legal, "{file}: {within:?}");
        if legal && !beyond.is_empty() {
            *exceptions.entry(beyond[0].rule.clone()).or_default() += 1;
        }
    }
    assert_eq!(exceptions, BTreeMap::from([("blank-text".to_owned(), 7)]));
}

#[test]
fn judging_any_prefix_of_any_conversation_ends_and_only_names_known_rules() {
    let Some(corpus) = corpus() else { return };
    for (file, format, _) in index(&corpus) {
        let wrapper: Value = serde_json::from_slice(&std::fs::read(corpus.join(&file)).unwrap()).unwrap();
        let messages = wrapper["messages"].as_array().unwrap();
        let step = (messages.len() / 20).max(1);
        for length in (0..=messages.len()).step_by(step) {
            let found = judge(format, &json!({ format.history_field(): messages[..length] }));
            assert!(
                found.iter().all(|violation| violation.path.starts_with(format.history_field())),
                "{file} {found:?}"
            );
        }
    }
}

#[test]
fn every_recording_with_an_answer_makes_a_scenario() {
    let Some(corpus) = corpus() else { return };
    let mut silent = Vec::new();
    for (file, _, _) in index(&corpus) {
        let wrapper: Value = serde_json::from_slice(&std::fs::read(corpus.join(&file)).unwrap()).unwrap();
        match Scenario::transcript(&wrapper) {
            Ok(scenario) => assert!(!scenario.turns().is_empty()),
            Err(ScenarioError::Empty) => silent.push(file),
            Err(error) => panic!("{file}: {error}"),
        }
    }
    println!("without an answer: {silent:?}");
}
