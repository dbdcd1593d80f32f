//! A summary for a whole input: prompt out, summary in.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::policy::{LadderConfig, MessagesConfig, PolicyKind, TokensConfig};
use louver::report::Action;
use louver::summary_job::{SummaryJob, SummaryJobError, put_summary, summary_job};
use louver::window::WindowConfig;
use louver::{Body, Budget, Format, Summary, legality};
use serde_json::{Value, json};

/// A conversation of so many turns, each with a question, a call, its result and an answer.
fn history(format: Format, turns: usize) -> Vec<Value> {
    (0..turns).flat_map(|turn| said(format, turn)).collect()
}

fn said(format: Format, turn: usize) -> Vec<Value> {
    let (question, answer) =
        (format!("Question {turn}: what is in file_{turn}.rs?"), format!("Answer {turn}: nothing."));
    let (id, output) = (format!("call_{turn}"), format!("line of file_{turn}.rs\n").repeat(30));
    match format {
        Format::Anthropic => vec![
            json!({"role": "user", "content": question}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "read", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            json!({"role": "assistant", "content": answer}),
        ],
        Format::OpenAiChat => vec![
            json!({"role": "user", "content": question}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": output}),
            json!({"role": "assistant", "content": answer}),
        ],
        Format::OpenAiResponses => vec![
            json!({"type": "message", "role": "user", "content": question}),
            json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": output}),
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}),
        ],
        Format::Gemini => vec![
            json!({"role": "user", "parts": [{"text": question}]}),
            json!({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]}),
            json!({"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"output": output}}}]}),
            json!({"role": "model", "parts": [{"text": answer}]}),
        ],
    }
}

fn body(format: Format, messages: &[Value]) -> Body {
    Body::parse(&serde_json::to_string(messages).unwrap(), Some(format)).unwrap()
}

/// Every policy that condenses, with a window that such a history outgrows.
fn policies() -> Vec<PolicyKind> {
    let messages = MessagesConfig { max_messages: 20, preserve_last_n: 8, ..MessagesConfig::default() };
    let ladder = LadderConfig { keep_recent_tokens: 400, ledger_tokens: 200, ..LadderConfig::default() };
    vec![
        PolicyKind::Messages(messages),
        PolicyKind::Tokens(TokensConfig::default()),
        PolicyKind::Both(messages, TokensConfig::default()),
        PolicyKind::Ladder(ladder),
    ]
}

fn config(format: Format, policy: PolicyKind) -> WindowConfig {
    WindowConfig::new(format, policy).with_budget(Budget::new(5_000, Some(500)).unwrap())
}

fn job(format: Format, policy: &PolicyKind, messages: &[Value]) -> SummaryJob {
    let job = summary_job(&body(format, messages), config(format, policy.clone())).unwrap();
    let job = job.unwrap_or_else(|| panic!("{format} {}: no job", policy.name()));
    // It waits in a file until the model has answered.
    serde_json::from_str(&serde_json::to_string(&job).unwrap()).unwrap()
}

#[test]
fn a_summary_takes_the_place_of_what_it_covers_in_every_format_and_policy() {
    for format in Format::ALL {
        for policy in policies() {
            let messages = history(format, 40);
            let job = job(format, &policy, &messages);
            let prompt = job.messages[0].to_string();
            assert!(prompt.contains("Question 3: what") && job.bounds.input_tokens > 100, "{format}: {prompt}");
            let grown = [messages.clone(), said(format, 40)].concat();
            for later in [&messages, &grown] {
                let body = body(format, later);
                let put =
                    put_summary(&body, config(format, policy.clone()), &job, Summary::new("All was read.")).unwrap();
                let case = format!("{format} {}: {:?}", policy.name(), put.report);
                assert_eq!((put.report.action, put.report.error), (Action::Condense, None), "{case}");
                assert!(put.json.contains("[Conversation Summary]\\nAll was read."), "{case}");
                assert!(job.covers.iter().all(|index| put.report.evicted.contains(index)), "{case}");
                let view = Body::parse(&put.json, Some(format)).unwrap();
                assert!(legality::check(&view).is_empty(), "{case}");
                assert!(view.messages().last().unwrap().raw().contains("Answer"), "{case}");
            }
        }
    }
}

#[test]
fn everything_that_left_is_covered_however_often_the_window_was_cut() {
    let ladder = policies().pop().unwrap();
    let messages = history(Format::OpenAiChat, 80);
    let body = body(Format::OpenAiChat, &messages);
    let left = louver::trim::trim(&body, config(Format::OpenAiChat, ladder.clone())).unwrap().report.evicted;
    assert_eq!(job(Format::OpenAiChat, &ladder, &messages).covers, left);
}

#[test]
fn a_job_of_another_history_is_refused() {
    let policy = policies().remove(0);
    let messages = history(Format::Anthropic, 20);
    let job = job(Format::Anthropic, &policy, &messages);
    let put = |messages: &[Value]| {
        let body = body(Format::Anthropic, messages);
        put_summary(&body, config(Format::Anthropic, policy.clone()), &job, Summary::new("All was read."))
    };
    let mut changed = messages.clone();
    changed[5] = json!({"role": "assistant", "content": "Something else."});
    for other in [changed, messages[..79].to_vec(), messages[1..].to_vec()] {
        let error = put(&other).unwrap_err();
        assert!(matches!(error, SummaryJobError::OtherHistory { messages: 80 }), "{error}");
    }
    let chat = Body::parse(&serde_json::to_string(&messages).unwrap(), Some(Format::OpenAiChat));
    assert!(
        chat.is_err()
            || put_summary(&chat.unwrap(), config(Format::OpenAiChat, policy.clone()), &job, Summary::new("x"))
                .is_err()
    );
    let spaced = serde_json::to_string_pretty(&messages).unwrap();
    let spaced = Body::parse(&spaced, Some(Format::Anthropic)).unwrap();
    put_summary(&spaced, config(Format::Anthropic, policy.clone()), &job, Summary::new("All was read.")).unwrap();
}

#[test]
fn a_summary_of_no_use_leaves_plain_eviction_and_says_so() {
    let policy = policies().remove(0);
    let messages = history(Format::Gemini, 20);
    let (body, job) = (body(Format::Gemini, &messages), job(Format::Gemini, &policy, &messages));
    for (text, reason) in [(" \n".to_owned(), "the summary is empty"), ("word ".repeat(99_000), "more than the")] {
        let put = put_summary(&body, config(Format::Gemini, policy.clone()), &job, Summary::new(text)).unwrap();
        assert_eq!((put.report.action, &put.report.summary), (Action::Truncate, &None));
        assert!(put.report.error.unwrap().to_string().contains(reason));
        assert!(put.report.evicted.len() >= job.covers.len());
    }
}

#[test]
fn there_is_no_job_where_nothing_has_to_leave_and_none_where_the_policy_is_silent() {
    let messages = history(Format::OpenAiChat, 3);
    for policy in policies() {
        let job = summary_job(&body(Format::OpenAiChat, &messages), config(Format::OpenAiChat, policy)).unwrap();
        assert_eq!(job, None);
    }
    let silent = summary_job(&body(Format::OpenAiChat, &messages), config(Format::OpenAiChat, PolicyKind::Newest));
    assert!(matches!(silent, Err(SummaryJobError::NoSummaries(policy)) if policy == "newest"));
}

#[test]
fn a_job_that_was_tampered_with_is_an_error_and_no_panic() {
    let policy = policies().remove(0);
    let messages = history(Format::OpenAiChat, 20);
    let body = body(Format::OpenAiChat, &messages);
    let good = serde_json::to_value(job(Format::OpenAiChat, &policy, &messages)).unwrap();
    let put = |job: Value| {
        let job: SummaryJob = serde_json::from_value(job).unwrap();
        put_summary(&body, config(Format::OpenAiChat, policy.clone()), &job, Summary::new("All was read."))
    };
    let mut without = good.clone();
    without["decisions"] = json!([]);
    assert!(matches!(put(without), Err(SummaryJobError::Unusable(_))));
    let mut beyond = good;
    beyond["decisions"] =
        json!([[80, {"fitted": {"evicted": [{"start": 5, "end": 500}], "edited": [], "head_end": 1}}]]);
    assert!(put(beyond).is_err());
}
