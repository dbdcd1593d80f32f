//! Assistant turns out of a recorded conversation of any format.

use serde::Deserialize;
use serde_json::Value;

use super::{Call, ScenarioError, Turn};
use crate::Format;
use crate::body::{is_missing, items, text};

#[derive(Deserialize)]
struct Wrapper {
    format: Format,
    messages: Vec<Value>,
}

/// The assistant turns of a recording, in order; neighbouring assistant messages are one turn.
pub(super) fn turns(wrapper: &Value) -> Result<Vec<Turn>, ScenarioError> {
    let wrapper = Wrapper::deserialize(wrapper)?;
    let mut turns: Vec<Turn> = Vec::new();
    let mut in_turn = false;
    for message in &wrapper.messages {
        let Some(part) = assistant_part(wrapper.format, message) else {
            in_turn = false;
            continue;
        };
        match turns.last_mut().filter(|_| in_turn) {
            Some(turn) => merge(turn, part),
            None => turns.push(part),
        }
        in_turn = true;
    }
    turns.retain(|turn| turn.text.is_some() || !turn.calls.is_empty());
    Ok(turns)
}

fn assistant_part(format: Format, message: &Value) -> Option<Turn> {
    match format {
        Format::Anthropic => (text(message, "role") == "assistant").then(|| anthropic(message)),
        Format::OpenAiChat => (text(message, "role") == "assistant").then(|| openai_chat(message)),
        Format::OpenAiResponses => openai_responses(message),
        Format::Gemini => (text(message, "role") == "model").then(|| gemini(message)),
    }
}

fn merge(turn: &mut Turn, part: Turn) {
    turn.thinking = joined(turn.thinking.take(), part.thinking);
    turn.text = joined(turn.text.take(), part.text);
    turn.calls.extend(part.calls);
}

fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}\n{second}")),
        (first, second) => first.or(second),
    }
}

fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn anthropic(message: &Value) -> Turn {
    let mut turn = Turn { text: filled(text(message, "content")), ..Turn::default() };
    for block in items(message, "content") {
        let part = match text(block, "type") {
            "text" => Turn { text: filled(text(block, "text")), ..Turn::default() },
            "thinking" => Turn { thinking: filled(text(block, "thinking")), ..Turn::default() },
            "tool_use" => Turn::calls([Call::new(text(block, "name"), block["input"].clone())]),
            _ => continue,
        };
        merge(&mut turn, part);
    }
    turn
}

fn openai_chat(message: &Value) -> Turn {
    let calls = items(message, "tool_calls").iter().filter_map(|call| call.get("function")).map(function_call);
    Turn { text: said(message), ..Turn::calls(calls) }
}

/// What a message says: a string, or the texts of its parts.
fn said(message: &Value) -> Option<String> {
    let parts = items(message, "content").iter().map(|part| filled(text(part, "text")));
    parts.fold(filled(text(message, "content")), joined)
}

/// Arguments that are no JSON stay the string they are.
fn function_call(function: &Value) -> Call {
    let arguments = text(function, "arguments");
    let parsed = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
    Call::new(text(function, "name"), parsed)
}

fn openai_responses(item: &Value) -> Option<Turn> {
    match text(item, "type") {
        "reasoning" => Some(Turn::default()),
        "function_call" => Some(Turn::calls([function_call(item)])),
        "custom_tool_call" => Some(Turn::calls([Call::new(text(item, "name"), item["input"].clone())])),
        "" | "message" if text(item, "role") == "assistant" => Some(Turn { text: said(item), ..Turn::default() }),
        _ => None,
    }
}

fn gemini(content: &Value) -> Turn {
    let mut turn = Turn::default();
    for part in items(content, "parts") {
        if let Some(call) = part.get("functionCall") {
            turn.calls.push(Call::new(text(call, "name"), call["args"].clone()));
        } else if !is_missing(part, "text") {
            let said = filled(text(part, "text"));
            let is_thought = part["thought"] == Value::Bool(true);
            let slot = if is_thought { &mut turn.thinking } else { &mut turn.text };
            *slot = joined(slot.take(), said);
        }
    }
    turn
}
