//! The messages of a history as JSON text.

use memchr::memchr2;
use std::ops::Range;
use std::sync::Arc;

/// The messages of a history as JSON text.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    text: String,
    pieces: Vec<Piece>,
}

/// Where the text of a message is.
#[derive(Clone, Debug)]
enum Piece {
    Written(Range<usize>),
    /// Known from an earlier history, and not copied.
    Shared(Arc<str>),
}

impl Texts {
    /// Appends a message that is written into the text.
    ///
    /// # Errors
    ///
    /// What writing it gives.
    pub fn write<E>(&mut self, write: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        let start = self.text.len();
        write(&mut self.text)?;
        self.pieces.push(Piece::Written(start..self.text.len()));
        Ok(())
    }

    /// The messages of a list as whoever wrote it in one go has it: nothing between two but a comma.
    ///
    /// It is split and not checked: what is no message is told where it is read.
    pub fn list(text: String) -> Self {
        let bytes = text.as_bytes();
        let (mut pieces, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 1, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => at = end_of_string(bytes, at + 1),
                b'[' | b'{' => depth += 1,
                b',' if depth == 1 => {
                    pieces.push(Piece::Written(start..at));
                    start = at + 1;
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && at > start {
                        pieces.push(Piece::Written(start..at));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Self { text, pieces }
    }

    /// Messages that stand in one text, each behind a NUL but the first: no JSON holds one, and nothing is copied.
    pub fn joined(text: String) -> Self {
        let mut pieces = Vec::new();
        let mut start = 0;
        for message in text.split('\0') {
            let indent = message.len() - message.trim_start().len();
            pieces.push(Piece::Written(start + indent..start + indent + message.trim().len()));
            start += message.len() + 1;
        }
        Self { text, pieces }
    }

    /// Appends a message.
    pub fn push(&mut self, raw: &str) {
        let start = self.text.len();
        self.text.push_str(raw.trim());
        self.pieces.push(Piece::Written(start..self.text.len()));
    }

    /// Appends a message whose text is held elsewhere, too.
    pub fn share(&mut self, raw: Arc<str>) {
        self.pieces.push(Piece::Shared(raw));
    }

    /// Has somebody hold the text of the last message, too.
    pub fn share_last(&mut self, hold: impl FnOnce(&str) -> Option<Arc<str>>) {
        let Some(last) = self.pieces.len().checked_sub(1) else { return };
        let Some(held) = hold(self.raw(last)) else { return };
        if let Piece::Written(range) = &self.pieces[last] {
            // It stands at the end.
            self.text.truncate(range.start);
        }
        self.pieces[last] = Piece::Shared(held);
    }

    /// The text of one message as it is held elsewhere, too.
    pub(crate) fn shared(&self, index: usize) -> Option<&Arc<str>> {
        match self.pieces.get(index)? {
            Piece::Shared(raw) => Some(raw),
            Piece::Written(_) => None,
        }
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text of one message, nothing where there is none.
    pub fn raw(&self, index: usize) -> &str {
        match self.pieces.get(index) {
            Some(Piece::Written(range)) => &self.text[range.clone()],
            Some(Piece::Shared(raw)) => raw,
            None => "",
        }
    }
}

/// Where a string ends that begins here.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += next;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(messages: I) -> Self {
        let mut texts = Self::default();
        messages.into_iter().for_each(|message| texts.push(message.as_ref()));
        texts
    }
}
