//! A whole input: a request body, a wrapper, or a bare list of messages.

use super::detect::detect;
use super::{Format, Message, Part, PartKind, Role, Shape};
use crate::json::{Cursor, JsonError, Kind, Span};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A request's thinking setting, as far as it decides what is legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Not said, disabled or adaptive.
    #[default]
    Unset,
    /// Manual thinking: the last open tool turn must start with a thinking block.
    Enabled,
}

/// A request body of any format, a wrapper with `format` and `messages`, or a bare list of messages.
///
/// It keeps the input's text, so that everything a plan leaves alone goes out as it came in.
///
/// ```
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"{"model": "gpt-5", "messages": [ {"role": "user", "content": "Hi"} ]}"#, None)?;
/// assert_eq!(body.format(), Format::OpenAiChat);
/// assert_eq!(body.model(), Some("gpt-5"));
/// assert_eq!(body.messages().len(), 1);
/// # Ok::<(), louver::json::JsonError>(())
/// ```
///
/// ```
/// use louver::wire::Thinking;
/// use louver::{Body, Format};
///
/// let text = r#"{"model":"claude-sonnet-5-5","max_tokens":900,"system":"Be brief.","messages":[{"role":"user","content":"Hi"}]}"#;
/// let body = Body::parse_bytes(text.as_bytes(), None)?;
/// assert_eq!((body.format(), body.is_ambiguous(), body.is_server_side()), (Format::Anthropic, false, false));
/// assert_eq!((body.model(), body.max_output(), body.thinking()), (Some("claude-sonnet-5-5"), Some(900), Thinking::Unset));
/// assert_eq!((body.system_texts(), body.tools_json()), (vec!["Be brief.".into()], None));
/// assert_eq!((body.history_path(), body.history().messages.len()), ("$.messages", 1));
/// // What stays goes out byte for byte.
/// assert_eq!(body.render(body.messages().iter().map(|message| (Some(0), message.raw()))), body.text());
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    text: Arc<String>,
    format: Format,
    is_ambiguous: bool,
    history: Found,
    around: Around,
}

/// Names histories that may begin with a message.
type Known<'k> = &'k mut dyn FnMut(&Message) -> Vec<Vec<Arc<Message>>>;

/// What a request says around its history.
#[derive(Clone, Debug, Default)]
struct Around {
    model: Option<String>,
    max_output: Option<u64>,
    system: Option<Range<usize>>,
    tools: Option<Range<usize>>,
    cache_marks: u32,
    thinking: Thinking,
    is_server_side: bool,
    session: Option<String>,
}

impl Body {
    /// Reads an input. With a format given this is one pass; without, detection first reads as far as the first thing
    /// that only one format has.
    ///
    /// # Errors
    ///
    /// Text that is not JSON or not a history of the format, with path and byte offset.
    pub fn parse(text: &str, format: Option<Format>) -> Result<Self, JsonError> {
        let known = format.map_or_else(|| detect(text), |format| Ok(Some(format)))?;
        let (format, is_ambiguous) = (known.unwrap_or(Format::OpenAiChat), known.is_none());
        Self::read(&Arc::new(text.to_owned()), format, is_ambiguous, &mut |_| Vec::new())
    }

