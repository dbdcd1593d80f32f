//! The `usage` object of the Chat Completions API.

use serde_json::{Value, json};

use crate::provider::Usage;

pub(super) fn object(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output(),
        "total_tokens": usage.input + usage.output(),
        "prompt_tokens_details": {
            "cached_tokens": usage.read,
            "cache_write_tokens": usage.written(),
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.thinking,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
