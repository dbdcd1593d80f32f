//! What a message is made of, format by format in the same words.

use crate::json::Span;

/// Who speaks.
///
/// ```
/// assert_eq!(louver::Role::Assistant.name(), "assistant");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the application.
    System,
    /// The same, as newer OpenAI models call it.
    Developer,
    /// The person, or in Anthropic and Gemini also the results of tools.
    User,
    /// The model (`assistant`, `model`, and the Responses items that a model produces).
    Assistant,
    /// The result of a tool, where the format has a role or an item for it.
    Tool,
}

impl Role {
    /// The role's name in our own output.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// What a part is.
///
/// ```
/// use louver::wire::{MediaKind, PartKind};
/// use louver::{Format, Message};
///
/// let raw = r#"{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#;
/// let message = Message::parse(Format::Gemini, raw)?;
/// assert_eq!(message.shape().parts[0].kind, PartKind::Media(MediaKind::Image));
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// Text to read.
    Text,
    /// The model asks the client to run a tool.
    ToolCall,
    /// What the client's tool answered.
    ToolResult,
    /// The model uses a tool that the provider runs and whose result stands in the same message.
    ServerToolCall,
    /// The result of such a tool.
    ServerToolResult,
    /// Thinking, readable or not: `thinking`, `redacted_thinking`, `reasoning`, thoughts.
    Thinking,
    /// An image, sound, document or other file.
    Media(MediaKind),
    /// A provider's own compaction of what came before, which the model no longer sees. It has to come back byte for
    /// byte. One that failed, and so stands for nothing, is [`Other`](Self::Other).
    Compaction,
    /// A pointer to something that only the provider has.
    Reference,
    /// Anything else; it is kept and counted, never edited.
    Other,
}

/// What a media part holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// Sound or video.
    Audio,
    /// A document or another file.
    Document,
}

/// One part of a message: a content block, a tool call, an item's payload.
///
/// Parts of a tool result that holds parts of its own follow it directly and are `nested`. The result's own `chars`
/// are then 0: every character is counted once, at the part that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// The whole JSON value of the part. Where the message's content is a bare string, that string.
    pub span: Span,
    /// The JSON value that the model reads: text, arguments, a result. For media the string that holds the data or
    /// the address. Empty where there is nothing to read.
    pub text: Span,
    /// Between its quotes: the tool's name, or the media type of a media part.
    pub name: Span,
    /// Between its quotes: the id that pairs a call with its result.
    pub id: Span,
    /// Between its quotes: the part's own id where it has one besides the pairing id (Responses items).
    pub own_id: Span,
    /// Characters that the model reads: the text's and the tool name's. 0 for media, signatures and encrypted content.
    pub chars: u32,
    /// Whether it stands inside the tool result before it.
    pub nested: bool,
    /// Whether a text part has nothing but white space.
    pub blank: bool,
    /// Whether a tool result says that the tool failed.
    pub is_error: bool,
}

impl Part {
    /// A part of this kind at `span`, with nothing else known.
    pub fn new(kind: PartKind, span: Span) -> Self {
        let none = Span::default();
        Self {
            kind,
            span,
            text: none,
            name: none,
            id: none,
            own_id: none,
            chars: 0,
            nested: false,
            blank: false,
            is_error: false,
        }
    }
}

/// What the engine knows of a message.
///
/// ```
/// use louver::wire::PartKind;
/// use louver::{Format, Message};
///
/// let raw = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"},{"type":"text","text":"And now?"}]}"#;
/// let message = Message::parse(Format::Anthropic, raw)?;
/// let shape = message.shape();
/// assert!(shape.is_request() && !shape.is_from_model() && !shape.is_instruction());
/// assert!(shape.begins_with(PartKind::ToolResult) && shape.ends_in(PartKind::Text) && !shape.has(PartKind::Thinking));
/// assert_eq!((shape.parts_of(PartKind::Text).count(), shape.chars()), (1, 10));
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Who speaks.
    pub role: Role,
    /// Its parts in order, nested ones after the part that holds them.
    pub parts: Box<[Part]>,
    /// The characters of the seeds' estimate: a string's own, or those of the compact JSON of anything else.
    pub estimate_chars: u64,
    /// How many of its blocks carry a cache mark.
    pub cache_marks: u32,
}

impl Shape {
    /// Characters that the model reads.
    pub fn chars(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.chars)).sum()
    }

    /// Whether the model produced it.
    pub fn is_from_model(&self) -> bool {
        self.role == Role::Assistant
    }

    /// Whether the application instructs the model here. Tools that a history itself carries (Responses:
    /// `additional_tools`) are the application's too, whatever role their item names.
    pub fn is_instruction(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }

    /// Whether the user says something here, tool results apart.
    pub fn is_request(&self) -> bool {
        self.role == Role::User && self.parts.iter().any(|part| part.kind == PartKind::Text && !part.nested)
    }

    /// Whether its first part is of this kind.
    pub fn begins_with(&self, kind: PartKind) -> bool {
        self.parts.first().is_some_and(|part| part.kind == kind)
    }

    /// Whether its last part, nested ones included, is of this kind.
    pub fn ends_in(&self, kind: PartKind) -> bool {
        self.parts.last().is_some_and(|part| part.kind == kind)
    }

    /// The parts of one kind, nested ones included.
    pub fn parts_of(&self, kind: PartKind) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.kind == kind)
    }

    /// Whether there is a part of this kind.
    pub fn has(&self, kind: PartKind) -> bool {
        self.parts.iter().any(|part| part.kind == kind)
    }
}
