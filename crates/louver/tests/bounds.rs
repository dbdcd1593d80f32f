//! A bound in place of a count changes no decision.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod histories;
mod settings;

use histories::{render, steps};
use louver::budget::Budget;
use louver::catalog::{Catalog, ThinkingBinding};
use louver::policy::{PolicyKind, TABLE};
use louver::tokens::CounterChoice;
use louver::trim::{TrimError, TrimOptions, Trimmed, trim};
use louver::window::WindowConfig;
use louver::wire::{Body, Format};
use proptest::prelude::*;
use settings::settings;

fn list(format: Format, steps: &[histories::Step]) -> Body {
    let messages = render(format, steps);
    let raw: Vec<&str> = messages.iter().map(|message| message.raw()).collect();
    Body::parse(&format!("[{}]", raw.join(",")), Some(format)).unwrap()
}

fn with_and_without(body: &Body, config: &WindowConfig) -> [Result<Trimmed, TrimError>; 2] {
    [true, false].map(|takes_bounds| trim(body, TrimOptions::from(config.clone()).with_bounds(takes_bounds)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bound_decides_as_the_count_does(steps in steps(), settings in settings(), times in 1..40_u64) {
        let body = list(Format::OpenAiChat, &steps);
        for policy in TABLE.iter().map(|row| row.kind()) {
            let mut config = settings.config(Format::OpenAiChat, policy, ThinkingBinding::None);
            config.counter = CounterChoice::O200k.resolve(None);
            // Small windows cut, in large ones bounds are enough.
            let window = config.budget.unwrap().context_window() * times;
            config.budget = Some(Budget::new(window, Some(50)).unwrap());
            match with_and_without(&body, &config) {
                [Ok(bounded), Ok(counted)] => {
                    prop_assert_eq!(&bounded.json, &counted.json, "{}", config.policy.name());
                    prop_assert!(bounded.report.tokens.after >= counted.report.tokens.after);
                    prop_assert!(!counted.is_bound);
                }
                [bounded, counted] => prop_assert_eq!(bounded.err(), counted.err()),
            }
        }
    }
}

#[test]
fn a_short_conversation_is_told_by_its_bytes() {
    let model = Catalog::builtin().find("claude-opus-5-5").unwrap().model;
    let body = Body::parse(&format!(r#"[{{"role":"user","content":"{}"}}]"#, "word ".repeat(2_800)), None).unwrap();
    let config = |policy| {
        let config = WindowConfig::new(Format::OpenAiChat, policy).with_model(Some(&model), CounterChoice::Auto);
        config.with_budget(Budget::new(model.context_window, None).unwrap())
    };
    let said = |role: &str, words: usize| format!(r#"{{"role":"{role}","content":"{}"}}"#, "word ".repeat(words));
    let answered = [said("user", 700), said("assistant", 1_400), said("user", 700)].join(",");
    let answered = Body::parse(&format!("[{answered}]"), None).unwrap();
    for policy in TABLE.iter().map(|row| row.kind()) {
        for body in [&body, &answered] {
            let [bounded, counted] = with_and_without(body, &config(policy.clone())).map(Result::unwrap);
            assert!(bounded.is_bound && !counted.is_bound, "{}", policy.name());
            assert_eq!(bounded.json, counted.json, "{}", policy.name());
        }
    }
    let long = [said("user", 1), said("assistant", 20_000), said("user", 1)].join(",");
    let long = Body::parse(&format!("[{long}]"), None).unwrap();
    let [trimmed, _] = with_and_without(&long, &config(PolicyKind::default_for(true))).map(Result::unwrap);
    assert!(!trimmed.is_bound, "a count may decide about a longer one");
}
