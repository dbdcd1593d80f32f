//! Refusals that a smaller or cleaner request would have avoided, recognised from the providers' own words.

pub use crate::error_text::ErrorText;

/// Why a provider refused a request, where Louver can do something about it.
///
/// ```
/// use louver::refusal::Refusal;
///
/// let refusal = Refusal::recognise("", "prompt is too long: 210000 tokens > 200000 maximum").unwrap();
/// assert_eq!(refusal.overflow().and_then(|figures| figures.limit_tokens), Some(200_000));
/// assert_eq!(Refusal::recognise("", "overloaded"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request was too long.
    Overflow(OverflowFigures),
    /// Thinking was sent behind a prefix that is not the one it was made for.
    BoundThinking,
}

/// What an overflow error says about sizes, where it says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverflowFigures {
    /// The tokens that the provider counted.
    pub input_tokens: Option<u64>,
    /// The tokens of the reply, where they were counted on top of the input.
    pub reply_tokens: Option<u64>,
    /// The tokens that it takes.
    pub limit_tokens: Option<u64>,
}

/// One provider's way of saying that a request is too long; everything in lower case.
struct Wording {
    /// What its message contains.
    says: &'static str,
    /// What stands before the number of tokens sent.
    input: &'static str,
    /// What stands before the number of tokens reserved for the reply.
    reply: &'static str,
    /// What stands before the number of tokens allowed.
    limit: &'static str,
}

const fn wording(says: &'static str, input: &'static str, limit: &'static str) -> Wording {
    Wording { says, input, reply: "", limit }
}

/// Codes that mean overflow.
const CODES: &[&str] = &[
    "context_length_exceeded",
    "request_too_large",
    "model_context_window_exceeded",
    "exceed_context_size_error",
    "tokens_limit_reached",
    "string_above_max_length",
    "array_above_max_length",
];

/// Of several that fit, the last of those with the most figures counts.
const WORDINGS: &[Wording] = &[
    wording("prompt is too long", "prompt is too long: ", " > "),
    Wording { says: "exceed context limit", input: "exceed context limit: ", reply: " + ", limit: " > " },
    wording("input is too long for requested model", "", ""),
    wording("capability_rejected: prompt_too_long", "", ""),
    wording("too large for model with", "prompt contains ", "too large for model with "),
    wording("your messages resulted in", "resulted in ", "maximum context length is "),
    wording("maximum context length is", "you requested about ", "maximum context length is "),
    wording("maximum context length is", "you requested ", "maximum context length is "),
    wording("maximum context length", "", "maximum context length of "),
    wording("maximum prompt length is", "request contains ", "maximum prompt length is "),
    wording("input tokens exceed the configured limit", "resulted in ", "configured limit of "),
    wording("exceeds the maximum number of tokens allowed", "input token count (", "tokens allowed ("),
    wording("exceeds the maximum number of tokens allowed", "input token count is ", "tokens allowed "),
    wording("exceeds the context window", "", ""),
    wording("exceeds the available context size", "request (", "context size ("),
    wording("exceed_context_size_error", "", ""),
    wording("greater than the context length", "", ""),
    wording("reduce the length of the messages", "", ""),
    // vLLM and SGLang.
    wording("a total of", "a total of ", "maximum context length of "),
    wording("longer than the maximum model length", "(length ", "maximum model length of "),
    wording("too long to fit into the model", "total length ", "context length "),
    wording("exceeds model's maximum context length", "input length (", "context length ("),
    wording("longer than the model's context length", "the input (", "context length ("),
    Wording {
        says: "maximum context length is",
        input: "your request has ",
        reply: "is too large: ",
        limit: "maximum context length is ",
    },
    Wording {
        says: "maximum context length is",
        input: "prompt contains at least ",
        reply: "you requested ",
        limit: "maximum context length is ",
    },
    Wording {
        says: "context length is only",
        input: "you passed ",
        reply: "and requested ",
        limit: "context length is only ",
    },
    // llama.cpp and Ollama.
    wording("context size has been exceeded", "", ""),
    wording("input is too large to process", "", ""),
    wording("exceeded max context length", "", ""),
    wording("input length exceeds the context length", "", ""),
    wording("exceeds maximum context length", "", ""),
    // Azure, Copilot and Bedrock.
    wording("request body too large for", "", "max size: "),
    wording("prompt token count of", "token count of ", "exceeds the limit of "),
    wording("number of input tokens exceeds maximum length", "", ""),
    wording("too many total text bytes", "", ""),
    wording("malformed input request: expected maxlength", "", ""),
    // OpenAI: more than a minute has room for, or than one text may have.
    wording("request too large for", ", requested ", ": limit "),
    wording("expected a string with maximum length", "", ""),
    wording("expected an array with maximum length", "", ""),
    // MiniMax and Kimi.
    wording("context window exceeds limit", "", ""),
    wording("exceeded model token limit", "", "token limit: "),
];

