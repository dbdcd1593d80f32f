//! The constant-growth conversation whose figures theory knows: 1,200 turns from empty with a static prefix of 15,000
//! tokens, 1,500 new tokens a turn, at least 65,000 kept, a write at 1.25 and a read at 0.1 of the input price.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

use louver::plan::{Bound, Overflow, Pins, Plan};
use louver::policy::{Policy, PolicyInput, PolicyKind};
use louver::wire::{Format, Message};
use louver_replay::{Contender, Conversation, Options, replay};
use std::sync::Arc;

const TURNS: u64 = 1_200;
const STATIC: u64 = 15_000;
const GROWTH: u64 = 1_500;
const KEPT: u64 = 65_000;

/// Drops the oldest units down to `low` whenever there are more than `high` tokens.
#[derive(Debug)]
struct Band {
    high: u64,
    low: u64,
}

impl Policy for Band {
    fn name(&self) -> &str {
        "band"
    }

    fn pins(&self, _: &PolicyInput<'_>) -> Pins {
        Pins::none()
    }

    fn bound(&self) -> Bound {
        Bound::None
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let mut total = input.total();
        let mut plan = Plan::nothing();
        if input.tokens(total) > self.high {
            for unit in input.units() {
                if input.tokens(total) <= self.low {
                    break;
                }
                total = total.saturating_sub(input.amount(unit.range.clone()));
                plan.evict.push(unit.range.clone());
            }
        }
        Ok(plan)
    }
}

/// A question of 500 tokens and an answer of 1,000 per turn, so that a turn adds 1,500 and units are small.
fn conversation() -> Conversation {
    let message = |role: &str, number: u64, tokens: usize| {
        let name = format!("{role} {number} ");
        let raw = format!(r#"{{"role":"{role}","content":"{name}{}"}}"#, "x".repeat(tokens * 4 - name.len()));
        Arc::new(Message::parse(Format::OpenAiChat, &raw).unwrap())
    };
    let turn = |number: u64| [message("user", number, 500), message("assistant", number, 1_000)];
    let mut messages = vec![message("user", 0, 1_000)];
    messages.extend((1..=TURNS).flat_map(turn));
    Conversation::new("synthetic", Format::OpenAiChat, messages)
}

#[test]
fn four_policies_cost_what_the_simulation_says() {
    let band = |name: &str, high: u64, low: u64| Contender::new(name, PolicyKind::Custom(Arc::new(Band { high, low })));
    let mut options = Options::of(vec![
        band("everything", u64::MAX, u64::MAX),
        band("sliding", KEPT, KEPT),
        band("when full", 200_000, KEPT),
        band("at 42k", KEPT + 42_000, KEPT),
    ]);
    options.model = Some("claude-opus-4-5".to_owned());
    options.counter = "chars4".parse().unwrap();
    options.overhead = Some(STATIC);
    options.cache_prices = Some("1.25/0.1".parse().unwrap());
    options.context_window = Some(100_000_000);
    let report = replay(&[conversation()], &options, &|_| {}).unwrap();
    // The model's input price is 5 dollars per million tokens.
    let per_turn = |row: &louver_replay::report::RunRow| row.input_usd / 5e-6 / TURNS as f64;
    let expected = [93_314.0, 61_805.0, 15_174.0, 11_997.0];
    for (row, expected) in report.runs.iter().zip(expected) {
        let found = per_turn(row);
        println!("{:<12} {found:>9.0} {expected:>9.0} {:+.2} %", row.policy, (found / expected - 1.0) * 100.0);
        assert!((found / expected - 1.0).abs() < 0.02, "{}: {found} instead of {expected}", row.policy);
        assert_eq!((row.requests, row.prefix_stability, row.illegal), (TURNS, 1.0, 0));
    }
    let regrets: Vec<f64> = report.runs.iter().map(|row| row.regret.unwrap()).collect();
    assert!((regrets[0] - 1.0).abs() < 1e-9, "without a cut, sending everything is the best plan");
    assert!(regrets[1] > 5.0 && regrets[2] > 1.1 && regrets[3] < 1.03, "{regrets:?}");
    assert_eq!(GROWTH, 1_500);
}
