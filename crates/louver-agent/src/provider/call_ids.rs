//! Ids of tool calls that the API takes back.

use super::Answer;
use louver::wire::{Part, PartKind};
use louver::{Format, JsonError, Message};
use std::collections::HashSet;

/// The ids of the calls in some messages.
pub(crate) fn call_ids<'a>(messages: impl IntoIterator<Item = &'a Message>) -> impl Iterator<Item = String> {
    let of = |message: &'a Message| {
        message.shape().parts_of(PartKind::ToolCall).map(|part| message.id_of(part).into_owned()).collect::<Vec<_>>()
    };
    messages.into_iter().flat_map(of)
}

impl Answer {
    /// The same with an id of its own for every call. Some servers leave ids empty or use them again; a request that holds
    /// such a call is refused, or its results are mixed up.
    pub(crate) fn with_own_ids(mut self, format: Format, used: &HashSet<String>) -> Result<Self, JsonError> {
        let mut taken = HashSet::new();
        let mut calls = self.calls.iter_mut();
        for message in &mut self.messages {
            let mut renamed = Vec::new();
            for part in message.shape().parts_of(PartKind::ToolCall) {
                let id = message.id_of(part);
                let is_free = |id: &str| !used.contains(id) && !taken.contains(id);
                let own =
                    if is_good(format, &id) && is_free(&id) { id.into_owned() } else { new_id(used.len(), is_free) };
                if let Some(call) = calls.next().filter(|call| call.id != own) {
                    call.id.clone_from(&own);
                    renamed.push((*part, own.clone()));
                }
                taken.insert(own);
            }
            if !renamed.is_empty() {
                *message = Message::parse(format, &with_ids(format, message.raw(), &renamed))?;
            }
        }
        Ok(self)
    }
}

/// Whether the API takes such an id at all.
fn is_good(format: Format, id: &str) -> bool {
    let is_plain = || id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    !id.is_empty() && (format != Format::Anthropic || is_plain())
}

/// The first free one. Nine letters and digits: the strictest server takes nothing else.
fn new_id(from: usize, is_free: impl Fn(&str) -> bool) -> String {
    (from..).map(|number| format!("call{number:05}")).find(|id| is_free(id)).unwrap_or_default()
}

/// A message with other ids in some of its calls, and every other byte as it was.
fn with_ids(format: Format, raw: &str, renamed: &[(Part, String)]) -> String {
    let mut text = raw.to_owned();
    for (part, id) in renamed.iter().rev() {
        if part.id.start > 0 {
            text.replace_range(part.id.start as usize..part.id.end as usize, id);
        } else {
            let key = if format == Format::OpenAiResponses { "call_id" } else { "id" };
            let end = part.span.end as usize - 1;
            text.insert_str(end, &format!(",\"{key}\":\"{id}\""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::*;
    use crate::usage::Usage;

    fn renamed(format: Format, raw: &str, used: &[&str]) -> (String, Vec<String>) {
        let answer = Answer::read(format, &[raw.to_owned()], StopReason::ToolUse, Usage::default()).unwrap();
        let used = used.iter().map(|id| (*id).to_owned()).collect();
        let answer = answer.with_own_ids(format, &used).unwrap();
        (answer.messages[0].raw().to_owned(), answer.calls.into_iter().map(|call| call.id).collect())
    }

    #[test]
    fn good_ids_stay_byte_for_byte() {
        let raw =
            r#"{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]}"#;
        assert_eq!(renamed(Format::Anthropic, raw, &["toolu_2"]), (raw.to_owned(), vec!["toolu_1".to_owned()]));
    }

    #[test]
    fn a_call_without_any_id_gets_one() {
        let raw = r#"{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"id":"","function":{"name":"f","arguments":"{}"}}]}"#;
        let (raw, ids) = renamed(Format::OpenAiChat, raw, &["call00001"]);
        assert_eq!(ids, ["call00002", "call00003"]);
        assert_eq!(call_ids([&Message::parse(Format::OpenAiChat, &raw).unwrap()]).collect::<Vec<_>>(), ids);
        let raw = r#"{"type":"function_call","name":"f","arguments":"{}"}"#;
        let (raw, ids) = renamed(Format::OpenAiResponses, raw, &[]);
        assert_eq!(raw, format!(r#"{{"type":"function_call","name":"f","arguments":"{{}}","call_id":"{}"}}"#, ids[0]));
    }
}
