//! Every policy of the table, with settings drawn from all that the configuration allows.

use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::economy::Economy;
use louver::policy::{CutWhen, LadderConfig, MessagesConfig, ObservationsConfig, PolicyKind, TokensConfig};
use louver::tokens::{Counter, CounterChoice, Estimate, Factor, ImageFormula, Millitokens};
use louver::window::WindowConfig;
use louver::wire::Format;
use proptest::prelude::*;
use std::sync::Arc;

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
    counter: DrawnCounter,
    prompt: Option<String>,
}

/// What counts: the cheapest most often.
#[derive(Clone, Copy, Debug)]
enum DrawnCounter {
    Chars4,
    Exact,
    Estimate,
}

impl DrawnCounter {
    fn counter(self) -> Arc<dyn Counter> {
        match self {
            Self::Chars4 => CounterChoice::Chars4.resolve(None),
            Self::Exact => "o200k".parse().unwrap_or(CounterChoice::Chars4).resolve(None),
            Self::Estimate => Arc::new(Estimate::claude_4_7(ImageFormula::DataLength)),
        }
    }
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
            *ladder = LadderConfig { row: ladder.row, ..self.ladder.clone() };
        }
        if let PolicyKind::Mask(config) | PolicyKind::ClearTools(config) = &mut policy {
            *config = ObservationsConfig { trigger_tokens: self.trigger_tokens, keep: self.keep };
        }
        let config = WindowConfig::new(format, policy).with_budget(self.budget).with_economy(self.economy.clone());
        let mut config = config.with_thinking(thinking);
        config.overhead = self.overhead;
        config.custom_condensing_prompt.clone_from(&self.prompt);
        config.ledger_heading.clone_from(&self.prompt);
        config.with_counter(self.counter.counter())
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
    (0..3_000u64, 0..1_500u64, 0..=100u32, prop_oneof![3 => Just(0u64), 1 => 20..400u64], pin, any::<bool>()).prop_map(
        |(keep_recent_tokens, ledger_tokens, worth_percent, shrink_on_arrival_tokens, pin, summarize_on_trim)| {
            // Every call of the drawn histories: now and then nothing but words may leave.
            let pin_tools = if keep_recent_tokens % 16 == 0 { vec!["read".to_owned()] } else { Vec::new() };
            LadderConfig {
                keep_recent_tokens,
                ledger_tokens,
                keep_recent_turns: keep_recent_tokens % 7,
                prose_tokens: ledger_tokens / 3,
                worth_percent,
                lines_beside: u8::try_from(worth_percent % 4).unwrap_or(0),
                favour_rare: u8::try_from(worth_percent % 5).unwrap_or(0),
                shrink_on_arrival_tokens,
                pin,
                pin_tools,
                quote_thinking: ledger_tokens % 2 == 0,
                summarize_on_trim,
                leave_below_tokens: if worth_percent % 3 == 0 { keep_recent_tokens * 2 } else { 0 },
                when: if worth_percent % 4 == 0 { CutWhen::Full } else { CutWhen::Pays },
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

/// A context window and what it keeps free for the reply; so small that some histories cannot fit.
fn budgets() -> impl Strategy<Value = Budget> {
    let window = prop_oneof![1 => 90..400u64, 4 => 400..8_000u64];
    let reserve = prop_oneof![3 => 1..70u64, 1 => 70..4_000u64];
    (window, reserve).prop_map(|(window, reserve)| Budget::new(window, Some(reserve.min(window * 8 / 10))).unwrap())
}

/// Settings of every kind.
pub(crate) fn settings() -> impl Strategy<Value = Drawn> {
    let overhead = prop_oneof![3 => Just(0u64), 1 => 0..900u64];
    let counter = prop_oneof![
        10 => Just(DrawnCounter::Chars4),
        1 => Just(DrawnCounter::Exact),
        1 => Just(DrawnCounter::Estimate),
    ];
    let prompt = prop::option::weighted(0.2, Just("Say what happened.".to_owned()));
    (messages(), tokens(), ladder(), economy(), budgets(), overhead, 0..6usize, counter, prompt).prop_map(
        |(messages, tokens, ladder, economy, budget, overhead, keep, counter, prompt)| Drawn {
            messages,
            tokens,
            ladder,
            keep,
            trigger_tokens: budget.context_window() * (keep as u64 % 3) / 4,
            budget,
            economy,
            overhead: Millitokens::from_tokens(overhead),
            counter,
            prompt,
        },
    )
}
