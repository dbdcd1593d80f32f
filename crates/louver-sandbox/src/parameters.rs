//! What a request says beside its history: fields and models that an API does not know, and the most that a model writes.

use serde_json::Value;

use crate::provider::Request;
use crate::refusal::Refusal;
use crate::{Format, Violation, models};

const ANTHROPIC: &[&str] = &[
    "cache_control",
    "compaction",
    "container",
    "context_management",
    "fallbacks",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

const OPENAI_CHAT: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

const OPENAI_RESPONSES: &[&str] = &[
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Spelled without underscores and capitals: the API takes both `systemInstruction` and `system_instruction`.
const GEMINI: &[&str] = &[
    "cachedcontent",
    "contents",
    "generatecontentrequest",
    "generationconfig",
    "labels",
    "model",
    "safetysettings",
    "servicetier",
    "store",
    "systeminstruction",
    "toolconfig",
    "tools",
];

/// Refuses what the real API refuses beside the history.
pub(crate) fn check(format: Format, request: &Request, any_model: bool) -> Result<(), Refusal> {
    Refusal::if_any(unknown_field(format, &request.body))?;
    if !any_model && !models::is_known(format, &request.model) {
        return Err(Refusal::UnknownModel { model: request.model.clone() });
    }
    Refusal::if_any(too_long_reply(format, request))
}

fn unknown_field(format: Format, body: &Value) -> Option<Violation> {
    let is_known = |field: &str| match format {
        Format::Anthropic => ANTHROPIC.contains(&field),
        Format::OpenAiChat => OPENAI_CHAT.contains(&field),
        Format::OpenAiResponses => OPENAI_RESPONSES.contains(&field),
        Format::Gemini => GEMINI.contains(&field.replace('_', "").to_ascii_lowercase().as_str()),
    };
    let field = body.as_object()?.keys().find(|field| !is_known(field))?;
    let message = match format {
        Format::Anthropic => format!("{field}: Extra inputs are not permitted"),
        Format::OpenAiChat => format!("Unrecognized request argument supplied: {field}"),
        Format::OpenAiResponses => format!("Unknown parameter: '{field}'."),
        Format::Gemini => format!("Invalid JSON payload received. Unknown name \"{field}\": Cannot find field."),
    };
    Some(Violation::invalid(field, message))
}

/// Gemini writes as much as it can, whatever is asked for.
fn too_long_reply(format: Format, request: &Request) -> Option<Violation> {
    let fields: &[&'static str] = match format {
        Format::Anthropic => &["max_tokens"],
        Format::OpenAiChat => &["max_completion_tokens", "max_tokens"],
        Format::OpenAiResponses => &["max_output_tokens"],
        Format::Gemini => &[],
    };
    let most = models::find(&request.model).max_output;
    let asked = |field: &'static str| Some((field, request.body.get(field)?.as_u64()?));
    let (field, asked) = fields.iter().copied().filter_map(asked).find(|(_, asked)| *asked > most)?;
    let message = match format {
        Format::Anthropic => format!(
            "max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {}",
            request.model
        ),
        Format::OpenAiChat => format!(
            "max_tokens is too large: {asked}. This model supports at most {most} completion tokens, whereas you provided \
             {asked}."
        ),
        Format::OpenAiResponses | Format::Gemini => format!(
            "Invalid '{field}': integer above maximum value. Expected a value <= {most}, but got {asked} instead."
        ),
    };
    Some(Violation::invalid(field, message))
}
