//! A just-legal and a just-illegal request for every rule, through the judge and over HTTP.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use std::collections::BTreeSet;

use client::Client;
use louver_sandbox::{Format, judge};
use serde::Deserialize;
use serde_json::Value;

/// Every rule of every format that the judge knows.
const RULES: [(Format, &[&str]); 4] = [
    (
        Format::Anthropic,
        &[
            "no-messages",
            "first-not-user",
            "empty-content",
            "blank-text",
            "tool-use-without-result",
            "tool-result-without-use",
            "tool-result-not-first",
            "too-many-cache-marks",
            "thinking-misplaced",
            "server-tool-without-result",
            "system-misplaced",
        ],
    ),
    (Format::OpenAiChat, &["no-messages", "calls-without-results", "result-without-call"]),
    (Format::OpenAiResponses, &["call-without-output", "output-without-call", "reasoning-without-item"]),
    (
        Format::Gemini,
        &[
            "no-messages",
            "first-not-user",
            "empty-parts",
            "call-out-of-place",
            "response-out-of-place",
            "response-count",
            "bad-role",
        ],
    ),
];

#[derive(Deserialize)]
struct Case {
    format: Format,
    rule: String,
    legal: Value,
    illegal: Value,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/legality.json")).unwrap()
}

#[test]
fn the_judge_names_the_rule_of_every_illegal_request_and_nothing_in_the_legal_ones() {
    for case in cases() {
        assert_eq!(judge(case.format, &case.legal), [], "{} {}", case.format, case.rule);
        let rules: Vec<String> = judge(case.format, &case.illegal).into_iter().map(|found| found.rule).collect();
        assert!(rules.contains(&case.rule), "{} {}: {rules:?}", case.format, case.rule);
    }
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    for (format, rules) in RULES {
        let covered: BTreeSet<String> =
            cases().into_iter().filter(|case| case.format == format).map(|case| case.rule).collect();
        assert_eq!(covered, rules.iter().map(ToString::to_string).collect(), "{format}");
    }
}

#[tokio::test]
async fn the_server_accepts_the_legal_requests_and_refuses_the_illegal_ones_with_400() {
    let client = Client::named("echo").await;
    for case in cases() {
        let (status, answer) = client.ask(case.format, &case.legal).await;
        assert_eq!(status, 200, "{} {}: {answer}", case.format, case.rule);
        let (status, answer) = client.ask(case.format, &case.illegal).await;
        assert_eq!(status, 400, "{} {}: {answer}", case.format, case.rule);
        let refused = client.sandbox.journal().pop().unwrap();
        assert!(refused.violations.iter().any(|found| found.rule == case.rule), "{refused:?}");
        assert_eq!(answer["error"]["message"], refused.violations[0].message.as_str());
    }
}
