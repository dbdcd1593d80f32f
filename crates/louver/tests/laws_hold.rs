//! The laws, for every policy and format, over random histories, settings, thinking bindings and events.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod histories;
#[allow(dead_code, reason = "each test uses a part of the laws")]
mod laws;
mod settings;

use histories::{render, steps};
use laws::{Script, bindings, costs_no_more_later, hold, no_input_panics, policies, scripts};
use louver::policy::PolicyKind;
use louver::trim::trim;
use louver::window::WindowConfig;
use louver::wire::{Body, Format};
use proptest::prelude::*;
use settings::{Drawn, settings};

fn hold_for_every_policy(format: Format, drawn: &Drawn, steps: &[histories::Step], script: &Script) {
    let messages = render(format, steps);
    for policy in policies() {
        for thinking in bindings(format) {
            hold(&drawn.config(format, policy.clone(), *thinking), &messages, script, 1);
        }
    }
}

proptest! {
    #[test]
    fn the_laws_hold_for_anthropic(steps in steps(), settings in settings(), script in scripts()) {
        hold_for_every_policy(Format::Anthropic, &settings, &steps, &script);
    }

    #[test]
    fn the_laws_hold_for_openai_chat(steps in steps(), settings in settings(), script in scripts()) {
        hold_for_every_policy(Format::OpenAiChat, &settings, &steps, &script);
    }

    #[test]
    fn the_laws_hold_for_openai_responses(steps in steps(), settings in settings(), script in scripts()) {
        hold_for_every_policy(Format::OpenAiResponses, &settings, &steps, &script);
    }

    #[test]
    fn the_laws_hold_for_gemini(steps in steps(), settings in settings(), script in scripts()) {
        hold_for_every_policy(Format::Gemini, &settings, &steps, &script);
    }
}

#[test]
fn no_policy_costs_more_in_a_longer_conversation() {
    policies().filter(|policy| *policy.name() != *"everything").for_each(costs_no_more_later);
}

#[test]
fn no_body_panics_and_every_error_says_where() {
    for format in [None, Some(Format::Anthropic), Some(Format::OpenAiResponses), Some(Format::Gemini)] {
        no_input_panics(|bytes| {
            let body = Body::parse_bytes(bytes, format).map_err(|error| error.to_string())?;
            let config = WindowConfig::new(body.format(), PolicyKind::Everything);
            trim(&body, config).map(|trimmed| trimmed.json).map_err(|error| error.to_string())
        });
    }
}
