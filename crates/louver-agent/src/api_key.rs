//! A provider's key.

use crate::secrets::{self, HIDDEN};
use secrecy::{ExposeSecret, SecretString};
use std::path::{Path, PathBuf};

/// A provider's key: from the environment or a file, never from a command line or a configuration, never shown. Whatever
/// a tool prints, a state file keeps or a log says, goes without it from here on ([`redact`](crate::redact)).
///
/// ```
/// use louver_agent::ApiKey;
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(file.path(), "sk-very-secret\n")?;
/// let key = ApiKey::from_file(file.path())?;
/// assert_eq!(format!("{key:?}"), "ApiKey(***)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ApiKey(SecretString);

/// A key that could not be had. It names the place, never the key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} holds no key")]
    Missing(String),
    /// The file could not be read.
    #[error("cannot read the key file {path}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is empty, or what it holds cannot stand in a header.
    #[error("the key file {0} holds no key")]
    Empty(PathBuf),
}

impl ApiKey {
    /// The key in an environment variable.
    ///
    /// # Errors
    ///
    /// No such variable, or nothing in it that could be a key.
    pub fn from_env(variable: &str) -> Result<Self, KeyError> {
        let value = std::env::var(variable).ok();
        value.as_deref().and_then(Self::parse).ok_or_else(|| KeyError::Missing(variable.to_owned()))
    }

    /// The key in a file, white space around it aside.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or holds nothing that could be a key.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| KeyError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(&text).ok_or_else(|| KeyError::Empty(path.to_owned()))
    }

    /// The key of the sandbox, which accepts any: it protects nothing.
    pub fn sandbox() -> Self {
        Self(SecretString::from("sandbox"))
    }

    /// The key in a text that came from a safe place, white space around it aside; nothing if it cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let key = is_key.then(|| SecretString::from(text))?;
        secrets::keep(&key);
        Some(Self(key))
    }

    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A text of somebody else's without this key, however short it is, or any other.
    pub(crate) fn redact(&self, text: &str) -> String {
        secrets::redact(&text.replace(self.expose(), HIDDEN)).into_owned()
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApiKey({HIDDEN})")
    }
}
