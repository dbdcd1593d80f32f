//! The `usageMetadata` object of the `generateContent` API.

use serde_json::{Value, json};

use crate::provider::Usage;

/// Usage after so many tokens of the visible answer; it grows with every chunk of a stream.
pub(super) fn object(usage: &Usage, candidate_tokens: u64) -> Value {
    let mut object = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": candidate_tokens,
        "totalTokenCount": usage.input + candidate_tokens + usage.thinking,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    });
    if usage.read > 0 {
        object["cachedContentTokenCount"] = json!(usage.read);
        object["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.read}]);
    }
    if usage.thinking > 0 {
        object["thoughtsTokenCount"] = json!(usage.thinking);
    }
    object
}
