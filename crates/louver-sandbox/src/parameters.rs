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
    Refusal::if_any(bad_reply_length(format, request))
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

/// A bound on the reply that a request names.
struct Asked<'a> {
    field: &'static str,
    value: &'a Value,
}

/// All such bounds; a null is none.
fn asked(format: Format, body: &Value) -> Vec<Asked<'_>> {
    let fields: &[&'static str] = match format {
        Format::Anthropic => &["max_tokens"],
        Format::OpenAiChat => &["max_completion_tokens", "max_tokens"],
        Format::OpenAiResponses => &["max_output_tokens"],
        Format::Gemini => return gemini_asked(body).into_iter().collect(),
    };
    let named = |field: &&'static str| Some(Asked { field, value: body.get(*field).filter(|value| !value.is_null())? });
    fields.iter().filter_map(named).collect()
}

fn gemini_asked(body: &Value) -> Option<Asked<'_>> {
    let config = body.get("generationConfig").or_else(|| body.get("generation_config"))?;
    let value = config.get("maxOutputTokens").or_else(|| config.get("max_output_tokens"))?;
    (!value.is_null()).then_some(Asked { field: "maxOutputTokens", value })
}

/// The least that may be asked for. Anthropic takes 0: such a request only warms the cache.
fn least_output(format: Format) -> u64 {
    match format {
        Format::Anthropic => 0,
        Format::OpenAiChat | Format::Gemini => 1,
        Format::OpenAiResponses => 16,
    }
}

/// The most tokens that an answer to this request has: what it asks for, or else what its model writes.
pub(crate) fn most_output(format: Format, request: &Request) -> u64 {
    let named = asked(format, &request.body).into_iter().filter_map(|asked| asked.value.as_u64()).min();
    named.unwrap_or(models::find(&request.model).max_output)
}

fn bad_reply_length(format: Format, request: &Request) -> Option<Violation> {
    let most = models::find(&request.model).max_output;
    asked(format, &request.body).iter().find_map(|asked| {
        let message = match asked.value.as_i64() {
            None => not_an_integer(format, asked),
            Some(tokens) if tokens < 0 || tokens.unsigned_abs() < least_output(format) => {
                too_short(format, asked, most)
            }
            Some(tokens) if tokens.unsigned_abs() > most => too_long(format, asked, most, &request.model),
            Some(_) => return None,
        };
        Some(Violation::invalid(asked.field, message))
    })
}

fn not_an_integer(format: Format, Asked { field, value }: &Asked<'_>) -> String {
    match format {
        Format::Anthropic => format!("{field}: Input should be a valid integer"),
        Format::OpenAiChat | Format::OpenAiResponses => {
            format!("Invalid type for '{field}': expected an integer, but got {value} instead.")
        }
        Format::Gemini => {
            format!("Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), {value}")
        }
    }
}

fn too_short(format: Format, asked: &Asked<'_>, most: u64) -> String {
    let (Asked { field, value }, least) = (asked, least_output(format));
    match format {
        Format::Anthropic => format!("{field}: Input should be greater than or equal to {least}"),
        Format::OpenAiChat | Format::OpenAiResponses => {
            format!(
                "Invalid '{field}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
            )
        }
        Format::Gemini => out_of_range(value, most),
    }
}

fn too_long(format: Format, Asked { field, value }: &Asked<'_>, most: u64, model: &str) -> String {
    match format {
        Format::Anthropic => {
            format!("max_tokens: {value} > {most}, which is the maximum allowed number of output tokens for {model}")
        }
        Format::OpenAiChat => format!(
            "max_tokens is too large: {value}. This model supports at most {most} completion tokens, whereas you provided \
             {value}."
        ),
        Format::OpenAiResponses => {
            format!(
                "Invalid '{field}': integer above maximum value. Expected a value <= {most}, but got {value} instead."
            )
        }
        Format::Gemini => out_of_range(value, most),
    }
}

fn out_of_range(value: &Value, most: u64) -> String {
    format!(
        "Unable to submit request because it has a maxOutputTokens value of {value} but the supported range is from 1 \
         (inclusive) to {} (exclusive). Update the value and try again.",
        most + 1
    )
}
