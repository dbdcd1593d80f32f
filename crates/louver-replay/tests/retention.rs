//! What recall must obey, whatever the conversation.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

use louver::wire::{Body, Format};
use louver_replay::report::RunRow;
use louver_replay::{Conversation, DEFAULT_POLICIES, Options, replay};
use serde_json::{Value, json};

/// A conversation in which each turn reads a file and later turns refer to earlier ones.
fn conversation(turns: usize) -> Conversation {
    let mut messages = vec![json!({"role": "user", "content": "Look at every file of src/start.rs and on."})];
    for turn in 0..turns {
        let call = json!({"id": format!("call{turn}"), "type": "function", "function": {
            "name": "read_file", "arguments": json!({"path": format!("src/file{turn}.rs")}).to_string()}});
        let back = turn / 3;
        let said = format!("As src/file{back}.rs said, function_of_{back} returns {}", 1000 + back);
        messages.push(json!({"role": "assistant", "content": said, "tool_calls": [call]}));
        // The result says in plain words what the next answer comes back to, so that a search can find it.
        let next = (turn + 1) / 3;
        let filler = "filler ".repeat(60);
        let result = format!(
            "fn function_of_{turn}() -> u32 {{\n    {}\n}}\ntopic{turn} like topic{next}\n{filler}",
            1000 + turn
        );
        messages.push(json!({"role": "tool", "tool_call_id": format!("call{turn}"), "content": result}));
    }
    messages.push(json!({"role": "assistant", "content": "Done."}));
    let body = Body::parse(&Value::Array(messages).to_string(), Some(Format::OpenAiChat)).unwrap();
    Conversation::of_body("invented", &body)
}

fn rows(options: &Options, turns: usize) -> Vec<RunRow> {
    replay(&[conversation(turns)], options, &|_| {}).unwrap().runs
}

fn options(window: u64) -> Options {
    let mut options = Options::of_policies(&DEFAULT_POLICIES).unwrap();
    options.model = Some("gpt-5.2".to_owned());
    options.counter = "chars4".parse().unwrap();
    options.context_window = Some(window);
    options.max_output = Some(100);
    options
}

#[test]
fn everything_recalls_all_and_windows_recall_less() {
    let rows = rows(&options(6_000), 90);
    let of = |policy: &str| rows.iter().find(|row| row.policy == policy).unwrap();
    let everything = of("everything");
    assert_eq!((everything.recall_window, everything.recall_line), (Some(1.0), Some(1.0)));
    assert_eq!((everything.recall_passage, everything.recall_line_intact), (Some(1.0), Some(1.0)));
    assert_eq!((everything.tokens_kept, everything.baseline), (Some(1.0), "full-cut"));
    assert!(everything.saving.unwrap() < 0.0, "nobody could have sent it, and cutting when full is cheaper");
    assert!(everything.overflows > 0 && everything.overflows == everything.baseline_overflows);
    for policy in ["tokens", "newest", "full-cut"] {
        let row = of(policy);
        assert!(row.recall_window.unwrap() < 1.0, "{policy} forgets");
        assert!(row.cuts > 0 && row.overflows == 0 && row.illegal == 0, "{policy} fits and is legal");
        assert_eq!(row.prefix_stability, 1.0, "{policy} is stable");
        assert!(row.recall_retrievable > row.recall_window, "{policy}: a search finds what the answers name");
    }
    let mask = of("mask");
    assert!(mask.recall_window.unwrap() < 1.0 && mask.user_recall.is_none(), "what only a result said is gone");
    assert_eq!(mask.recall_by_age["0-1"], Some(1.0));
    assert!(mask.redundancy.is_some());
}

#[test]
fn where_everything_fits_it_is_the_baseline_and_nothing_is_recalled() {
    let rows = rows(&options(100_000), 70);
    let everything = rows.iter().find(|row| row.policy == "everything").unwrap();
    assert_eq!(
        (everything.baseline, everything.saving, everything.saving_of_paid),
        ("everything", Some(0.0), Some(0.0))
    );
    assert_eq!((everything.saving_after_recall, everything.saving_after_recall_passage), (Some(0.0), Some(0.0)));
    assert_eq!((everything.saving_after_reread, everything.recalls_per_request), (Some(0.0), Some(0.0)));
}

#[test]
fn what_is_missing_costs_money_and_a_whole_message_more_than_a_passage() {
    for row in rows(&options(6_000), 90).iter().filter(|row| row.recall_line < Some(1.0)) {
        let policy = &row.policy;
        assert!(row.recalls_per_request > Some(0.0), "{policy}");
        assert!(row.saving_after_recall < row.saving_of_paid, "{policy}");
        assert!(row.recall_passage <= row.recall_line && row.recall_line_intact <= row.recall_line, "{policy}");
        assert!(row.saving_after_recall_passage <= row.saving_after_recall, "{policy}");
    }
}

#[test]
fn a_line_is_never_recalled_without_its_mention() {
    for window in [3_000, 6_000, 20_000] {
        for row in rows(&options(window), 70) {
            assert!(row.recall_line <= row.recall_window, "{} at {window}", row.policy);
            assert!(row.recall_window <= row.recall_retrievable, "{} at {window}", row.policy);
        }
    }
}

#[test]
fn recall_is_told_by_age_and_origin() {
    let rows = rows(&options(100_000), 70);
    let row = &rows[0];
    // The answer of turn t refers to turn t / 3, so old references are there and fresh ones only at the start.
    assert!(row.recall_by_age["21-100"].is_some() && row.recall_by_age[">100"].is_none());
    assert!(row.recall_by_origin["tool"].is_some() && row.recall_by_origin["own"].is_some());
}

#[test]
fn a_cold_cache_makes_everything_dearer() {
    let mut options = options(1_000_000);
    options.contenders.truncate(1);
    let warm = rows(&options, 40)[0].input_usd;
    options.cold_every = Some(2);
    let half_cold = rows(&options, 40)[0].input_usd;
    options.cold_every = None;
    options.gap_seconds = Some(301);
    let cold = rows(&options, 40)[0].input_usd;
    options.gap_seconds = Some(299);
    assert_eq!(rows(&options, 40)[0].input_usd, warm);
    assert!(warm < half_cold && half_cold < cold);
}

#[test]
fn violations_of_the_record_are_inherited_and_never_blamed_on_a_policy() {
    let mut broken = conversation(30);
    // A result without its call.
    broken.messages.remove(1);
    broken.times.pop();
    let report = replay(&[broken], &options(4_000), &|_| {}).unwrap();
    assert!(report.runs.iter().all(|row| row.illegal == 0));
    let everything = &report.runs[0];
    assert_eq!(everything.inherited, everything.requests);
    let newest = report.runs.iter().find(|row| row.policy == "newest").unwrap();
    assert!(newest.inherited < newest.requests, "the broken message leaves the view");
}
