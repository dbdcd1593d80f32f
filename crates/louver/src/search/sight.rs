//! What whoever asks still sees.

use super::names::names;
use crate::plain_text::plain_texts;
use crate::wire::Message;
use std::collections::HashSet;

/// The names in what is sent: whoever reads them there need not have them back.
///
/// Made from the messages of a view; see [`Among::search_beyond`](super::Among::search_beyond).
#[derive(Clone, Debug, Default)]
pub struct Sight {
    names: HashSet<Box<str>>,
}

impl Sight {
    /// Whether no name is known to be seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a name, in small letters, is seen.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

impl<'m> Extend<&'m Message> for Sight {
    fn extend<I: IntoIterator<Item = &'m Message>>(&mut self, messages: I) {
        let mut see = |name: &str| {
            if !self.names.contains(name) {
                self.names.insert(name.into());
            }
        };
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
