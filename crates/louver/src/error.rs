//! Everything that can go wrong with a window, in one type.

use crate::budget::NothingLeft;
use crate::json::JsonError;
use crate::plan::Overflow;
use crate::policy::SettingsError;
use crate::wire::Format;
use std::sync::Arc;

/// Why a window could not be made, pushed to, fitted or opened.
///
/// ```
/// use louver::{Format, Window};
///
/// let error = Window::for_model(Format::OpenAiChat, "gpt-5").reply(10_000_000).context_window(1_000).build().unwrap_err();
/// assert!(matches!(error, louver::Error::Budget(_)));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Text that is not JSON, or not a message of the format.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Settings that the policy cannot work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A reply reserve that leaves no room.
    #[error(transparent)]
    Budget(#[from] NothingLeft),
    /// A history that cannot be made to fit.
    #[error(transparent)]
    Overflow(#[from] Overflow),
    /// A value that cannot be written as JSON.
    #[error("this value is no message: {0}")]
    Serialize(#[source] Arc<serde_json::Error>),
    /// A frame that is no request without its history.
    #[error("the frame cannot be used: {0}")]
    Frame(#[from] FrameError),
    /// A record of another log.
    #[error("this record does not belong to this log: {0}")]
    Record(#[from] RecordError),
}

/// Why a frame cannot be used.
///
/// ```
/// use louver::{Error, Format, FrameError, Window};
///
/// let frame = serde_json::json!({ "messages": [{ "role": "user", "content": "Hi" }] });
/// let refused = Window::for_model(Format::OpenAiChat, "gpt-5").frame(&frame).build();
/// assert!(matches!(refused, Err(Error::Frame(FrameError::HasMessages))));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// It cannot be written as JSON.
    #[error(transparent)]
    Serialize(Arc<serde_json::Error>),
    /// It is no request of the format.
    #[error(transparent)]
    NoRequest(JsonError),
    /// A frame is a request without its history.
    #[error("it has messages of its own")]
    HasMessages,
}

/// Why a record does not belong to a log.
///
/// ```
/// use louver::window::{Log, WindowConfig};
/// use louver::{Error, Format, PolicyKind, Record, RecordError, Window};
///
/// let window = Window::new(WindowConfig::new(Format::Gemini, PolicyKind::Everything))?;
/// let refused = Log::of_records(Format::OpenAiChat, window.records_since(0));
/// assert!(matches!(refused, Err(Error::Record(RecordError::OtherFormat { .. }))));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It was written in another wire format.
    #[error("it is of format {recorded}, not {expected}")]
    OtherFormat {
        /// The record's.
        recorded: Format,
        /// The window's.
        expected: Format,
    },
    /// A later version wrote it.
    #[error("it is of version {recorded}, and up to {known} can be read")]
    LaterVersion {
        /// The record's.
        recorded: u32,
        /// The newest that can be read.
        known: u32,
    },
    /// It lets messages leave that are not there.
    #[error("messages leave that are not there")]
    NothingToLeave,
    /// It changes a message that is not there, or makes none of it.
    #[error("a message is changed that is not there, or into none")]
    NothingToChange,
    /// One of our own messages cannot be read, or stands nowhere.
    #[error("a message of our own is none, or stands nowhere")]
    NoPlace,
    /// A summary covers messages that are not there.
    #[error("a summary covers messages that are not there")]
    NothingToCover,
    /// A summary arrives that nobody asked for.
    #[error("nobody asked for the summary {job}")]
    NobodyAsked {
        /// What it answers.
        job: u64,
    },
}
