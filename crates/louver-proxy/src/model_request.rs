//! What a brain sees of a request.

use crate::request_headers::RequestHeaders;
use bytes::Bytes;
use louver::Format;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A request to a model: it carries a history.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Where it goes.
    pub upstream: UpstreamName,
    /// The wire format of its history.
    pub format: Format,
    /// The model, where the path names it; elsewhere it stands in the body.
    pub path_model: Option<String>,
    /// What it is for, as far as path and headers say.
    pub purpose: Purpose,
    /// Which new cuts are allowed.
    pub mode: Mode,
    /// Whose request it is.
    pub reader: Reader,
    /// Its headers, credentials hidden.
    pub headers: RequestHeaders,
    /// Its body, decoded. Nobody has checked that it is JSON.
    pub body: Bytes,
    /// The same memory, where it is UTF-8.
    pub(crate) text: Option<Arc<String>>,
}

/// The name of a configured upstream.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UpstreamName(Arc<str>);

impl UpstreamName {
    /// A name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UpstreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a model request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An answer.
    Generate,
    /// A count of its tokens: it gets the recorded view, decides and records nothing.
    CountTokens,
    /// A summary of the history, as path or headers say. Where only the body says it, this is
    /// [`Generate`](Self::Generate).
    Summarise,
}

/// Which new cuts are allowed; recorded ones hold in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Keep conversations inside the window.
    #[default]
    Keep,
    /// Decide and account, but apply nothing new.
    Observe,
    /// Touch only what would be or was refused.
    Rescue,
    /// No new cuts.
    Off,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Keep, Self::Observe, Self::Rescue, Self::Off];

    /// The name on the command line, in configuration and in `x-louver-mode`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Observe => "observe",
            Self::Rescue => "rescue",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no mode's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode `{0}`: expected keep, observe, rescue or off")]
pub struct UnknownMode(pub String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownMode(name.to_owned()))
    }
}

/// Who may read what a request puts into the archive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// Whoever has the access token of this name.
    Token(Arc<str>),
    /// The user whose process the proxy is.
    LocalUser,
}
