//! The laws, for every policy, over real conversations at several budgets.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod corpus;
#[allow(dead_code, reason = "each test uses a part of the laws")]
mod laws;

use laws::{Script, hold, policies};
use louver::budget::Budget;
use louver::legality::{check, repair};
use louver::policy::PolicyKind;
use louver::trim::trim;
use louver::window::WindowConfig;
use louver::wire::{Body, Format};

/// Requests between two looks at the whole view.
const STRIDE: usize = 24;

fn config(format: Format, mut policy: PolicyKind, max_messages: usize, context_window: u64) -> WindowConfig {
    if let Some(messages) = policy.messages_mut() {
        messages.max_messages = max_messages;
    }
    WindowConfig::new(format, policy).with_budget(Budget::new(context_window, Some(2_000)).ok())
}

fn hold_over(format: Format) {
    let Some(folder) = corpus::folder() else {
        return;
    };
    for (name, body) in corpus::bodies(&folder).iter().filter(|(_, body)| body.format() == format) {
        println!("{name}");
        for policy in policies() {
            for (max_messages, context_window) in [(30, 8_000), (100, 30_000), (100, 120_000)] {
                // Rows of the ladder differ in nothing but their marks.
                let stride = if policy.name().starts_with("ladder-") { 4 * STRIDE } else { STRIDE };
                let config = config(format, policy.clone(), max_messages, context_window);
                hold(&config, body.messages(), &Script::PLAIN, stride);
            }
        }
    }
}

#[test]
fn the_laws_hold_over_real_anthropic_conversations() {
    hold_over(Format::Anthropic);
}

#[test]
fn the_laws_hold_over_real_chat_conversations() {
    hold_over(Format::OpenAiChat);
}

#[test]
fn the_laws_hold_over_real_responses_conversations() {
    hold_over(Format::OpenAiResponses);
}

#[test]
fn the_laws_hold_over_real_gemini_conversations() {
    hold_over(Format::Gemini);
}

#[test]
fn one_decision_over_a_real_body_is_legal_and_of_the_same_kind() {
    let Some(folder) = corpus::folder() else {
        return;
    };
    for (name, body) in corpus::bodies(&folder) {
        for policy in policies() {
            let name_of_policy = policy.name().to_owned();
            let Ok(trimmed) = trim(&body, config(body.format(), policy, 30, 16_000)) else {
                continue;
            };
            let again = Body::parse(&trimmed.json, None).unwrap();
            assert_eq!(again.format(), body.format(), "{name}");
            assert!(check(&again).len() <= check(&body).len(), "{name} {name_of_policy}: {:?}", check(&again));
            if trimmed.report.evicted.is_empty() && trimmed.report.edited.is_empty() {
                assert_eq!(trimmed.json, body.text(), "{name}: nothing to do, other bytes");
            }
        }
    }
}

#[test]
fn a_repaired_real_history_is_legal_and_a_legal_one_is_left_alone() {
    let Some(folder) = corpus::folder() else {
        return;
    };
    for (name, body) in corpus::bodies(&folder) {
        let repaired = repair(&body).unwrap();
        if check(&body).is_empty() {
            assert_eq!(repaired.json, body.text(), "{name}");
        }
        let again = Body::parse(&repaired.json, Some(body.format())).unwrap();
        assert_eq!(check(&again), [], "{name}");
    }
}
