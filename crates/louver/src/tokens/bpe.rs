//! Exact counts for the public vocabularies.

use std::sync::OnceLock;

use super::amount::{Factor, Millitokens};
use super::counter::Counter;
use super::image::{Image, ImageFormula};
use super::last_count::CounterId;

/// A public byte-pair vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// GPT-4o and later.
    O200k,
    /// GPT-4 and GPT-3.5.
    Cl100k,
}

impl Encoding {
    /// Tokens of `text`; what looks like a special token is plain text.
    ///
    /// The vocabulary is built on first use, about a third of a second, once per process.
    /// After that roughly 50 MB/s on common text and 3.5 MB/s at worst (long runs of one
    /// punctuation mark): bound the bytes, and count off any latency-critical thread.
    ///
    /// ```
    /// use louver::tokens::Encoding;
    ///
    /// assert_eq!(Encoding::O200k.count("hello world"), 2);
    /// assert_eq!(Encoding::Cl100k.count("<|endoftext|>"), 7);
    /// ```
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        self.vocabulary().count(text.as_bytes()) as u64
    }

    fn vocabulary(self) -> &'static toktok::Tokenizer {
        static O200K: OnceLock<toktok::Tokenizer> = OnceLock::new();
        static CL100K: OnceLock<toktok::Tokenizer> = OnceLock::new();
        let (cell, name) = match self {
            Self::O200k => (&O200K, "o200k_base"),
            Self::Cl100k => (&CL100K, "cl100k_base"),
        };
        cell.get_or_init(|| toktok::Tokenizer::builtin(name).expect("the vocabulary is part of the binary"))
    }
}

/// Counts exactly as the provider does, with a public vocabulary.
///
/// ```
/// use louver::tokens::{Bpe, Counter, Encoding, ImageFormula};
///
/// let counter = Bpe::new(Encoding::O200k, ImageFormula::DataLength);
/// assert_eq!(counter.text("hello world").ceil_tokens(), 2);
/// assert_eq!(counter.stated_error(), 0.0);
/// assert_eq!(counter.by_length(11), None);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Bpe {
    encoding: Encoding,
    image: ImageFormula,
}

impl Bpe {
    /// A counter with this vocabulary for text and this formula for images.
    #[must_use]
    pub const fn new(encoding: Encoding, image: ImageFormula) -> Self {
        Self { encoding, image }
    }
}

impl Counter for Bpe {
    fn name(&self) -> &str {
        match self.encoding {
            Encoding::O200k => "o200k",
            Encoding::Cl100k => "cl100k",
        }
    }

    fn stated_error(&self) -> f64 {
        0.0
    }

    fn text(&self, text: &str) -> Millitokens {
        Millitokens::from_tokens(self.encoding.count(text))
    }

    fn by_length(&self, _chars: u64) -> Option<Millitokens> {
        None
    }

    fn most_per_byte(&self) -> Option<Factor> {
        Some(Factor::ONE)
    }

    fn id(&self) -> Option<CounterId> {
        CounterId::new(match self.encoding {
            Encoding::O200k => 1,
            Encoding::Cl100k => 2,
        })
    }