    /// Reads an input that may go on where earlier ones ended. `known` is shown the first message and names histories of
    /// the same format that may begin like this one. A message that stands here as at the same place of one of them is
    /// taken over; only the others are read and copied. The text itself is kept, not copied.
    ///
    /// ```
    /// use louver::{Body, Format};
    /// use std::sync::Arc;
    ///
    /// let text = |more: &str| format!(r#"{{"messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":"Ho"}}{more}]}}"#);
    /// let before = Body::parse(&text(""), Some(Format::Anthropic))?;
    /// let now = Arc::new(text(r#",{"role":"user","content":"So?"}"#));
    /// let body = Body::parse_known(&now, Format::Anthropic, &mut |_| vec![before.messages().to_vec()])?;
    /// assert!(Arc::ptr_eq(&body.messages()[1], &before.messages()[1]));
    /// assert_eq!(body.messages()[2].raw(), r#"{"role":"user","content":"So?"}"#);
    /// # Ok::<(), louver::JsonError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_known(text: &Arc<String>, format: Format, known: Known<'_>) -> Result<Self, JsonError> {
        Self::read(text, format, false, known)
    }

    fn read(text: &Arc<String>, format: Format, is_ambiguous: bool, known: Known<'_>) -> Result<Self, JsonError> {
        let mut reader = Reader { format, known, found: None, around: Around::default() };
        let mut cursor = Cursor::new(text);
        match cursor.kind()? {
            Kind::Array => reader.found = Some(read_list(format, "$", &mut cursor, reader.known)?),
            Kind::Object => reader.read_object(&mut cursor)?,
            _ => return Err(cursor.unexpected("a list of messages or a request body")),
        }
        cursor.finish()?;
        let Some(history) = reader.found else {
            return Err(JsonError::shape(format!("no `{}` list in this object", format.history_key()), 0));
        };
        Ok(Self { text: Arc::clone(text), format, is_ambiguous, history, around: reader.around })
    }

    /// Reads an input that may not be text.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse), and bytes that are not UTF-8.
    pub fn parse_bytes(bytes: &[u8], format: Option<Format>) -> Result<Self, JsonError> {
        let text = std::str::from_utf8(bytes).map_err(|error| JsonError::not_utf8(&error))?;
        Self::parse(text, format)
    }

    /// The format it was read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether nothing told the formats apart, so that it was read as Chat Completions.
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// The history.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.history.messages
    }

    /// The input as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The JSON path of the history, such as `$.messages`.
    pub fn history_path(&self) -> &'static str {
        self.history.path
    }

    /// The model it names.
    pub fn model(&self) -> Option<&str> {
        self.around.model.as_deref()
    }

    /// The reply length it asks for.
    pub fn max_output(&self) -> Option<u64> {
        self.around.max_output
    }

    /// Its thinking setting.
    pub fn thinking(&self) -> Thinking {
        self.around.thinking
    }

    /// What the client calls its session or user, where the body says it: `prompt_cache_key` or `metadata.user_id`.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.around.session.as_deref()
    }

    /// Whether part of the history is kept by the provider (`previous_response_id`, `conversation`, item references),
    /// so that nothing may be left out here.
    pub fn is_server_side(&self) -> bool {
        self.around.is_server_side
            || self.history.messages.iter().any(|message| message.shape().has(PartKind::Reference))
    }

    /// The texts of the system prompt that stands outside the history.
    pub fn system_texts(&self) -> Vec<Cow<'_, str>> {
        let Some(span) = self.around.system.clone() else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        // The span was passed once already, so this cannot fail.
        let _ = collect_texts(&mut Cursor::new(&self.text[span]), &mut texts);
        texts
    }

    /// The system prompt that stands outside the history, as it is written.
    #[must_use]
    pub fn system_raw(&self) -> Option<&str> {
        self.around.system.clone().map(|span| &self.text[span])
    }

    /// The tool definitions, as they are written.
    #[must_use]
    pub fn tools_raw(&self) -> Option<&str> {
        self.around.tools.clone().map(|span| &self.text[span])
    }

    /// The tool definitions as compact JSON.
    pub fn tools_json(&self) -> Option<Cow<'_, str>> {
        self.around.tools.clone().map(|span| crate::json::text::compact(&self.text[span]))
    }

    /// The history as a provider would judge it.
    pub fn history(&self) -> super::History<'_> {
        super::History {
            messages: self.history.messages.iter().map(Arc::as_ref).collect(),
            outer_cache_marks: self.around.cache_marks,
            thinking: self.around.thinking,
        }
    }

    /// The same input with another history. `sent` says for each message which one of the input it stands for, if any;
    /// the white space between messages is kept with the message it stood before.
    pub fn render<'a>(&self, sent: impl IntoIterator<Item = (Option<usize>, &'a str)>) -> String {
        if !self.text[self.history.list.start..].starts_with('[') {
            return self.text.to_string();
        }
        let mut text = String::with_capacity(self.text.len());
        text.push_str(&self.text[..self.history.list.start + 1]);
        let mut is_first = true;
        for (origin, raw) in sent {
            text.push_str(&self.gap(origin, is_first));
            text.push_str(raw);
            is_first = false;
        }
        let tail_start = self.history.elements.last().map_or(self.history.list.start + 1, |last| last.end);
        text.push_str(&self.text[tail_start..]);
        text
    }

    /// What stands before a message: the input's own white space, and a comma for all but the first.
    fn gap(&self, origin: Option<usize>, is_first: bool) -> Cow<'_, str> {
        let before = |index: usize| {
            let start = index
                .checked_sub(1)
                .map_or(self.history.list.start + 1, |previous| self.history.elements[previous].end);
            &self.text[start..self.history.elements[index].start]
        };
        match origin {
            _ if self.history.elements.is_empty() => Cow::Borrowed(if is_first { "" } else { "," }),
            _ if is_first => Cow::Borrowed(before(0)),
            Some(index) if (1..self.history.elements.len()).contains(&index) => Cow::Borrowed(before(index)),
            _ if self.history.elements.len() > 1 => Cow::Borrowed(before(1)),
            _ => Cow::Owned(format!(",{}", before(0))),
        }
    }
}

