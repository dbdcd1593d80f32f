//! The counter trait, and the choice of a counter for a model.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use super::amount::{Factor, Millitokens};
use super::image::Image;
use super::last_count::CounterId;

/// Counts the tokens of text and images.
///
/// Pure: the same input gives the same amount on every machine. Callers count per message
/// and keep the result, so no counter needs to be incremental.
pub trait Counter: Debug + Send + Sync {
    /// The name that reports and warnings show, such as `chars4` or `claude-4.7 (estimate)`.
    fn name(&self) -> &str;

    /// How far a count may be off, as a share of the true one; 0 is exact.
    fn stated_error(&self) -> f64;

    /// The tokens of `text` as the model sees it: decoded, without JSON escapes. What looks
    /// like a special token is plain text.
    fn text(&self, text: &str) -> Millitokens;

    /// The tokens of a text of so many characters, where the number alone decides; then the
    /// caller need not decode the text. `None` when the counter has to see it.
    fn by_length(&self, chars: u64) -> Option<Millitokens>;

    /// The most that a byte of text can count, where counting takes a vocabulary that has to be loaded first.
    fn most_per_byte(&self) -> Option<Factor> {
        None
    }

    /// Where it is one of Louver's own whose counts are worth keeping: which one.
    fn id(&self) -> Option<CounterId> {
        None
    }

    /// The tokens of an image or another binary attachment.
    fn image(&self, image: &Image<'_>) -> Millitokens;
}

/// The counter that the user asked for: `--counter chars4|o200k|cl100k|auto`.
///
/// The exact ones exist with the feature `exact-counts` alone: whoever asks for an exact count by name gets one, or code
/// that does not compile and a name that does not parse, but never an estimate. `Auto` estimates without the feature.
///
/// ```
/// use louver::tokens::CounterChoice;
///
/// assert_eq!("chars4".parse(), Ok(CounterChoice::Chars4));
/// assert_eq!(CounterChoice::default().to_string(), "auto");
/// assert_eq!("o200k".parse::<CounterChoice>().is_ok(), cfg!(feature = "exact-counts"));
/// let error = "gpt2".parse::<CounterChoice>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown counter `gpt2`: use chars4, o200k, cl100k or auto");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CounterChoice {
    /// Four characters per token.
    Chars4,
    /// The vocabulary of GPT-4o and later, exactly.
    #[cfg(feature = "exact-counts")]
    O200k,
    /// The vocabulary of GPT-4 and GPT-3.5, exactly.
    #[cfg(feature = "exact-counts")]
    Cl100k,
    /// What the catalogue says about the model.
    #[default]
    Auto,
}

impl CounterChoice {
    /// Every choice, in the order in which help texts list them.
    pub const ALL: &[Self] = &[
        Self::Chars4,
        #[cfg(feature = "exact-counts")]
        Self::O200k,
        #[cfg(feature = "exact-counts")]
        Self::Cl100k,
        Self::Auto,
    ];

    const fn flag(self) -> &'static str {
        match self {
            Self::Chars4 => "chars4",
            #[cfg(feature = "exact-counts")]
            Self::O200k => "o200k",
            #[cfg(feature = "exact-counts")]
            Self::Cl100k => "cl100k",
            Self::Auto => "auto",
        }
    }
}

impl Display for CounterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.flag())
    }
}

impl FromStr for CounterChoice {
    type Err = UnknownCounter;

    fn from_str(name: &str) -> Result<Self, UnknownCounter> {
        let choice = Self::ALL.iter().copied().find(|choice| choice.flag() == name);
        choice.ok_or_else(|| UnknownCounter { name: name.to_owned() })
    }
}

/// A counter name that is none of the four, or one whose vocabulary is not compiled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", unknown(.name))]
pub struct UnknownCounter {
    name: String,
}

fn unknown(name: &str) -> String {
    match name {
        "o200k" | "cl100k" => format!("the counter `{name}` is not in this build: it takes the feature `exact-counts`"),
        _ => format!("unknown counter `{name}`: use chars4, o200k, cl100k or auto"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_reads_back_as_it_prints() {
        for choice in CounterChoice::ALL {
            assert_eq!(choice.to_string().parse(), Ok(*choice));
        }
    }
}
