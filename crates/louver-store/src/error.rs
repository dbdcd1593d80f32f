//! What can go wrong.

use std::fmt;
use std::sync::Arc;

/// Why the store could not do what was asked. Nothing was half-written.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use louver_store::SqliteStore;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("notes.txt");
/// std::fs::write(&path, "This is no database, but long enough to be taken for one. ".repeat(20)).unwrap();
/// let error = SqliteStore::open(&path).unwrap_err();
/// assert!(error.is_corrupt() && !error.is_transient());
/// # }
/// ```
#[derive(Clone)]
pub struct Error {
    kind: Kind,
    message: Arc<str>,
    is_unclear: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// What kind of trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Somebody else writes, for longer than we wait.
    Busy,
    /// There is no room for more.
    Full,
    /// The disk or the file system failed.
    Io,
    /// The file or its folder may not be written.
    ReadOnly,
    /// The file is no store, or a damaged one.
    Corrupt,
    /// The file is not where it was.
    Gone,
    /// A later version of Louver made the file.
    NewerSchema,
    /// What was given is larger than what is kept.
    TooLarge,
    /// What was given makes no sense.
    Invalid,
    /// The store was closed.
    Closed,
    /// Anything else.
    Other,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into().into(), is_unclear: false, source: None }
    }

    /// The same, of something that may have been done all the same.
    #[cfg(feature = "postgres")]
    pub(crate) fn unclear(self) -> Self {
        Self { is_unclear: true, ..self }
    }

    pub(crate) fn caused_by(self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { source: Some(Arc::new(source)), ..self }
    }

    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether what was to be done may have been done all the same: no answer came from a server that had been told. Only
    /// asking again tells.
    #[must_use]
    pub fn is_unclear(&self) -> bool {
        self.is_unclear
    }

    /// Whether the same call may succeed later without anybody repairing the store: it is locked, the disk is full or
    /// fails.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, Kind::Busy | Kind::Full | Kind::Io)
    }

    /// Whether another process wrote for longer than the busy timeout.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.kind == Kind::Busy
    }

    /// Whether there is no room for more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kind == Kind::Full
    }

    /// Whether the store may not be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.kind == Kind::ReadOnly
    }

    /// Whether the file is no store, or a damaged one.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        self.kind == Kind::Corrupt
    }

    /// Whether the file is not there, or no longer the one that was opened.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.kind == Kind::Gone
    }

    /// Whether a later version of Louver made the store.
    #[must_use]
    pub fn is_newer_schema(&self) -> bool {
        self.kind == Kind::NewerSchema
    }

    /// Whether what was given is larger than what is kept.
    #[must_use]
    pub fn is_too_large(&self) -> bool {
        self.kind == Kind::TooLarge
    }

    /// Whether the call itself made no sense.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.kind == Kind::Invalid
    }

    /// Whether the store was closed before.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Closed
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Error");
        shown.field("kind", &self.kind).field("message", &self.message).field("source", &self.source).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}
