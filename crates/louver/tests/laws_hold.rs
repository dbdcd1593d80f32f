//! The laws, for every policy and format, over random histories, settings, thinking bindings and events.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod histories;
#[allow(dead_code, reason = "each test uses a part of the laws")]
mod laws;
mod settings;

use histories::{render, steps};
use laws::{Script, bindings, hold, policies, scripts};
use louver::wire::Format;
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
