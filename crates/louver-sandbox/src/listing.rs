//! The models that each API lists.

use serde_json::{Value, json};

use crate::models::{self, Model};

const CREATED: &str = "2026-01-01T00:00:00Z";
const CREATED_SECONDS: u64 = 1_767_225_600;

fn anthropic_model(id: &str, model: &Model) -> Value {
    json!({
        "type": "model",
        "id": id,
        "display_name": id,
        "created_at": CREATED,
        "max_input_tokens": model.context_window,
        "max_tokens": model.max_output,
    })
}

fn openai_model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": CREATED_SECONDS, "owned_by": "openai"})
}

fn gemini_model(id: &str, model: &Model) -> Value {
    json!({
        "name": format!("models/{id}"),
        "displayName": id,
        "inputTokenLimit": model.context_window,
        "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

/// `GET /v1/models` with Anthropic's headers.
pub(crate) fn anthropic() -> Value {
    let models: Vec<Value> = models::listed("claude").map(|model| anthropic_model(&model.prefix, model)).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
    json!({"first_id": id(models.first()), "last_id": id(models.last()), "has_more": false, "data": models})
}

/// `GET /v1/models` without them.
pub(crate) fn openai() -> Value {
    let models: Vec<Value> = models::listed("gpt").map(|model| openai_model(&model.prefix)).collect();
    json!({"object": "list", "data": models})
}

/// `GET /v1beta/models`.
pub(crate) fn gemini() -> Value {
    let models: Vec<Value> = models::listed("gemini").map(|model| gemini_model(&model.prefix, model)).collect();
    json!({"models": models})
}

/// One model of Anthropic's, if the name is one of theirs.
pub(crate) fn anthropic_one(id: &str) -> Option<Value> {
    id.starts_with("claude").then(|| anthropic_model(id, models::find(id)))
}

/// One model of OpenAI's, if a row of the table is about it.
pub(crate) fn openai_one(id: &str) -> Option<Value> {
    (id.starts_with("gpt") || id.starts_with('o')).then(|| openai_model(id))
}

/// One model of Google's, if the name is one of theirs.
pub(crate) fn gemini_one(id: &str) -> Option<Value> {
    id.starts_with("gemini").then(|| gemini_model(id, models::find(id)))
}
