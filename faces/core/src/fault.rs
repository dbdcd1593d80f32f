//! What can go wrong, as a face's exceptions say it.

use louver::plan::Overflow;
use louver::trim::TrimError;
use louver::{Error, JsonError};
use std::fmt::Display;

/// What a face refuses to do, and what it knows about it.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Text that cannot be read, or a value that is no message.
    Input {
        /// One sentence, with the path.
        message: String,
        /// Where, such as `$.messages[3].content`.
        path: String,
        /// The same in bytes, where there was a text.
        offset: Option<usize>,
    },
    /// Settings that nothing can be done with.
    Settings(String),
    /// A setting that does not exist, or is of another type.
    Usage(String),
    /// A history that cannot be made to fit.
    Overflow(Overflow),
    /// Records that are not of this window.
    Record(String),
}

impl Fault {
    /// Settings that nothing can be done with.
    pub fn settings(error: impl Display) -> Self {
        Self::Settings(error.to_string())
    }

    /// A line that is no record.
    pub fn record(error: impl Display) -> Self {
        Self::Record(format!("this is no record: {error}"))
    }

    /// The same fault in the message that stands at this place of a list.
    pub(crate) fn in_message(error: &JsonError, index: usize) -> Self {
        let place = |text: &str| text.replacen('$', &format!("$[{index}]"), 1);
        Self::Input { message: place(&error.to_string()), path: place(&error.path()), offset: Some(error.offset()) }
    }
}

impl From<&JsonError> for Fault {
    fn from(error: &JsonError) -> Self {
        Self::Input { message: error.to_string(), path: error.path(), offset: Some(error.offset()) }
    }
}

impl From<TrimError> for Fault {
    fn from(error: TrimError) -> Self {
        match error {
            TrimError::Overflow(error) => Self::Overflow(error),
            other => Self::settings(other),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Json(error) => Self::from(&error),
            Error::Overflow(error) => Self::Overflow(error),
            Error::Record(_) => Self::Record(error.to_string()),
            _ => Self::settings(error),
        }
    }
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input { message, .. } | Self::Settings(message) | Self::Usage(message) | Self::Record(message) => {
                formatter.write_str(message)
            }
            Self::Overflow(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Fault {}
