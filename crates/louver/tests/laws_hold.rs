//! The laws, for every policy and format, over random histories.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod histories;
mod laws;

use histories::{render, steps};
use laws::{hold, policies};
use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::policy::{MessagesConfig, ObservationsConfig, Settings};
use louver::window::WindowConfig;
use louver::wire::Format;
use proptest::prelude::*;

fn settings() -> impl Strategy<Value = Settings> {
    let messages = (0..20usize, 0..4usize, 0..8usize).prop_map(|(max_messages, preserve_first_n, preserve_last_n)| {
        MessagesConfig { max_messages, preserve_first_n, preserve_last_n, summarize_on_trim: false }
    });
    (messages, 400..8_000u64).prop_map(|(messages, window)| Settings {
        messages,
        budget: Some(Budget::new(window, Some(50)).unwrap()),
        clear_tools: ObservationsConfig { trigger_tokens: window / 2, keep: 3 },
        mask: ObservationsConfig { trigger_tokens: 0, keep: 2 },
        ..Settings::default()
    })
}

fn hold_for_every_policy(format: Format, settings: &Settings, steps: &[histories::Step], binds: bool) {
    let messages = render(format, steps);
    for policy in policies() {
        let mut config = WindowConfig::new(format, policy);
        config.settings = settings.clone();
        config.thinking = if binds { ThinkingBinding::Prefix } else { ThinkingBinding::None };
        hold(&config, &messages, 1);
    }
}

proptest! {
    #[test]
    fn the_laws_hold_for_anthropic(steps in steps(), settings in settings(), binds in any::<bool>()) {
        hold_for_every_policy(Format::Anthropic, &settings, &steps, binds);
    }

    #[test]
    fn the_laws_hold_for_openai_chat(steps in steps(), settings in settings(), binds in any::<bool>()) {
        hold_for_every_policy(Format::OpenAiChat, &settings, &steps, binds);
    }

    #[test]
    fn the_laws_hold_for_openai_responses(steps in steps(), settings in settings()) {
        hold_for_every_policy(Format::OpenAiResponses, &settings, &steps, false);
    }

    #[test]
    fn the_laws_hold_for_gemini(steps in steps(), settings in settings()) {
        hold_for_every_policy(Format::Gemini, &settings, &steps, false);
    }
}
