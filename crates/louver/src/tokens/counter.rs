//! The counter trait, and the choice of a counter for a model.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;
use std::sync::Arc;

use super::amount::Millitokens;
use super::bpe::{Bpe, Encoding};
use super::chars4::Chars4;
use super::estimate::Estimate;
use super::image::{Image, ImageFormula};
use super::tokenizer::Tokenizer;
use crate::catalog::Model;

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

    /// The tokens of an image or another binary attachment.
    fn image(&self, image: &Image<'_>) -> Millitokens;
}

/// The counter that the user asked for: `--counter chars4|o200k|cl100k|auto`.
///
/// ```
/// use louver::tokens::CounterChoice;
///
/// assert_eq!("o200k".parse(), Ok(CounterChoice::O200k));
/// assert_eq!(CounterChoice::default().to_string(), "auto");
/// let error = "gpt2".parse::<CounterChoice>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown counter `gpt2`: use chars4, o200k, cl100k or auto");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CounterChoice {
    /// Four characters per token.
    Chars4,
    /// The vocabulary of GPT-4o and later, exactly.
    O200k,
    /// The vocabulary of GPT-4 and GPT-3.5, exactly.
    Cl100k,
    /// What the catalogue says about the model.
    #[default]
    Auto,
}

impl CounterChoice {
    /// Every choice, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::Chars4, Self::O200k, Self::Cl100k, Self::Auto];

    /// The counter for `model`.
    ///
    /// `Auto` takes tokenizer and image formula from the model, and is `chars4` without one.
    /// A counter chosen by name counts the same for every model; images then by the length
    /// of their data.
    ///
    /// ```
    /// use louver::catalog::Catalog;
    /// use louver::tokens::CounterChoice;
    ///
    /// let found = Catalog::builtin().find("claude-opus-5-5").expect("a known model");
    /// let counter = CounterChoice::Auto.resolve(Some(&found.model));
    /// assert_eq!(counter.name(), "claude-4.7 (estimate)");
    /// assert_eq!(CounterChoice::Auto.resolve(None).name(), "chars4");
    /// assert_eq!(CounterChoice::Cl100k.resolve(Some(&found.model)).name(), "cl100k");
    /// ```
    #[must_use]
    pub fn resolve(self, model: Option<&Model>) -> Arc<dyn Counter> {
        match (self, model) {
            (Self::Chars4, _) | (Self::Auto, None) => Arc::new(Chars4),
            (Self::O200k, _) => Arc::new(Bpe::new(Encoding::O200k, ImageFormula::DataLength)),
            (Self::Cl100k, _) => Arc::new(Bpe::new(Encoding::Cl100k, ImageFormula::DataLength)),
            (Self::Auto, Some(model)) => for_model(model),
        }
    }

    const fn flag(self) -> &'static str {
        match self {
            Self::Chars4 => "chars4",
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
            Self::Auto => "auto",
        }
    }
}

fn for_model(model: &Model) -> Arc<dyn Counter> {
    let image = model.traits.image;
    match model.traits.tokenizer {
        Tokenizer::O200k => Arc::new(Bpe::new(Encoding::O200k, image)),
        Tokenizer::Cl100k => Arc::new(Bpe::new(Encoding::Cl100k, image)),
        Tokenizer::Claude3 => Arc::new(Estimate::claude_3(image)),
        Tokenizer::Claude47 => Arc::new(Estimate::claude_4_7(image)),
        Tokenizer::Gemini => Arc::new(Estimate::gemini(image)),
        Tokenizer::Other => Arc::new(Estimate::other(image)),
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
        let choice = Self::ALL.into_iter().find(|choice| choice.flag() == name);
        choice.ok_or_else(|| UnknownCounter { name: name.to_owned() })
    }
}

/// A counter name that is none of the four.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown counter `{name}`: use chars4, o200k, cl100k or auto")]
pub struct UnknownCounter {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_choice_reads_back_as_it_prints() {
        for choice in CounterChoice::ALL {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
    }

    #[test]
    fn auto_follows_the_model_and_names_do_not() {
        let name_for = |choice: CounterChoice, model: &str| {
            let found = Catalog::builtin().find(model).unwrap();
            choice.resolve(Some(&found.model)).name().to_owned()
        };
        let auto = |model| name_for(CounterChoice::Auto, model);
        assert_eq!(auto("gpt-4"), "cl100k");
        assert_eq!(auto("gpt-5.6-sol"), "o200k");
        assert_eq!(auto("claude-sonnet-4-5"), "claude-3 (estimate)");
        assert_eq!(auto("claude-sonnet-5"), "claude-4.7 (estimate)");
        assert_eq!(auto("gemini-2.5-pro"), "gemini (estimate)");
        assert_eq!(auto("deepseek-chat"), "other (estimate)");
        assert_eq!(name_for(CounterChoice::Chars4, "gpt-4"), "chars4");
    }

    #[test]
    fn only_auto_counts_images_by_pixels() {
        let found = Catalog::builtin().find("gpt-4o").unwrap();
        let low = Image { detail: Some(crate::tokens::Detail::Low), ..Image::from_base64("AAAA") };
        let tokens = |choice: CounterChoice| choice.resolve(Some(&found.model)).image(&low).ceil_tokens();
        assert_eq!(tokens(CounterChoice::Auto), 85);
        assert_eq!(tokens(CounterChoice::O200k), 3);
    }
}
