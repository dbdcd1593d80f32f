//! The models that each API lists.

use serde_json::{Value, json};

use crate::Format;
use crate::models::{self, Model};

const CREATED: &str = "2026-01-01T00:00:00Z";
const CREATED_SECONDS: u64 = 1_767_225_600;

/// The models of an API: `GET /v1/models`, `GET /v1beta/models`.
pub(crate) fn all(format: Format) -> Value {
    let listed = |prefix| -> Vec<Value> {
        models::listed(prefix).map(|model| described(format, &model.prefix, model)).collect()
    };
    match format {
        Format::Anthropic => {
            let models = listed("claude");
            let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
            json!({"first_id": id(models.first()), "last_id": id(models.last()), "has_more": false, "data": models})
        }
        Format::OpenAiChat | Format::OpenAiResponses => json!({"object": "list", "data": listed("gpt")}),
        Format::Gemini => json!({"models": listed("gemini")}),
    }
}

/// One model, if its name is one of the API's.
pub(crate) fn one(format: Format, id: &str) -> Option<Value> {
    models::is_known(format, id).then(|| described(format, id, models::find(id)))
}

fn described(format: Format, id: &str, model: &Model) -> Value {
    match format {
        Format::Anthropic => json!({
            "type": "model",
            "id": id,
            "display_name": id,
            "created_at": CREATED,
            "max_input_tokens": model.context_window,
            "max_tokens": model.max_output,
        }),
        Format::OpenAiChat | Format::OpenAiResponses => {
            json!({"id": id, "object": "model", "created": CREATED_SECONDS, "owned_by": "openai"})
        }
        Format::Gemini => json!({
            "name": format!("models/{id}"),
            "displayName": id,
            "inputTokenLimit": model.context_window,
            "outputTokenLimit": model.max_output,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }),
    }
}
