use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of the four wire formats that the sandbox speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1/chat/completions`.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// `POST /v1/responses`.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// `POST /v1beta/models/MODEL:generateContent`.
    Gemini,
}

impl Format {
    /// All formats, in the order in which they are documented.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }

    /// The field of a request body that holds the history.
    ///
    /// ```
    /// use louver_sandbox::Format;
    ///
    /// assert_eq!(Format::Gemini.history_field(), "contents");
    /// ```
    pub const fn history_field(self) -> &'static str {
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

/// A format name that is none of the four.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; expected anthropic, openai-chat, openai-responses or gemini")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