/// The history, and where it was found.
#[derive(Clone, Debug)]
struct Found {
    /// `$`, `$.messages`, `$.input` or `$.contents`.
    path: &'static str,
    /// Its JSON array, brackets included.
    list: Range<usize>,
    /// Where each message stands in the text.
    elements: Vec<Range<usize>>,
    messages: Vec<Arc<Message>>,
}

struct Reader<'k> {
    format: Format,
    known: Known<'k>,
    found: Option<Found>,
    around: Around,
}

impl Reader<'_> {
    fn read_object(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        cursor.object(|key, cursor| match self.history_path(key, cursor.kind()?) {
            Some(path) => {
                self.found = Some(read_history(self.format, path, cursor, self.known)?);
                Ok(())
            }
            None => self.around.read(key, cursor),
        })
    }

    /// A wrapper calls every format's history `messages`; a request uses the format's own key.
    fn history_path(&self, key: &str, kind: Kind) -> Option<&'static str> {
        let own = self.format.history_key();
        let is_wrapped = kind == Kind::Array && key == "messages" && self.found.is_none();
        if key == own { Some(path_of(own)) } else { is_wrapped.then(|| path_of("messages")) }
    }
}

fn path_of(key: &'static str) -> &'static str {
    match key {
        "messages" => "$.messages",
        "input" => "$.input",
        _ => "$.contents",
    }
}

fn read_history(
    format: Format,
    path: &'static str,
    cursor: &mut Cursor<'_>,
    known: Known<'_>,
) -> Result<Found, JsonError> {
    if format == Format::OpenAiResponses && cursor.kind()? == Kind::String {
        return read_input_string(path, cursor);
    }
    read_list(format, path, cursor, known)
}

fn read_list(
    format: Format,
    path: &'static str,
    cursor: &mut Cursor<'_>,
    known: Known<'_>,
) -> Result<Found, JsonError> {
    cursor.expect(Kind::Array)?;
    let wire = format.wire();
    let text = cursor.source();
    let list_start = cursor.offset();
    let mut elements = Vec::new();
    let mut messages: Vec<Arc<Message>> = Vec::new();
    let mut histories = Vec::new();
    cursor.array(|index, cursor| {
        let start = cursor.rebase();
        let rest = &text[start..];
        // A message is an object, which ends with itself: where it stands, nothing else can.
        let is_here = |message: &&Arc<Message>| rest.starts_with(message.raw()) && rest.starts_with('{');
        let taken = histories.iter().find_map(|known: &Vec<Arc<Message>>| known.get(index).filter(is_here)).cloned();
        let message = match taken {
            Some(message) => {
                cursor.pass_over(message.raw().len());
                message
            }
            None => {
                let shape = (wire.shape)(cursor)?;
                Arc::new(Message::new(&text[start..cursor.offset()], shape))
            }
        };
        if index == 0 {
            histories = known(&message);
        }
        messages.push(message);
        elements.push(start..cursor.offset());
        Ok(())
    })?;
    Ok(Found { path, list: list_start..cursor.offset(), elements, messages })
}

/// Responses takes a bare string for one user message.
fn read_input_string(path: &'static str, cursor: &mut Cursor<'_>) -> Result<Found, JsonError> {
    let start = cursor.rebase();
    let string = cursor.string()?;
    let end = cursor.offset();
    let span = Span { start: 0, end: string.span.end };
    let part = Part { text: span, chars: string.chars, ..Part::new(PartKind::Text, span) };
    let shape =
        Shape { role: Role::User, parts: Box::new([part]), estimate_chars: u64::from(string.chars), cache_marks: 0 };
    let message = Arc::new(Message::new(&cursor.source()[start..end], shape));
    // There is no list to render into: the history is its one message, which no policy leaves out.
    Ok(Found { path, list: start..end, elements: Vec::new(), messages: vec![message] })
}

impl Around {
    /// Reads what is of use around the history and passes everything else.
    fn read(&mut self, key: &str, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        let kind = cursor.kind()?;
        self.is_server_side |=
            matches!(key, "previous_response_id" | "conversation") && matches!(kind, Kind::String | Kind::Object);
        self.cache_marks += u32::from(key == "cache_control" && kind == Kind::Object);
        match (key, kind) {
            ("model", Kind::String) => self.model = Some(cursor.text()?.into_owned()),
            ("max_tokens" | "max_completion_tokens" | "max_output_tokens", Kind::Number) => {
                self.read_max_output(cursor)?;
            }
            ("generationConfig" | "generation_config", Kind::Object) => self.read_generation(cursor)?,
            ("thinking", Kind::Object) => self.read_thinking(cursor)?,
            ("prompt_cache_key", Kind::String) => self.session = Some(cursor.text()?.into_owned()),
            ("metadata", Kind::Object) => self.read_metadata(cursor)?,
            (_, Kind::Null) => drop(cursor.skip()?),
            ("system" | "instructions" | "systemInstruction" | "system_instruction", _) => {
                self.system = Some(self.pass_marked(cursor)?);
            }
            ("tools", _) => self.tools = Some(self.pass_marked(cursor)?),
            _ => drop(cursor.skip()?),
        }
        Ok(())
    }

    /// Passes a value that may carry cache marks, and says where it stands.
    fn pass_marked(&mut self, cursor: &mut Cursor<'_>) -> Result<Range<usize>, JsonError> {
        let start = cursor.offset();
        self.cache_marks += pass_counting_marks(cursor)?;
        Ok(start..cursor.offset())
    }

    fn read_max_output(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        let start = cursor.offset();
        cursor.skip()?;
        self.max_output = cursor.source()[start..cursor.offset()].parse().ok();
        Ok(())
    }

    /// Gemini has its figures apart.
    fn read_generation(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        cursor.object(|key, cursor| {
            if matches!(key, "maxOutputTokens" | "max_output_tokens") && cursor.kind()? == Kind::Number {
                return self.read_max_output(cursor);
            }
            cursor.skip().map(drop)
        })
    }

    fn read_metadata(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        cursor.object(|key, cursor| {
            if key == "user_id" && cursor.kind()? == Kind::String {
                self.session = Some(cursor.text()?.into_owned());
                return Ok(());
            }
            cursor.skip().map(drop)
        })
    }

    fn read_thinking(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        cursor.object(|key, cursor| {
            if key == "type" && cursor.kind()? == Kind::String {
                if cursor.text()? == "enabled" {
                    self.thinking = Thinking::Enabled;
                }
                return Ok(());
            }
            cursor.skip().map(drop)
        })
    }
}

/// Passes a list of blocks (or anything else) and counts the blocks that carry a cache mark.
fn pass_counting_marks(cursor: &mut Cursor<'_>) -> Result<u32, JsonError> {
    if cursor.kind()? != Kind::Array {
        return cursor.skip().map(|_| 0);
    }
    let mut marks = 0;
    cursor.array(|_, cursor| {
        if cursor.kind()? != Kind::Object {
            return cursor.skip().map(drop);
        }
        cursor.object(|key, cursor| {
            marks += u32::from(key == "cache_control" && cursor.kind()? != Kind::Null);
            cursor.skip().map(drop)
        })
    })?;
    Ok(marks)
}

/// A bare string, or every `text` inside blocks and parts.
fn collect_texts<'a>(cursor: &mut Cursor<'a>, texts: &mut Vec<Cow<'a, str>>) -> Result<(), JsonError> {
    match cursor.kind()? {
        Kind::String => texts.push(cursor.text()?),
        Kind::Array => cursor.array(|_, cursor| collect_texts(cursor, texts))?,
        Kind::Object => cursor.object(|key, cursor| match key {
            "text" | "parts" | "content" => collect_texts(cursor, texts),
            _ => cursor.skip().map(drop),
        })?,
        _ => drop(cursor.skip()?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Body, Format, Message};
    use std::sync::Arc;

    const LIST: [&str; 4] = [
        r#"{"role":"user","content":"a"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"}]"}]}"#,
        r#"{"role":"assistant","content":"z"}"#,
    ];

    fn message(raw: &str) -> Arc<Message> {
        Arc::new(Message::parse(Format::Anthropic, raw).unwrap())
    }

    fn known_of(raws: &[&str]) -> Vec<Arc<Message>> {
        raws.iter().map(|raw| message(raw)).collect()
    }

    fn parse_known(text: &str, known: &[Vec<Arc<Message>>]) -> Result<Body, crate::json::JsonError> {
        Body::parse_known(&Arc::new(text.to_owned()), Format::Anthropic, &mut |_| known.to_vec())
    }

    #[test]
    fn what_is_known_is_read_as_if_it_were_not() {
        let text = format!(r#"{{"model":"m", "messages" : [ {} ],"metadata":{{"user_id":"u"}}}}"#, LIST.join(" ,\n"));
        let read = Body::parse(&text, Some(Format::Anthropic)).unwrap();
        let other = message(r#"{"role":"user","content":"another"}"#);
        for place in 0..LIST.len() {
            let mut changed = known_of(&LIST);
            changed[place] = Arc::clone(&other);
            let mut longer = known_of(&LIST);
            longer.insert(place, Arc::clone(&other));
            for known in [changed, longer, known_of(&LIST[..place]), Vec::new()] {
                let body = parse_known(&text, &[Vec::new(), known.clone()]).unwrap();
                assert_eq!(body.messages(), read.messages());
                assert_eq!((body.model(), body.session()), (Some("m"), Some("u")));
                let sent = || LIST.iter().enumerate().skip(1).map(|(index, raw)| (Some(index), *raw));
                assert_eq!(body.render(sent()), read.render(sent()));
                let taken = |index: usize| known.get(index).is_some_and(|known| known.raw() == LIST[index]);
                for index in 1..LIST.len() {
                    let is_taken = known.get(index).is_some_and(|known| Arc::ptr_eq(known, &body.messages()[index]));
                    assert_eq!(is_taken, taken(index), "{index}");
                }
            }
        }
    }

    #[test]
    fn what_stands_behind_what_is_known_is_still_checked() {
        let known = [known_of(&LIST)];
        for end in ["x]}", "{}]}", "]", "]}}", ",]}", ""] {
            let text = format!(r#"{{"messages":[{}{end}"#, LIST.join(","));
            assert!(parse_known(&text, &known).is_err(), "{end}");
        }
    }
}
