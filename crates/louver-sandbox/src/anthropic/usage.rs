//! The `usage` object of the Messages API.

use serde_json::{Value, json};

use crate::provider::Usage;

/// `input_tokens` is only what was neither read from the cache nor written to it.
pub(super) fn object(usage: &Usage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.input - usage.read - usage.written(),
        "cache_creation_input_tokens": usage.written(),
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written_short,
            "ephemeral_1h_input_tokens": usage.written_long,
        },
        "output_tokens": output_tokens,
        "service_tier": "standard",
    })
}

/// The same at the end of an answer.
pub(super) fn total(usage: &Usage) -> Value {
    let mut object = object(usage, usage.output());
    object["output_tokens_details"] = json!({"thinking_tokens": usage.thinking});
    object
}
