//! Which format is this?

use super::Format;
use crate::json::{Cursor, JsonError, Kind};

/// Reads as far as the first thing that only one format has. A plain conversation has none and is read to its end;
/// where nothing tells the formats apart, there is none.
pub(super) fn detect(text: &str) -> Result<Option<Format>, JsonError> {
    let mut cursor = Cursor::new(text);
    let mut evidence = Evidence::default();
    let walked = match cursor.kind()? {
        Kind::Array => walk_list(&mut cursor, &mut evidence),
        Kind::Object => cursor.object(|key, cursor| walk_member(key, cursor, &mut evidence)),
        _ => return Err(cursor.unexpected("a list of messages or a request body")),
    };
    match walked {
        Err(error) if evidence.certain.is_none() => Err(error),
        _ => Ok(evidence.verdict()),
    }
}

/// Signs by strength: what the history itself shows, or a wrapper says, beats what stands around it.
#[derive(Default)]
struct Evidence {
    certain: Option<Format>,
    hinted: Option<Format>,
    is_empty: bool,
}

impl Evidence {
    fn verdict(&self) -> Option<Format> {
        self.certain.or(self.hinted).or(self.is_empty.then_some(Format::OpenAiChat))
    }

    /// Takes note of what only one format has, which ends the walk by an error that nobody sees.
    fn settle(&mut self, format: Option<Format>, cursor: &Cursor<'_>) -> Result<(), JsonError> {
        self.certain = format;
        if format.is_some() { Err(JsonError::shape("found", cursor.offset())) } else { Ok(()) }
    }
}

fn walk_list(cursor: &mut Cursor<'_>, evidence: &mut Evidence) -> Result<(), JsonError> {
    evidence.is_empty = true;
    cursor.array(|index, cursor| {
        evidence.is_empty = false;
        let format = message_evidence(index, cursor)?;
        evidence.settle(format, cursor)
    })
}

fn walk_member(key: &str, cursor: &mut Cursor<'_>, evidence: &mut Evidence) -> Result<(), JsonError> {
    match (key, cursor.kind()?) {
        ("contents", Kind::Array) => return evidence.settle(Some(Format::Gemini), cursor),
        ("input", Kind::Array | Kind::String) => return evidence.settle(Some(Format::OpenAiResponses), cursor),
        ("messages", Kind::Array) => return walk_list(cursor, evidence),
        ("format", Kind::String) => {
            let named = cursor.text()?.parse().ok();
            return evidence.settle(named, cursor);
        }
        ("model", Kind::String) => {
            evidence.hinted = evidence.hinted.or(model_hint(&cursor.text()?));
            return Ok(());
        }
        ("tools", Kind::Array) => {
            evidence.hinted = tools_hint(cursor)?.or(evidence.hinted);
            return Ok(());
        }
        ("system" | "anthropic_version" | "stop_sequences", _) => evidence.hinted = Some(Format::Anthropic),
        ("max_completion_tokens" | "stream_options" | "response_format" | "n", _) => {
            evidence.hinted = Some(Format::OpenAiChat);
        }
        _ => {}
    }
    cursor.skip().map(drop)
}

fn model_hint(model: &str) -> Option<Format> {
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.starts_with("claude") {
        return Some(Format::Anthropic);
    }
    ["gpt-", "o1", "o3", "o4", "chatgpt"].iter().any(|prefix| name.starts_with(prefix)).then_some(Format::OpenAiChat)
}

fn tools_hint(cursor: &mut Cursor<'_>) -> Result<Option<Format>, JsonError> {
    let mut hint = None;
    cursor.array(|_, cursor| {
        if cursor.kind()? != Kind::Object {
            return cursor.skip().map(drop);
        }
        cursor.object(|key, cursor| {
            match key {
                "input_schema" => hint = Some(Format::Anthropic),
                "function" => hint = Some(Format::OpenAiChat),
                _ => {}
            }
            cursor.skip().map(drop)
        })
    })?;
    Ok(hint)
}

