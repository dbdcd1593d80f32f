use serde_json::Value;

use crate::anthropic::ANTHROPIC;
use crate::gemini::GEMINI;
use crate::openai_chat::OPENAI_CHAT;
use crate::openai_responses::OPENAI_RESPONSES;
use crate::{Format, Violation};

/// Names every history rule that a request body breaks, in the order of the history.
///
/// This is the whole of what can be said about a body alone: no server, no clock, no memory of earlier answers. The
/// running sandbox asks more (keys, required fields, signatures, the context limit) but never less. An empty list
/// means that the history is legal; what `wire.md` calls advice is never named.
///
/// The rules, by format:
///
/// | format | rules |
/// |---|---|
/// | `anthropic` | `no-messages`, `first-not-user`, `empty-content`, `blank-text`, `tool-use-without-result`, `tool-result-without-use`, `tool-result-not-first`, `too-many-cache-marks`, `thinking-misplaced`, `server-tool-without-result`, `system-misplaced` |
/// | `openai-chat` | `no-messages`, `calls-without-results`, `result-without-call` |
/// | `openai-responses` | `call-without-output`, `output-without-call`, `reasoning-without-item` |
/// | `gemini` | `no-messages`, `first-not-user`, `empty-parts`, `call-out-of-place`, `response-out-of-place`, `response-count`, `bad-role` |
///
/// Calls and results are paired by position: a result answers the message right before it, even where neighbours have
/// the same role, and ids may repeat. A call at the very end of a history is unanswered in every format. In the
/// Responses format an output finds the earliest unanswered call of its kind and id; a server-side search without a
/// `call_id` needs no output.
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
    let provider = match format {
        Format::Anthropic => &ANTHROPIC,
        Format::OpenAiChat => &OPENAI_CHAT,
        Format::OpenAiResponses => &OPENAI_RESPONSES,
        Format::Gemini => &GEMINI,
    };
    (provider.judge)(body)
}
