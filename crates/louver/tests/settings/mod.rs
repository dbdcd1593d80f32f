//! Every policy of the table, with settings drawn from all that the configuration allows.

use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::economy::Economy;
use louver::policy::{LadderConfig, MessagesConfig, ObservationsConfig, PolicyKind, TokensConfig};
use louver::tokens::{Factor, Millitokens};
use louver::window::WindowConfig;
use louver::wire::Format;
use proptest::prelude::*;

/// What can be set, whatever the policy.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    messages: MessagesConfig,
    tokens: TokensConfig,
    ladder: LadderConfig,
    keep: usize,
    trigger_tokens: u64,
    budget: Budget,
    economy: Economy,
    overhead: Millitokens,
}

impl Drawn {
    /// A policy of the table with these settings.
    pub(crate) fn config(&self, format: Format, mut policy: PolicyKind, thinking: ThinkingBinding) -> WindowConfig {
        if let Some(messages) = policy.messages_mut() {
            *messages = self.messages;
        }
        if let Some(tokens) = policy.tokens_mut() {
            *tokens = self.tokens.clone();
        }
        if let Some(ladder) = policy.ladder_mut() {
            *ladder = LadderConfig { ..self.ladder.clone() };
        }
        if let PolicyKind::Mask(config) | PolicyKind::ClearTools(config) = &mut policy {
            *config = ObservationsConfig { trigger_tokens: self.trigger_tokens, keep: self.keep };
        }
        let config = WindowConfig::new(format, policy).with_budget(self.budget).with_economy(self.economy.clone());
        let mut config = config.with_thinking(thinking);
        config.overhead = self.overhead;
        config
    }
}

fn messages() -> impl Strategy<Value = MessagesConfig> {
    (0..20usize, 0..4usize, 0..8usize, any::<bool>()).prop_map(
        |(max_messages, preserve_first_n, preserve_last_n, summarize_on_trim)| MessagesConfig {
            max_messages,
            preserve_first_n,
            preserve_last_n,
            summarize_on_trim,
        },
    )
}

fn tokens() -> impl Strategy<Value = TokensConfig> {
    (any::<bool>(), 1..=100u8, prop::option::of(-2..110i64)).prop_map(|(auto_condense_context, percent, threshold)| {
        TokensConfig {
            auto_condense_context,
            auto_condense_context_percent: percent,
            profile_thresholds: threshold.map(|threshold| ("own".to_owned(), threshold)).into_iter().collect(),
            current_profile_id: Some("own".to_owned()),
        }
    })
}

fn ladder() -> impl Strategy<Value = LadderConfig> {
    let pin = prop::collection::vec(prop_oneof![Just("ipsum_3".to_owned()), Just("Hm.".to_owned())], 0..2);
    (0..3_000u64, 0..1_500u64, 0..=100u8, prop_oneof![3 => Just(0u64), 1 => 20..400u64], pin, any::<bool>()).prop_map(
        |(keep_recent_tokens, ledger_tokens, lines_percent, shrink_on_arrival_tokens, pin, summarize_on_trim)| {
            LadderConfig {
                keep_recent_tokens,
                ledger_tokens,
                lines_percent,
                shrink_on_arrival_tokens,
                pin,
                summarize_on_trim,
                ..LadderConfig::default()
            }
        },
    )
}

fn economy() -> impl Strategy<Value = Economy> {
    let steps = prop::collection::vec(100..6_000u64, 0..2);
    (900..2_000u32, 20..600u32, steps).prop_map(|(write, read, price_steps)| Economy {
        write: Factor::from_thousandths(write),
        read: Factor::from_thousandths(read),
        price_steps,
    })
}

/// Settings of every kind; windows so small that some histories cannot fit.
pub(crate) fn settings() -> impl Strategy<Value = Drawn> {
    let window = prop_oneof![1 => 90..400u64, 4 => 400..8_000u64];
    let overhead = prop_oneof![3 => Just(0u64), 1 => 0..900u64];
    (messages(), tokens(), ladder(), economy(), window, overhead, 0..6usize).prop_map(
        |(messages, tokens, ladder, economy, window, overhead, keep)| Drawn {
            messages,
            tokens,
            ladder,
            keep,
            trigger_tokens: window * (keep as u64 % 3) / 4,
            budget: Budget::new(window, Some(50)).unwrap(),
            economy,
            overhead: Millitokens::from_tokens(overhead),
        },
    )
}
