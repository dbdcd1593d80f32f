//! What the sandbox knows about models: a table in `data/models.json`, found by the longest matching prefix.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Format;

/// How a Claude model treats the thinking blocks that come back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Thinking {
    /// Switched on by hand; an open tool turn must start with it.
    Manual,
    /// The model decides; nothing is asked of what comes back.
    Adaptive,
    /// Each block is bound to the exact conversation before it.
    Bound,
}

/// The rules of a model's prompt cache.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CacheRules {
    /// Prefixes below this many tokens are not cached.
    pub(crate) min_tokens: u64,
    /// Reads are rounded down to a multiple of this.
    pub(crate) step: u64,
    pub(crate) ttl_seconds: u64,
    /// Whether writes are billed, and so reported.
    #[serde(default)]
    pub(crate) reports_writes: bool,
}

/// One row of the table.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Model {
    pub(crate) prefix: String,
    /// Whether `GET /v1/models` names it.
    #[serde(default)]
    pub(crate) listed: bool,
    pub(crate) context_window: u64,
    pub(crate) max_output: u64,
    pub(crate) cache: CacheRules,
    pub(crate) thinking: Option<Thinking>,
    /// Whether `system` may stand among the messages.
    #[serde(default)]
    pub(crate) system_messages: bool,
    /// Whether input plus `max_tokens` must fit the window.
    #[serde(default)]
    pub(crate) counts_reply_room: bool,
    /// Whether function calls of the current turn must carry their thought signature.
    #[serde(default)]
    pub(crate) needs_thought_signature: bool,
}

static TABLE: LazyLock<Vec<Model>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/models.json")).expect("the model table is part of the crate and tested")
});

/// The row for a model name; a name nobody knows gets the last row's defaults.
pub(crate) fn find(name: &str) -> &'static Model {
    let bare = name.rsplit('/').next().unwrap_or(name);
    TABLE
        .iter()
        .filter(|model| bare.starts_with(&model.prefix))
        .max_by_key(|model| model.prefix.len())
        .expect("the table's last row has the empty prefix")
}

/// Whether an API has a model of this name.
pub(crate) fn is_known(format: Format, name: &str) -> bool {
    let row = find(name).prefix.as_str();
    match format {
        Format::Anthropic => row.starts_with("claude"),
        Format::Gemini => row.starts_with("gemini"),
        Format::OpenAiChat | Format::OpenAiResponses => {
            !row.is_empty() && !row.starts_with("claude") && !row.starts_with("gemini")
        }
    }
}

/// The models that a listing names, for one provider's name prefix.
pub(crate) fn listed(prefix: &str) -> impl Iterator<Item = &'static Model> {
    TABLE.iter().filter(move |model| model.listed && model.prefix.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins() {
        assert_eq!(find("claude-opus-4-5-20251101").cache.min_tokens, 4096);
        assert_eq!(find("claude-opus-5-5").thinking, Some(Thinking::Bound));
        assert_eq!(find("claude-opus-5").thinking, Some(Thinking::Adaptive));
        assert_eq!(find("openai/gpt-5.4-mini").cache.step, 128);
        assert_eq!(find("no-such-model").prefix, "");
    }

    #[test]
    fn an_api_knows_its_own_models_only() {
        let known = |format, names: &[&str]| names.iter().all(|name| is_known(format, name));
        assert!(known(Format::Anthropic, &["claude-sonnet-4-5-20250929", "claude-3-5-haiku-latest"]));
        assert!(known(
            Format::OpenAiChat,
            &["gpt-4-turbo", "gpt-5.6-sol", "o3-mini", "codex-mini-latest", "gpt-3.5-turbo"]
        ));
        assert!(known(Format::Gemini, &["gemini-2.5-flash", "models/gemini-3-pro"]));
        for name in ["claude", "claude-x", "gpt-9", "ollama", "o", "gemini-1", "mistral-large", ""] {
            assert!(Format::ALL.into_iter().all(|format| !is_known(format, name)), "{name}");
        }
        assert!(!is_known(Format::OpenAiChat, "claude-sonnet-4-5") && !is_known(Format::Anthropic, "gpt-5"));
    }

    #[test]
    fn steps_are_never_zero() {
        assert!(TABLE.iter().all(|model| model.cache.step > 0));
    }
}
