//! The `usage` object of the Responses API.

use serde_json::{Value, json};

use crate::provider::Usage;

pub(super) fn object(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.read, "cache_write_tokens": usage.written()},
        "output_tokens": usage.output(),
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": usage.input + usage.output(),
    })
}
