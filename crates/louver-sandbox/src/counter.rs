use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Tokens that one image, audio clip or document counts for, whatever its size.
const MEDIA_TOKENS: u64 = 1_600;

/// Fields that the model never sees as text, or that only say what kind of block it is.
const UNSEEN_FIELDS: [&str; 17] = [
    "type",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "role",
    "status",
    "cache_control",
    "prompt_cache_breakpoint",
    "signature",
    "encrypted_content",
    "thoughtSignature",
    "thought",
    "is_error",
    "phase",
    "annotations",
    // What a client library noted down for itself, often once more what stands elsewhere.
    "provider_specific_fields",
];

/// Fields whose value is media, by any provider's name for it.
const MEDIA_FIELDS: [&str; 7] = ["source", "image_url", "file", "input_audio", "inlineData", "fileData", "inline_data"];

/// Counts the tokens of model-visible text.
///
/// The rule of the default counter: Unicode scalar values of the text that the model sees, divided by four, rounded up
/// once per block. A block is a tool definition, a system block, or one content block of a message. Seen are texts, tool
/// names, arguments and results; objects that are neither (arguments, schemas) count as their compact JSON. Ids, roles, signatures and
/// encrypted content count nothing, and every image or file counts 1,600.
///
/// ```
/// use louver_sandbox::Counter;
///
/// assert_eq!(Counter::chars4().text("Hello world"), 3);
/// assert_eq!(Counter::new(|text| text.split_whitespace().count() as u64).text("Hello world"), 2);
/// ```
#[derive(Clone)]
pub struct Counter {
    text: Arc<dyn Fn(&str) -> u64 + Send + Sync>,
}

impl Counter {
    /// A counter of the caller's own.
    pub fn new(text: impl Fn(&str) -> u64 + Send + Sync + 'static) -> Self {
        Self { text: Arc::new(text) }
    }

    /// Characters divided by four, rounded up.
    pub fn chars4() -> Self {
        Self::new(|text| (text.chars().count() as u64).div_ceil(4))
    }

    /// Tokens of a text.
    pub fn text(&self, text: &str) -> u64 {
        (self.text)(text)
    }

    /// Tokens of one content block of any format.
    pub fn block(&self, block: &Value) -> u64 {
        let mut seen = Seen::default();
        seen.visit(block);
        self.text(&seen.text) + seen.media * MEDIA_TOKENS
    }

    /// Tokens of something that the model sees as its JSON: a tool definition, a schema.
    pub fn json(&self, value: &Value) -> u64 {
        self.text(&value.to_string())
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::chars4()
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}

/// What a model sees of one block.
#[derive(Default)]
struct Seen {
    text: String,
    media: u64,
}

impl Seen {
    fn visit(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text.push_str(text),
            Value::Array(items) => items.iter().for_each(|item| self.visit(item)),
            Value::Object(fields) => fields.iter().for_each(|(name, field)| self.visit_field(name, field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn visit_field(&mut self, name: &str, field: &Value) {
        if UNSEEN_FIELDS.contains(&name) {
            return;
        }
        if MEDIA_FIELDS.contains(&name) && !field.is_null() {
            self.media += 1;
            return;
        }
        match name {
            "input" | "args" | "response" | "action" if field.is_object() => self.text.push_str(&field.to_string()),
            _ => self.visit(field),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_and_signatures_count_nothing() {
        let block = json!({"type": "thinking", "thinking": "12345678", "signature": "x".repeat(4000)});
        assert_eq!(Counter::chars4().block(&block), 2);
    }

    #[test]
    fn what_a_library_noted_for_itself_counts_nothing() {
        let noted = json!({"role": "assistant", "content": "1234", "provider_specific_fields": {"copy": "1234"}});
        assert_eq!(Counter::chars4().block(&noted), 1);
    }

    #[test]
    fn an_image_counts_the_same_whatever_its_size() {
        let image = |size: usize| json!({"type": "image", "source": {"type": "base64", "data": "A".repeat(size)}});
        assert_eq!(Counter::chars4().block(&image(10)), MEDIA_TOKENS);
        assert_eq!(Counter::chars4().block(&image(100_000)), MEDIA_TOKENS);
    }

    #[test]
    fn arguments_count_as_their_json() {
        let call = json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}});
        assert_eq!(Counter::chars4().block(&call), ("read".len() as u64 + r#"{"path":"a"}"#.len() as u64).div_ceil(4));
    }
}
