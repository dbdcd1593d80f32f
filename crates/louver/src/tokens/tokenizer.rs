//! Which tokenizer a model reads with.

use serde::Deserialize;

/// The tokenizer of a model, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Tokenizer {
    /// GPT-4o and later; public, counted exactly.
    O200k,
    /// GPT-4 and GPT-3.5; public, counted exactly.
    Cl100k,
    /// Claude 3 to 4.6; closed, estimated.
    #[serde(rename = "claude-3")]
    Claude3,
    /// Claude 4.7 and later; closed, estimated.
    #[serde(rename = "claude-4.7")]
    Claude47,
    /// Gemini, whose vocabulary is close to that of Gemma 3; estimated.
    Gemini,
    /// Any other; estimated.
    Other,
}
