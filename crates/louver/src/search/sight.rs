//! What whoever asks still sees.

use super::names::{key, names};
use crate::plain_text::plain_texts;
use crate::wire::Message;
use rustc_hash::FxHashSet;

/// The names in what is sent: whoever reads them there need not have them back.
///
/// Made from the messages of a view; see [`Among::search_beyond`](super::Among::search_beyond).
#[derive(Clone, Debug, Default)]
pub struct Sight {
    /// What each name is known by.
    names: FxHashSet<u64>,
}

impl Sight {
    /// Whether no name is known to be seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a name is seen that is known by this.
    pub(super) fn has(&self, key: u64) -> bool {
        self.names.contains(&key)
    }
}

impl<'m> Extend<&'m Message> for Sight {
    fn extend<I: IntoIterator<Item = &'m Message>>(&mut self, messages: I) {
        let mut see = |name: &str| _ = self.names.insert(key(name));
        messages.into_iter().for_each(|message| plain_texts(message, |_, _, text| names(text, &mut see)));
    }
}

impl<'m> FromIterator<&'m Message> for Sight {
    fn from_iter<I: IntoIterator<Item = &'m Message>>(messages: I) -> Self {
        let mut sight = Self::default();
        sight.extend(messages);
        sight
    }
}
