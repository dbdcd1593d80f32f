use serde_json::Value;

use crate::{Format, Violation, anthropic, gemini, openai_chat, openai_responses};

/// Names every history rule that a request body breaks, in the order of the history.
///
/// This is the whole of what can be said about a body alone: no server, no clock, no memory of earlier answers. The
/// running sandbox asks more (keys, required fields, signatures, the context limit) but never less. An empty list
/// means that the history is legal; what `wire.md` calls advice is never named.
///
/// Cost: one walk over the body.
///
/// ```
/// use louver_sandbox::{Format, judge};
/// use serde_json::json;
///
/// let body = json!({"messages": [
///     {"role": "user", "content": "read it"},
///     {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}]},
///     {"role": "user", "content": "well?"},
/// ]});
/// let violations = judge(Format::Anthropic, &body);
/// assert_eq!(violations.len(), 1);
/// assert_eq!(violations[0].rule, "tool-use-without-result");
/// assert_eq!(violations[0].path, "messages.1");
/// ```
#[must_use]
pub fn judge(format: Format, body: &Value) -> Vec<Violation> {
    match format {
        Format::Anthropic => anthropic::judge(body),
        Format::OpenAiChat => openai_chat::judge(body),
        Format::OpenAiResponses => openai_responses::judge(body),
        Format::Gemini => gemini::judge(body),
    }
}
