//! Results of tool calls in a format's own shape.

use crate::provider::ToolCall;
use crate::tools::ToolOutput;
use louver::{Format, JsonError, Message};
use serde_json::{Value, json};

/// The messages that answer all calls of one turn: one for Anthropic, one per call elsewhere.
///
/// # Errors
///
/// Only if the engine cannot read what is written here, which tests rule out.
pub(crate) fn messages(format: Format, answered: &[(&ToolCall, &ToolOutput)]) -> Result<Vec<Message>, JsonError> {
    let result = |(call, output): &(&ToolCall, &ToolOutput)| match format {
        Format::Anthropic => block(call, output),
        Format::OpenAiResponses => {
            json!({"type": "function_call_output", "call_id": call.id, "output": said(output)})
        }
        // No provider here speaks Gemini; its results would need names instead of ids.
        Format::OpenAiChat | Format::Gemini => {
            json!({"role": "tool", "tool_call_id": call.id, "content": said(output)})
        }
    };
    let mut written: Vec<Value> = answered.iter().map(result).collect();
    if format == Format::Anthropic {
        written = vec![json!({"role": "user", "content": written})];
    }
    written.iter().map(|value| Message::parse(format, &value.to_string())).collect()
}

fn block(call: &ToolCall, output: &ToolOutput) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": call.id, "content": output.text});
    if output.is_error {
        block["is_error"] = json!(true);
    }
    block
}

/// Where the format has no place for it, the text says that something failed.
fn said(output: &ToolOutput) -> String {
    if output.is_error { format!("Error: {}", output.text) } else { output.text.clone() }
}