    fn image(&self, image: &Image<'_>) -> Millitokens {
        self.image.count(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees_with_the_oracle(text: &str) {
        let (o200k, cl100k) = (bpe_openai::o200k_base(), bpe_openai::cl100k_base());
        let start: String = text.chars().take(40).collect();
        assert_eq!(Encoding::O200k.count(text), o200k.count(text) as u64, "o200k of {start:?}");
        assert_eq!(Encoding::Cl100k.count(text), cl100k.count(text) as u64, "cl100k of {start:?}");
    }

    #[test]
    fn known_counts() {
        assert_eq!(Encoding::O200k.count(""), 0);
        assert_eq!(Encoding::O200k.count("tiktoken is great!"), 6);
        assert_eq!(Encoding::Cl100k.count("tiktoken is great!"), 6);
        assert_eq!(Encoding::Cl100k.count("antidisestablishmentarianism"), 6);
    }

    #[test]
    fn nasty_strings_count_as_the_oracle_counts_them() {
        let million = 1 << 20;
        let long = [
            " ".repeat(million),
            "=".repeat(1 << 16),
            "\n".repeat(1 << 16),
            "a".repeat(1 << 16),
            "\t \r\n".repeat(1 << 13),
            "0".repeat(1 << 14),
            "é".repeat(1 << 13),
            "日本語の文章".repeat(1 << 10),
            "👨‍👩‍👧🇩🇪👋🏽".repeat(1 << 9),
            "\u{0}\u{1}\u{7f}\u{200b}\u{feff}\u{10ffff}".repeat(64),
        ];
        long.iter().for_each(|text| agrees_with_the_oracle(text));
        let short = [
            "",
            " ",
            "  x",
            "x  ",
            "<|endoftext|>",
            "<|im_start|>user<|im_end|>",
            "<|fim_prefix|> <|endofprompt|>",
            "I'll we'RE DON'T ſ's",
            "don’t",
            "1234567890 12 345",
            "Ünïcödé ÀÉÎ",
            "مرحبا بالعالم",
            "नमस्ते",
            "e\u{301}\u{301}",
            "foo_bar::<Baz>() -> {}\r\n\r\n   }",
            "AAAAaaaaBBBB",
            "\u{3000}全角　空白",
        ];
        short.iter().for_each(|text| agrees_with_the_oracle(text));
    }

    #[test]
    fn text_that_looks_special_is_plain_text() {
        assert_eq!(Encoding::O200k.count("<|endoftext|>"), 7);
        assert!(Encoding::Cl100k.count("<|im_start|>") > 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn any_unicode_counts_as_the_oracle_counts_it(text in "\\PC{0,200}") {
            agrees_with_the_oracle(&text.chars().filter(is_older).collect::<String>());
        }

        #[test]
        fn any_mix_of_pieces_counts_as_the_oracle_counts_it(
            pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)
        ) {
            agrees_with_the_oracle(&pieces.concat());
        }

        #[test]
        fn any_scalar_values_count_as_the_oracle_counts_them(
            text in prop::collection::vec(any::<char>().prop_filter("of Unicode 16", is_older), 0..100)
        ) {
            agrees_with_the_oracle(&text.into_iter().collect::<String>());
        }
    }

    fn is_older(character: &char) -> bool {
        let code = u32::from(*character);
        !UNICODE_17.iter().any(|(first, last)| (*first..=*last).contains(&code))
    }

    /// What Unicode 17 added. The two crates know different versions of Unicode, so they split
    /// words at these characters differently; on all other scalar values they agree.
    const UNICODE_17: &[(u32, u32)] = &[
        (0x88F, 0x88F),
        (0xC5C, 0xC5C),
        (0xCDC, 0xCDC),
        (0x1ACF, 0x1AEB),
        (0xA7CE, 0xA7D4),
        (0xA7F1, 0xA7F1),
        (0x10940, 0x10959),
        (0x10EC5, 0x10EFB),
        (0x11B60, 0x11B67),
        (0x11DB0, 0x11DE9),
        (0x16EA0, 0x16ED3),
        (0x16FF2, 0x16FF6),
        (0x187F8, 0x187FF),
        (0x18D09, 0x18DF2),
        (0x1E6C0, 0x1E6FF),
        (0x2B73A, 0x2B73F),
        (0x2CEA2, 0x2CEAD),
        (0x323B0, 0x33479),
    ];

    /// Pieces at which pre-tokenizers decide: contractions, runs, marks, line ends.
    const PIECES: &[&str] = &[
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\u{a0}",
        "\u{2028}",
        "a",
        "B",
        "the",
        "The",
        "THE",
        "'s",
        "'LL",
        "’s",
        "1",
        "12",
        "123",
        "1234",
        "½",
        "²",
        "_",
        "/",
        "//",
        "=",
        "====",
        "!",
        "。",
        "é",
        "e\u{301}",
        "ß",
        "ſ",
        "Ǆ",
        "ǅ",
        "ʰ",
        "日",
        "本",
        "한",
        "ا",
        "न",
        "ि",
        "👍",
        "🏽",
        "\u{200d}",
        "\u{fe0f}",
        "<|endoftext|>",
        "\u{0}",
        "\u{fffd}",
    ];
}