/// What one message shows. Passes the message.
fn message_evidence(index: usize, cursor: &mut Cursor<'_>) -> Result<Option<Format>, JsonError> {
    if cursor.kind()? != Kind::Object {
        return Err(cursor.unexpected("a message object"));
    }
    let mut shown = None;
    let mut has_role = false;
    let mut item_type = None;
    cursor.object(|key, cursor| {
        let kind = cursor.kind()?;
        match (key, kind) {
            ("parts", Kind::Array) => shown = Some(Format::Gemini),
            ("tool_calls" | "tool_call_id" | "function_call", _) if kind != Kind::Null => {
                shown = Some(Format::OpenAiChat)
            }
            ("role", Kind::String) => {
                has_role = true;
                shown = shown.or(role_evidence(index, &cursor.text()?));
                return Ok(());
            }
            ("type", Kind::String) => {
                item_type = Some(cursor.text()?.into_owned());
                return Ok(());
            }
            ("content", Kind::Array) => {
                shown = shown.or(content_evidence(cursor)?);
                return Ok(());
            }
            _ => {}
        }
        cursor.skip().map(drop)
    })?;
    let is_item = item_type.is_some_and(|name| !has_role || name == "message");
    Ok(if is_item { Some(Format::OpenAiResponses) } else { shown })
}

fn role_evidence(index: usize, role: &str) -> Option<Format> {
    match role {
        "model" => Some(Format::Gemini),
        "tool" | "function" => Some(Format::OpenAiChat),
        "system" | "developer" if index == 0 => Some(Format::OpenAiChat),
        _ => None,
    }
}

fn content_evidence(cursor: &mut Cursor<'_>) -> Result<Option<Format>, JsonError> {
    let mut shown = None;
    cursor.array(|_, cursor| {
        if cursor.kind()? != Kind::Object {
            return cursor.skip().map(drop);
        }
        cursor.object(|key, cursor| {
            if key == "type" && cursor.kind()? == Kind::String {
                shown = shown.or(part_evidence(&cursor.text()?));
                return Ok(());
            }
            cursor.skip().map(drop)
        })
    })?;
    Ok(shown)
}

fn part_evidence(part_type: &str) -> Option<Format> {
    match part_type {
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use" | "image" | "document" => {
            Some(Format::Anthropic)
        }
        "image_url" | "input_audio" | "file" | "refusal" => Some(Format::OpenAiChat),
        "input_text" | "output_text" | "input_image" | "input_file" => Some(Format::OpenAiResponses),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::detect;
    use crate::wire::Format;

    #[test]
    fn each_format_is_known_by_what_only_it_has() {
        let cases = [
            (
                r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""}]}]"#,
                Format::Anthropic,
            ),
            (r#"{"messages":[{"role":"user","content":"hi"}],"model":"claude-sonnet-5-5"}"#, Format::Anthropic),
            (r#"{"messages":[{"role":"user","content":"hi"}],"system":"be brief"}"#, Format::Anthropic),
            (r#"[{"role":"system","content":"x"},{"role":"user","content":"hi"}]"#, Format::OpenAiChat),
            (r#"[{"role":"assistant","tool_calls":[]}]"#, Format::OpenAiChat),
            (r#"{"input":"hi"}"#, Format::OpenAiResponses),
            (r#"[{"type":"reasoning","summary":[]}]"#, Format::OpenAiResponses),
            (r#"[{"type":"message","role":"user","content":"hi"}]"#, Format::OpenAiResponses),
            (r#"[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]"#, Format::OpenAiResponses),
            (r#"{"contents":[]}"#, Format::Gemini),
            (r#"[{"role":"user","parts":[{"text":"hi"}]}]"#, Format::Gemini),
            (
                r#"{"messages":[{"role":"user","content":"hi"}],"model":"claude-x","format":"openai-chat"}"#,
                Format::OpenAiChat,
            ),
            ("[]", Format::OpenAiChat),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text), Ok(Some(format)), "{text}");
        }
    }

    #[test]
    fn plain_words_alone_tell_nothing() {
        let text = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
        assert_eq!(detect(text), Ok(None));
    }
}
