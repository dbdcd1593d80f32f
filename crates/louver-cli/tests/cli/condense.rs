//! `condense`: prompt out, summary in.

use crate::{Run, json, louver, louver_with, root};
use serde_json::{Value, json as value};
use std::fs;
use std::path::Path;

const FLAGS: &str = "--max-messages 20 --preserve-last 8";

/// The example's conversation with its last messages left out.
fn earlier(messages: usize) -> String {
    let mut body: Value = json(&fs::read_to_string(root().join("examples/agent.json")).unwrap());
    body["messages"].as_array_mut().unwrap().truncate(messages);
    body.to_string()
}

/// Asks about a conversation, and leaves the job in a file.
fn asked(folder: &Path, input: &str) -> Value {
    let file = folder.join("job.json");
    let run = louver_with(&format!("condense {FLAGS} -o {}", file.display()), input);
    assert_eq!(run.done(), "");
    json(&fs::read_to_string(file).unwrap())
}

fn put(folder: &Path, summary: &str, input: &str) -> Run {
    fs::write(folder.join("summary.txt"), summary).unwrap();
    let at = folder.display();
    louver_with(&format!("condense {FLAGS} --job {at}/job.json --summary {at}/summary.txt"), input)
}

#[test]
fn a_prompt_goes_out_and_a_summary_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let before = earlier(41);
    let job = asked(folder.path(), &before);
    let prompt = job["messages"][0]["content"].to_string();
    assert!(prompt.contains("Summarize the following conversation history concisely."), "{prompt}");
    assert_eq!((&job["bounds"]["max_tokens"], &job["covers"][0]), (&value!(1024), &value!(1)));
    let covered = job["covers"].as_array().unwrap().len();

    let now = fs::read_to_string(root().join("examples/agent.json")).unwrap();
    for input in [before, now] {
        let run = put(folder.path(), "The project was read.\n", &input);
        let condensed = json(run.done());
        assert_eq!(condensed["model"], "claude-sonnet-4-5", "what stands around the messages stays");
        assert!(condensed["messages"].to_string().contains("[Conversation Summary]\\nThe project was read."));
        let line = format!("Condensed conversation: {covered} messages in a summary, ");
        assert!(run.stderr.starts_with(&line), "{}", run.stderr);
        assert_eq!(louver_with("check", run.stdout).code, 0);
    }
}

#[test]
fn a_job_that_does_not_match_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    asked(folder.path(), &earlier(41));
    let other = put(folder.path(), "The project was read.", &earlier(39));
    assert_eq!(
        other.refused(),
        "stdin: the job is about another history: this one does not begin with the 41 messages it was made from"
    );
    for (job, reason) in [
        ("null", "nothing was to be condensed, so there is no summary to put in place"),
        ("{", "not a job as `louver condense` prints it"),
        (r#"{"messages":[]}"#, "not a job as `louver condense` prints it"),
    ] {
        fs::write(folder.path().join("job.json"), job).unwrap();
        let run = put(folder.path(), "The project was read.", &earlier(41));
        assert!(run.refused().contains(reason), "{}", run.stderr);
    }
}

#[test]
fn a_summary_of_no_use_is_a_finding_and_the_cut_is_made_without_it() {
    let folder = tempfile::tempdir().unwrap();
    asked(folder.path(), &earlier(41));
    let run = put(folder.path(), " \n", &earlier(41));
    assert_eq!(run.code, 1);
    assert!(json(&run.stdout)["messages"].as_array().unwrap().len() < 30);
    assert!(
        run.stderr.starts_with("warning: condensing: the summary is empty\nTrimmed conversation: "),
        "{}",
        run.stderr
    );
}

#[test]
fn nothing_to_condense_is_null() {
    let run = louver("condense examples/chat.json --context-window 200000");
    assert_eq!(run.done(), "null\n");
    assert!(run.stderr.starts_with("Nothing to condense yet"), "{}", run.stderr);
}

#[test]
fn one_needs_the_other_and_a_policy_that_summarises() {
    assert!(louver("condense examples/chat.json --job x.json").refused().contains("--summary <FILE>"));
    let silent = louver("condense examples/chat.json --policy mask");
    assert!(silent.refused().contains("the policy `mask` asks for no summaries"), "{}", silent.stderr);
}

#[test]
fn the_configured_prompt_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.yml");
    fs::write(&config, "policy: messages\ncontext: {custom_condensing_prompt: Say it in one word.}").unwrap();
    let run = louver_with(&format!("condense -q {FLAGS} --config {}", config.display()), earlier(41));
    assert!(json(run.done())["messages"][0].to_string().contains(r"Say it in one word.\n\n"), "{}", run.stdout);
}
