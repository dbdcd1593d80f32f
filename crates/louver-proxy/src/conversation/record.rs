//! A decision as its result: what became of each message, without a word of the conversation.

use super::quote::{Piece, Quote};
use louver::plan::Trigger;
use louver::window::SyntheticKind;
use louver::wire::Role;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The form that this version writes.
pub(super) const VERSION: u32 = 1;

/// The view that a decision left, up to its request. Applying one derives nothing: no policy, rule or unit is asked.
///
/// Messages and parts are numbered without thinking, as in the [`Chain`](super::Chain): clients leave thinking out as they
/// please.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewRecord {
    /// The form of the record.
    pub version: u32,
    /// The engine that decided.
    pub engine: String,
    /// The policy that decided.
    pub policy: String,
    /// Why it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// Whether the provider had refused the request before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_rescue: bool,
    /// Whether it was decided at another request: the client has changed something behind what it speaks of since, or it is
    /// settled that nothing new is decided here.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_taken_over: bool,
    /// Whether nothing is decided any more, because the provider refused again and again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_left_alone: bool,
    /// How many messages the request had.
    pub messages: usize,
    /// Messages that are not sent.
    pub gone: Vec<Range<usize>>,
    /// Messages whose thinking is not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking_gone: Vec<Range<usize>>,
    /// Messages before which nothing but thinking stands that is not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking_gone_before: Vec<Range<usize>>,
    /// Parts that are sent in another form, by message and part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedPart>,
    /// Messages of our own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ours: Vec<OurMessage>,
    /// Where the pinned head ends.
    pub head_end: usize,
    /// How many messages of the history it speaks of: any history that has these can take it over.
    pub touches: usize,
    /// What its texts are known by, so that a history that gives others is noticed.
    pub texts: String,
    /// What it was decided by, for people.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub facts: serde_json::Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A part that is sent in another form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedPart {
    /// The message.
    pub message: usize,
    /// The part of it.
    pub part: usize,
    /// What stands there; nothing where the part is gone.
    pub text: Option<Vec<Piece>>,
}

/// A message of our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OurMessage {
    /// The message it stands before.
    pub before: usize,
    /// What it is for.
    pub kind: SyntheticKind,
    /// Who seems to speak.
    pub role: Role,
    /// What it says.
    pub text: Vec<Piece>,
}

/// Why a record cannot be applied to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Written by a later version, or damaged.
    #[error("a record was written by another version of Louver, or is damaged, and cannot be read")]
    Unreadable,
    /// It names something that is not there.
    #[error("a record speaks of a place that the history does not have")]
    NoSuchPlace,
    /// Its places hold other texts.
    #[error("a record gives another view than it did when it was made")]
    OtherView,
}

impl ViewRecord {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// [`ApplyError::Unreadable`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ApplyError> {
        let record: Self = serde_json::from_slice(bytes).map_err(|_| ApplyError::Unreadable)?;
        if record.version == VERSION { Ok(record) } else { Err(ApplyError::Unreadable) }
    }

    /// The record as it is stored.
    ///
    /// # Errors
    ///
    /// Never in practice: everything in it has a JSON form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// Whether everything is sent as it came.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.gone.is_empty()
            && self.thinking_gone.is_empty()
            && self.thinking_gone_before.is_empty()
            && self.edited.is_empty()
            && self.ours.is_empty()
    }

    /// What is not sent as it came, in ranges of counted messages; thinking aside.
    pub fn left_out(&self) -> impl Iterator<Item = Range<usize>> {
        let edited = self.edited.iter().map(|edited| edited.message..edited.message + 1);
        self.gone.iter().cloned().chain(edited)
    }

    /// The same view without any thinking, the last of which is in message number `last`, counted from 1 on.
    #[must_use]
    pub fn without_thinking(mut self, messages: usize, last: usize) -> Self {
        self.messages = messages;
        self.thinking_gone = std::iter::once(0..messages).collect();
        self.thinking_gone_before = std::iter::once(0..messages).collect();
        self.touches = self.touches.max(last);
        self
    }

    /// The same view for a history of so many messages that parts from the one it was made of: of what comes later it says
    /// nothing.
    #[must_use]
    pub fn clipped_to(mut self, messages: usize) -> Self {
        self.messages = self.messages.min(messages);
        for ranges in [&mut self.thinking_gone, &mut self.thinking_gone_before] {
            ranges.retain_mut(|range| {
                range.end = range.end.min(messages);
                range.start < range.end
            });
        }
        self
    }

    /// How many messages it speaks of.
    pub(super) fn last_place(&self) -> usize {
        let texts = self.ours.iter().map(|ours| &ours.text).chain(self.edited.iter().filter_map(|e| e.text.as_ref()));
        let quotes = texts.flatten().filter_map(|piece| match piece {
            Piece::Quote(Quote { message, .. }) => Some(message + 1),
            Piece::Ours(_) => None,
        });
        let gone = self.gone.iter().map(|range| range.end);
        let edits = self.edited.iter().map(|edited| edited.message + 1);
        let ours = self.ours.iter().map(|ours| ours.before);
        quotes.chain(gone).chain(edits).chain(ours).chain([self.head_end]).max().unwrap_or_default()
    }
}

/// Ascending numbers as ranges.
pub(super) fn joined(numbers: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(range) if range.end == number => range.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

/// Whether ascending ranges hold a number.
pub(super) fn holds(ranges: &[Range<usize>], number: usize) -> bool {
    let following = ranges.partition_point(|range| range.end <= number);
    ranges.get(following).is_some_and(|range| range.contains(&number))
}
