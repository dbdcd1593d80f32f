//! What the price table does not say about a model: rules over name patterns.

use serde::{Deserialize, Serialize};

use super::name;
use crate::tokens::{ImageFormula, Tokenizer};

/// What a model is like, beyond size and price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Traits {
    /// The tokenizer, as far as it is known.
    pub tokenizer: Tokenizer,
    /// How images turn into tokens.
    pub image: ImageFormula,
    /// What ties thinking blocks to their place.
    pub thinking: ThinkingBinding,
    /// Whether a request may not end with a message of the assistant.
    pub refuses_prefill: bool,
    /// Whether system messages may stand inside the history.
    pub system_in_messages: bool,
    /// How the provider caches prefixes.
    pub cache_kind: CacheKind,
    /// How long an entry lives after its last use, in seconds.
    pub cache_ttl_seconds: u64,
    /// Cached prefixes are multiples of so many tokens.
    pub cache_step_tokens: u64,
    /// The smallest prefix that is cached, where the table of models has no figure.
    pub cache_min_tokens: u64,
}

/// What ties the thinking blocks of a history to their place, from the loosest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ThinkingBinding {
    /// Nothing: blocks can be left out.
    None,
    /// In an unfinished tool turn the thinking must stay; in earlier turns it can go.
    OpenTurn,
    /// A block is bound to everything before it: it is valid behind that exact prefix only.
    Prefix,
}

/// How a provider caches prefixes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Entries where the request has a mark.
    Explicit,
    /// The longest known prefix, without marks.
    Automatic,
}

/// The rules of `traits.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// For the reader of the file.
    #[serde(rename = "about")]
    _about: Vec<String>,
    /// Prefixes under which gateways offer the same models.
    pub(super) prefixes: Vec<String>,
    defaults: Traits,
    rules: Vec<Rule>,
}

/// Sets some traits of the models of a provider, of all or of those whose name matches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    provider: String,
    names: Option<Vec<String>>,
    set: Change,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    tokenizer: Option<Tokenizer>,
    image: Option<ImageFormula>,
    thinking: Option<ThinkingBinding>,
    refuses_prefill: Option<bool>,
    system_in_messages: Option<bool>,
    cache_kind: Option<CacheKind>,
    cache_ttl_seconds: Option<u64>,
    cache_step_tokens: Option<u64>,
    cache_min_tokens: Option<u64>,
}

impl Rules {
    /// The traits of a model: the defaults, then every rule that applies, in order.
    pub(super) fn traits_of(&self, provider: &str, bare_name: &str) -> Traits {
        let spelled = name::plain(bare_name);
        let applying = self.rules.iter().filter(|rule| rule.applies(provider, &spelled));
        applying.fold(self.defaults, |traits, rule| rule.set.applied_to(traits))
    }
}

impl Rule {
    fn applies(&self, provider: &str, name: &str) -> bool {
        let matches = |patterns: &Vec<String>| patterns.iter().any(|pattern| name::matches(pattern, name));
        self.provider == provider && self.names.as_ref().is_none_or(matches)
    }
}

impl Change {
    fn applied_to(self, old: Traits) -> Traits {
        Traits {
            tokenizer: self.tokenizer.unwrap_or(old.tokenizer),
            image: self.image.unwrap_or(old.image),
            thinking: self.thinking.unwrap_or(old.thinking),
            refuses_prefill: self.refuses_prefill.unwrap_or(old.refuses_prefill),
            system_in_messages: self.system_in_messages.unwrap_or(old.system_in_messages),
            cache_kind: self.cache_kind.unwrap_or(old.cache_kind),
            cache_ttl_seconds: self.cache_ttl_seconds.unwrap_or(old.cache_ttl_seconds),
            cache_step_tokens: self.cache_step_tokens.unwrap_or(old.cache_step_tokens),
            cache_min_tokens: self.cache_min_tokens.unwrap_or(old.cache_min_tokens),
        }
    }
}
