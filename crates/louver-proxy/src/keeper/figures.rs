//! What a request's model, frame and settings come to.

use super::asked::Asked;
use super::settings::KeeperSettings;
use louver::PolicyKind;
use louver::budget::Budget;
use louver::catalog::{Catalog, Model, ThinkingBinding};
use louver::tokens::{CounterChoice, Factor, Millitokens};
use louver::window::WindowConfig;
use louver::wire::Format;
use louver_store::LearnedFacts;
use std::borrow::Cow;

/// The most that is kept free for a reply where the provider ends it at the window's end by itself.
const REPLY_TOKENS: u64 = 8_192;

/// What is known of a request's model, and what follows for its window.
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) model: Option<Cow<'static, Model>>,
    /// How many tokens the provider takes, as it counts.
    pub(super) limit: Option<u64>,
    pub(super) reserve: u64,
    /// How many tokens of the provider's our tokens are.
    pub(super) factor: Factor,
    pub(super) config: WindowConfig,
}

/// The system prompt and the tools of a request, and what they cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) model: String,
    pub(super) system: Option<blake3::Hash>,
    pub(super) tools: Option<blake3::Hash>,
    overhead: Millitokens,
}

impl Frame {
    /// The frame of a request; what it costs is taken from the one before where it is the same.
    pub(super) fn of(asked: &Asked, config: &WindowConfig, before: Option<&Self>) -> Self {
        let hash = |raw: Option<&str>| raw.map(|raw| blake3::hash(raw.as_bytes()));
        let (system, tools) = (hash(asked.body.system_raw()), hash(asked.body.tools_raw()));
        let known = before.filter(|known| known.model == asked.model && known.system == system && known.tools == tools);
        let overhead = known.map(|known| known.overhead);
        let overhead = overhead.unwrap_or_else(|| louver::count::count_overhead(&*config.counter, &asked.body));
        Self { model: asked.model.clone(), system, tools, overhead }
    }

    /// What differs from the frame before, in words.
    pub(super) fn change_since(&self, before: &Self) -> Option<&'static str> {
        match () {
            () if self.model != before.model => Some("the model changed"),
            () if self.tools != before.tools => Some("the tools changed"),
            () if self.system != before.system => Some("the system prompt changed"),
            () => None,
        }
    }
}

impl Figures {
    pub(super) fn of(
        asked: &Asked,
        settings: &KeeperSettings,
        facts: LearnedFacts,
        before: Option<&Frame>,
    ) -> (Self, Frame) {
        let model = Catalog::builtin().find(&asked.model).map(|found| found.model);
        let known = settings.context_window.or(model.as_ref().map(|model| model.context_window));
        let limit = match (facts.context_limit, settings.context_window) {
            (Some(learned), Some(set)) => Some(learned.min(set)),
            (learned, _) => learned.or(known),
        };
        let reserve = reserve(asked, limit.unwrap_or(u64::MAX), facts.longest_answer);
        let factor = facts.calibration.unwrap_or(Factor::ONE);
        let budget = limit.and_then(|limit| budget(limit, reserve, factor));
        let policy = if budget.is_some() { settings.policy.clone() } else { PolicyKind::Everything };
        let mut config = WindowConfig::new(asked.format(), policy)
            .with_model(model.as_deref(), CounterChoice::Auto)
            .with_budget(budget);
        let frame = Frame::of(asked, &config, before);
        config.overhead = frame.overhead;
        config.thinking = binding(asked, config.thinking);
        (Self { model, limit, reserve, factor, config }, frame)
    }

    /// The same for a provider that takes no more than this.
    pub(super) fn limited_to(mut self, limit: u64, factor: Factor, policy: &PolicyKind) -> Option<Self> {
        let reserve = self.reserve.min(limit / 4);
        let budget = budget(limit, reserve, factor)?;
        (self.limit, self.factor, self.reserve) = (Some(limit), factor, reserve);
        self.config.budget = Some(budget);
        self.config.policy = policy.clone();
        Some(self)
    }
}

/// What is kept free for a reply. A quarter of the window where a usual reply would leave the conversation less than half
/// of it, or the one that is asked for next to nothing: what then does not fit, the provider refuses either way.
fn reserve(asked: &Asked, limit: u64, longest_answer: Option<u64>) -> u64 {
    let (wanted, most) = match asked.body.max_output().filter(|tokens| *tokens > 0) {
        Some(tokens) if !ends_replies_itself(asked.format()) => (tokens, limit / 5 * 4),
        Some(tokens) => (tokens.min(longest_answer.unwrap_or(0).max(REPLY_TOKENS)), limit / 2),
        None => (REPLY_TOKENS, limit / 2),
    };
    if wanted > most { limit / 4 } else { wanted }
}

/// Tokens of the provider's as tokens of ours, so many of which each of ours is.
pub(super) fn in_our_tokens(tokens: u64, factor: Factor) -> u64 {
    let ours = u128::from(tokens) * u128::from(Factor::ONE.millionths()) / u128::from(factor.millionths().max(1));
    u64::try_from(ours).unwrap_or(u64::MAX)
}

/// What the provider takes and what is kept free of it, in our tokens.
fn budget(limit: u64, reserve: u64, factor: Factor) -> Option<Budget> {
    Budget::new(in_our_tokens(limit, factor), Some(in_our_tokens(reserve, factor))).ok()
}

/// Whether the provider takes input plus `max_tokens` above the window and ends the reply where the window ends.
fn ends_replies_itself(format: Format) -> bool {
    matches!(format, Format::Anthropic | Format::OpenAiResponses | Format::Gemini)
}

/// A cut drops signed thinking behind it whatever the model, unless it needs it in an open turn.
fn binding(asked: &Asked, of_model: ThinkingBinding) -> ThinkingBinding {
    let is_manual = asked.body.thinking() == louver::wire::Thinking::Enabled;
    match of_model {
        _ if asked.format() != Format::Anthropic => of_model,
        ThinkingBinding::None if is_manual => ThinkingBinding::OpenTurn,
        ThinkingBinding::None => ThinkingBinding::Prefix,
        bound => bound,
    }
}