/// What a provider says about thinking whose prefix is another one.
const BOUND_THINKING: &str = "bound to a different conversation";

impl Refusal {
    /// What an error's code and message mean. The status is not looked at: a stream has none.
    ///
    /// ```
    /// use louver::refusal::{OverflowFigures, Refusal};
    ///
    /// let refusal = Refusal::recognise("invalid_request_error", "prompt is too long: 207,791 tokens > 200,000 maximum");
    /// let figures = OverflowFigures { input_tokens: Some(207_791), reply_tokens: None, limit_tokens: Some(200_000) };
    /// assert_eq!(refusal, Some(Refusal::Overflow(figures)));
    /// assert_eq!(Refusal::recognise("rate_limit_error", "slow down"), None);
    /// ```
    pub fn recognise(code: &str, message: &str) -> Option<Self> {
        let message = message.to_lowercase();
        if message.contains(BOUND_THINKING) {
            return Some(Self::BoundThinking);
        }
        let figures = figures(&message);
        let is_overflow = CODES.contains(&code) || figures.is_some();
        is_overflow.then(|| Self::Overflow(figures.unwrap_or_default()))
    }

    /// The sizes, if it is an overflow.
    pub fn overflow(self) -> Option<OverflowFigures> {
        match self {
            Self::Overflow(figures) => Some(figures),
            Self::BoundThinking => None,
        }
    }
}

/// What the first wording that names figures says; without figures if only others fit.
fn figures(message: &str) -> Option<OverflowFigures> {
    let fitting = WORDINGS.iter().filter(|wording| message.contains(wording.says));
    let found = fitting.map(|wording| OverflowFigures {
        input_tokens: number_behind(message, wording.input),
        reply_tokens: number_behind(message, wording.reply),
        limit_tokens: number_behind(message, wording.limit),
    });
    found.max_by_key(|figures| u8::from(figures.input_tokens.is_some()) + u8::from(figures.limit_tokens.is_some()))
}

