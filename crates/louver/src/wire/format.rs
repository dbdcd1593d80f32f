//! The names of the formats.

use std::fmt;
use std::str::FromStr;

/// A provider's wire format.
///
/// ```
/// use louver::{Format, Role};
///
/// assert_eq!(Format::ALL.map(Format::name), ["anthropic", "openai-chat", "openai-responses", "gemini"]);
/// assert_eq!((Format::Gemini.history_key(), "gemini".parse()), ("contents", Ok(Format::Gemini)));
/// assert_eq!(Format::Gemini.wire().write(Role::Assistant, "Hi"), r#"{"role":"model","parts":[{"text":"Hi"}]}"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Format {
    /// Anthropic Messages: `messages`.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI Chat Completions: `messages`.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI Responses: `input` items.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Gemini: `contents`.
    #[serde(rename = "gemini")]
    Gemini,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }

    /// The key of a request body that holds the history.
    pub fn history_key(self) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenAiChat => "messages",
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no format's.
///
/// ```
/// assert!("openai".parse::<louver::Format>().unwrap_err().to_string().starts_with("unknown format `openai`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`: expected anthropic, openai-chat, openai-responses or gemini")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
