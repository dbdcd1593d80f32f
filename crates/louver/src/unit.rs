//! What must stay together.
//!
//! A unit is a run of messages that a wire format forbids to separate: a tool call with all its results, thinking with
//! its call, reasoning with its items. Every other message is a unit of its own. Policies see units, never single
//! messages, so none of them can orphan a tool result.

use crate::wire::{Format, Message, Tracker};
use std::ops::Range;

/// A run of messages that stay or leave together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its messages, as indices into the log.
    pub range: Range<usize>,
    /// The first message of the unit that it belongs to although others stand between: the late answer to an old call.
    /// It stays as long as that unit stays.
    pub(crate) owner: Option<usize>,
}

impl Unit {
    pub(crate) fn single(index: usize) -> Self {
        Self { range: index..index + 1, owner: None }
    }

    /// How many messages it has.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Never: a unit has at least one message.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// The units of a whole history.
///
/// ```
/// use louver::unit::units_of;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[
///     {"role":"user","content":"List the files."},
///     {"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},
///     {"role":"tool","tool_call_id":"a","content":"README.md"},
///     {"role":"assistant","content":"One file."}
/// ]"#, None)?;
/// let ranges: Vec<_> = units_of(body.format(), body.messages().iter().map(|m| &**m)).collect();
/// assert_eq!(ranges, [0..1, 1..3, 3..4]);
/// # Ok::<(), louver::json::JsonError>(())
/// ```
pub fn units_of<'a>(
    format: Format,
    messages: impl IntoIterator<Item = &'a Message>,
) -> impl Iterator<Item = Range<usize>> {
    let mut tracker = UnitTracker::new(format);
    let mut units: Vec<Range<usize>> = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        match tracker.joins(index, message) {
            None => units.push(index..index + 1),
            Some(earlier) => {
                let start = units.partition_point(|unit| unit.end <= earlier);
                units.truncate(start + 1);
                if let Some(unit) = units.last_mut() {
                    unit.end = index + 1;
                }
            }
        }
    }
    units.into_iter()
}

/// Finds each message's unit as it arrives, in O(its parts).
#[derive(Clone, Debug)]
pub(crate) struct UnitTracker(Tracker);

impl UnitTracker {
    pub(crate) fn new(format: Format) -> Self {
        Self(Tracker::new(format.wire().pairing))
    }

    /// The earlier message to whose unit a new one belongs, and with it everything between; none if it starts a unit.
    pub(crate) fn joins(&mut self, index: usize, message: &Message) -> Option<usize> {
        let links = self.0.follow(index, message);
        let calls = links.results.iter().filter_map(|(_, call)| *call);
        calls.map(|call| call.index).min().or(index.checked_sub(1).filter(|_| links.sticks))
    }
}
