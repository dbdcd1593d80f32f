//! What is never shown, wherever it turns up.

use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// What stands where a key would have been shown.
pub(crate) const HIDDEN: &str = "***";

/// Shorter ones protect nothing, and would tear holes into ordinary words.
pub(crate) const MIN_SECRET_BYTES: usize = 8;

/// Every key of this process. One list for all: a key that was read for a provider can turn up in a file that a tool
/// shows, in what a server of somebody else's says, or in an error, and no one of them knows of the others' keys.
static KEPT: RwLock<Vec<SecretString>> = RwLock::new(Vec::new());

/// Takes note of a key.
pub(crate) fn keep(secret: &SecretString) {
    let mut kept = KEPT.write().unwrap_or_else(PoisonError::into_inner);
    let is_new = kept.iter().all(|other| other.expose_secret() != secret.expose_secret());
    if is_new && secret.expose_secret().len() >= MIN_SECRET_BYTES {
        kept.push(secret.clone());
        // A key that holds another one has to go first.
        kept.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
    }
}

/// A text without any key that this process has read, for whatever is shown, logged or kept.
///
/// ```
/// use louver_agent::{ApiKey, redact};
///
/// let file = tempfile::NamedTempFile::new()?;
/// std::fs::write(file.path(), "sk-very-secret\n")?;
/// let _key = ApiKey::from_file(file.path())?;
/// assert_eq!(redact("KEY=sk-very-secret"), "KEY=***");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn redact(text: &str) -> Cow<'_, str> {
    let kept = KEPT.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = Cow::Borrowed(text);
    for secret in kept.iter().map(ExposeSecret::expose_secret) {
        if text.contains(secret) {
            text = Cow::Owned(text.replace(secret, HIDDEN));
        }
    }
    text
}
