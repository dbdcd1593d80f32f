//! Overflow, recognised from the providers' own words.

/// What an overflow error says about sizes, where it says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverflowFigures {
    /// The tokens that the provider counted.
    pub input_tokens: Option<u64>,
    /// The tokens that it takes.
    pub limit_tokens: Option<u64>,
}

/// Codes that mean overflow.
const CODES: [&str; 3] = ["context_length_exceeded", "request_too_large", "model_context_window_exceeded"];

/// Words that mean overflow, in lower case.
const WORDS: [&str; 8] = [
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "input tokens exceed the configured limit",
    "exceeds the context window",
    "exceeds the maximum number of tokens allowed",
    "reduce the length of the messages",
    "exceeds the available context size",
];

/// What stands before the number of tokens sent.
const BEFORE_INPUT: [&str; 4] =
    ["prompt is too long: ", "exceed context limit: ", "resulted in ", "input token count ("];

/// What stands before the number of tokens allowed.
const BEFORE_LIMIT: [&str; 5] =
    ["tokens > ", "maximum context length is ", "configured limit of ", "tokens allowed (", " > "];

/// Whether an error's code or message says that the request was too long, and with which figures.
pub(crate) fn recognise(code: &str, message: &str) -> Option<OverflowFigures> {
    let message = message.to_lowercase();
    let is_overflow = CODES.contains(&code) || WORDS.iter().any(|words| message.contains(words));
    is_overflow.then(|| OverflowFigures {
        input_tokens: number_behind(&message, &BEFORE_INPUT),
        limit_tokens: number_behind(&message, &BEFORE_LIMIT),
    })
}

fn number_behind(message: &str, openings: &[&str]) -> Option<u64> {
    openings.iter().find_map(|opening| {
        let (_, rest) = message.split_once(opening)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, message, tokens sent, tokens allowed: every text that `wire.md` quotes.
    const TEXTS: [(&str, &str, Option<u64>, Option<u64>); 8] = [
        ("invalid_request_error", "prompt is too long: 207791 tokens > 200000 maximum", Some(207_791), Some(200_000)),
        (
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or \
             `max_tokens` and try again",
            Some(178_959),
            Some(200_000),
        ),
        ("request_too_large", "Request exceeds the maximum size", None, None),
        (
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens (8000 in \
             the messages, 1000 in the functions). Please reduce the length of the messages.",
            Some(9000),
            Some(8192),
        ),
        (
            "",
            "Input tokens exceed the configured limit of 922000 tokens. Your messages resulted in 1860900 tokens. \
             Please reduce the length of the messages.",
            Some(1_860_900),
            Some(922_000),
        ),
        (
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            None,
            None,
        ),
        (
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            Some(1_200_000),
            Some(1_048_576),
        ),
        ("model_context_window_exceeded", "", None, None),
    ];

    #[test]
    fn every_providers_words_for_overflow_are_understood() {
        for (code, message, input_tokens, limit_tokens) in TEXTS {
            assert_eq!(recognise(code, message), Some(OverflowFigures { input_tokens, limit_tokens }), "{message}");
        }
    }

    #[test]
    fn other_refusals_are_not_overflow() {
        for message in [
            "messages: at least one message is required",
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
            "No tool output found for function call call_1.",
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
            "This request would exceed your organization's rate limit. Please try again later.",
        ] {
            assert_eq!(recognise("invalid_request_error", message), None, "{message}");
        }
    }
}
