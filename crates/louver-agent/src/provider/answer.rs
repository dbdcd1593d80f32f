//! What a model answered.

use crate::usage::Usage;
use louver::JsonError;
use louver::wire::{Format, Message, PartKind};
use serde_json::Value;

/// One whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What belongs into the log, in the provider's format and words. Empty where the model said nothing at all.
    pub messages: Vec<Message>,
    /// What it said to the user.
    pub text: String,
    /// The tools it calls, in order.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What was billed.
    pub usage: Usage,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, or the text that should have been JSON.
    pub arguments: Result<Value, String>,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It had said what it wanted to say.
    EndOfTurn,
    /// It waits for the results of its calls.
    ToolUse,
    /// The reply was as long as it may be.
    MaxTokens,
    /// The context window was full before the reply was done.
    WindowFull,
    /// It declined.
    Refusal,
    /// Anything else, in the provider's word.
    Other(String),
}

impl StopReason {
    /// What a provider's word for it means; the APIs share none that means two things.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "end_turn" | "stop_sequence" | "stop" => Self::EndOfTurn,
            "tool_use" | "tool_calls" | "function_call" => Self::ToolUse,
            "max_tokens" | "length" => Self::MaxTokens,
            "model_context_window_exceeded" => Self::WindowFull,
            "refusal" | "content_filter" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Answer {
    /// Reads what there is to know from the raw messages.
    pub(crate) fn read(format: Format, raw: &[String], stop: StopReason, usage: Usage) -> Result<Self, JsonError> {
        let messages: Vec<Message> =
            raw.iter().map(|raw| Message::parse(format, raw)).collect::<Result<_, JsonError>>()?;
        let text: Vec<String> = messages.iter().flat_map(texts).collect();
        let calls = calls_of(&messages);
        Ok(Self { text: text.join("\n"), calls, messages, stop, usage })
    }
}

/// The tool calls in some messages, in order.
pub(crate) fn calls_of<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<ToolCall> {
    messages.into_iter().flat_map(calls).collect()
}

fn texts(message: &Message) -> Vec<String> {
    let parts = message.shape().parts.iter().filter(|part| part.kind == PartKind::Text && !part.nested && !part.blank);
    parts.map(|part| message.text_of(part).into_owned()).collect()
}

fn calls(message: &Message) -> Vec<ToolCall> {
    let call = |part: &louver::wire::Part| ToolCall {
        id: message.id_of(part).into_owned(),
        name: message.name_of(part).into_owned(),
        arguments: arguments(&message.text_of(part)),
    };
    message.shape().parts_of(PartKind::ToolCall).map(call).collect()
}

/// Models leave the arguments out where a tool has none.
pub(crate) fn arguments(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(text).map_err(|_| text.to_owned())
}