/// The number that stands right behind an opening, its thousands set apart by commas or not.
fn number_behind(message: &str, opening: &str) -> Option<u64> {
    if opening.is_empty() {
        return None;
    }
    message.match_indices(opening).find_map(|(at, _)| {
        let rest = &message[at + opening.len()..];
        let written = rest.split(|c: char| !c.is_ascii_digit() && c != ',').next().unwrap_or_default();
        written.replace(',', "").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, message; tokens sent, reserved for the reply, allowed: every text that a provider is known to use.
    type Text = (&'static str, &'static str, Option<u64>, Option<u64>, Option<u64>);

    const TEXTS: &[Text] = &[
        (
            "invalid_request_error",
            "prompt is too long: 207791 tokens > 200000 maximum",
            Some(207_791),
            None,
            Some(200_000),
        ),
        (
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or \
             `max_tokens` and try again",
            Some(178_959),
            Some(64_000),
            Some(200_000),
        ),
        ("request_too_large", "Request exceeds the maximum size", None, None, None),
        ("", "Input is too long for requested model.", None, None, None),
        ("api_error", "capability_rejected: prompt_too_long", None, None, None),
        (
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens (8000 in \
             the messages, 1000 in the functions). Please reduce the length of the messages.",
            Some(9000),
            None,
            Some(8192),
        ),
        (
            "context_length_exceeded",
            "This model's maximum context length is 8192 tokens. However, you requested 9,192 tokens (8192 in the \
             messages, 1000 in the completion). Please reduce the length of the messages or completion.",
            Some(9192),
            None,
            Some(8192),
        ),
        (
            "",
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.",
            Some(200_000),
            None,
            Some(131_072),
        ),
        (
            "",
            "Input tokens exceed the configured limit of 922000 tokens. Your messages resulted in 1860900 tokens. \
             Please reduce the length of the messages.",
            Some(1_860_900),
            None,
            Some(922_000),
        ),
        (
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            None,
            None,
            None,
        ),
        (
            "INVALID_ARGUMENT",
            "The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).",
            Some(1_200_000),
            None,
            Some(1_048_576),
        ),
        (
            "INVALID_ARGUMENT",
            "The input token count exceeds the maximum number of tokens allowed 1048576.",
            None,
            None,
            Some(1_048_576),
        ),
        (
            "",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            Some(537_812),
            None,
            Some(131_072),
        ),
        (
            "",
            "Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            Some(40_960),
            None,
            Some(32_768),
        ),
        ("", "the request exceeds the available context size, try increasing the context size", None, None, None),
        (
            "",
            "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
            Some(5000),
            None,
            Some(4096),
        ),
        ("model_context_window_exceeded", "", None, None, None),
        (
            "BadRequestError",
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 4096 tokens \
             and your request has 2104 input tokens (2000 > 4096 - 2104).",
            Some(2104),
            Some(2000),
            Some(4096),
        ),
        (
            "BadRequestError",
            "You passed 5,000 input tokens and requested 100 output tokens. However, the model's context length is only \
             4,096 tokens, resulting in a maximum input length of 3,996 tokens.",
            Some(5000),
            Some(100),
            Some(4096),
        ),
        (
            "BadRequestError",
            "This model's maximum context length is 4096 tokens. However, you requested 10 output tokens and your prompt \
             contains at least 4097 input tokens, for a total of at least 4107 tokens.",
            Some(4097),
            Some(10),
            Some(4096),
        ),
        (
            "",
            "The decoder prompt (length 21535) is longer than the maximum model length of 16384. Make sure that \
             `max_model_len` is no smaller than the number of text tokens.",
            Some(21_535),
            None,
            Some(16_384),
        ),
        (
            "",
            "The prompt (total length 25938) is too long to fit into the model (context length 4096).",
            Some(25_938),
            None,
            Some(4096),
        ),
        ("", "Input length (5000) exceeds model's maximum context length (4096).", Some(5000), None, Some(4096)),
        (
            "",
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 \
             tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
            Some(5000),
            None,
            Some(4096),
        ),
        (
            "BadRequestError",
            "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
            Some(5000),
            None,
            Some(4096),
        ),
        ("exceed_context_size_error", "", None, None, None),
        ("server_error", "Context size has been exceeded.", None, None, None),
        (
            "",
            "input is too large to process. increase the physical batch size (current batch size: 512)",
            None,
            None,
            None,
        ),
        ("", "prompt too long; exceeded max context length by 200 tokens", None, None, None),
        ("", "the input length exceeds the context length", None, None, None),
        ("", "input exceeds maximum context length", None, None, None),
        (
            "tokens_limit_reached",
            "Request body too large for gpt-4o model. Max size: 8000 tokens.",
            None,
            None,
            Some(8000),
        ),
        (
            "context_length_exceeded",
            "This model's maximum context length is 128,000 tokens, however you requested 128,500 tokens (128,000 in your \
             prompt; 500 for the completion). Please reduce your prompt; or completion length.",
            Some(128_500),
            None,
            Some(128_000),
        ),
        ("", "prompt token count of 150000 exceeds the limit of 128000", Some(150_000), None, Some(128_000)),
        (
            "ValidationException",
            "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. \
             Please update the input to try again.",
            None,
            None,
            None,
        ),
        ("", "too many total text bytes: 9000000 > 6000000", None, None, None),
        (
            "",
            "Malformed input request: expected maxLength: 50000, actual: 60000, please reformat your input and try again.",
            None,
            None,
            None,
        ),
        (
            "rate_limit_exceeded",
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 31538. The \
             input or output tokens must be reduced in order to run successfully.",
            Some(31_538),
            None,
            Some(30_000),
        ),
        (
            "string_above_max_length",
            "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string \
             with length 10554423 instead.",
            None,
            None,
            None,
        ),
        ("array_above_max_length", "Invalid 'messages': array too long.", None, None, None),
        ("", "invalid params, context window exceeds limit (2013)", None, None, None),
        ("", "Invalid request: Your request exceeded model token limit: 131072", None, None, Some(131_072)),
    ];

    #[test]
    fn every_providers_words_for_overflow_are_understood() {
        for &(code, message, input_tokens, reply_tokens, limit_tokens) in TEXTS {
            let figures = OverflowFigures { input_tokens, reply_tokens, limit_tokens };
            assert_eq!(Refusal::recognise(code, message), Some(Refusal::Overflow(figures)), "{message}");
        }
    }

    #[test]
    fn bound_thinking_is_understood() {
        let message = "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                       conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \
                       \"drop_block\".";
        assert_eq!(Refusal::recognise("invalid_request_error", message), Some(Refusal::BoundThinking));
    }

    #[test]
    fn other_refusals_are_neither() {
        for message in [
            "messages: at least one message is required",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
            "No tool output found for function call call_1.",
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
            "This request would exceed your organization's rate limit. Please try again later.",
            "Too many tokens, please wait before trying again.",
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens, whereas you provided 5000.",
            "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
        ] {
            assert_eq!(Refusal::recognise("invalid_request_error", message), None, "{message}");
        }
    }
}
