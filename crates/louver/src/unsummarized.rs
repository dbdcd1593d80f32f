//! What has left the view and no summary covers yet.

use std::ops::Range;

/// Messages that wait for a summary, as ascending ranges of the log that do not touch.
///
/// Messages leave mostly in order, so a [`push`](Self::push) is O(1) but for those that leave out of turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unsummarized {
    ranges: Vec<Range<usize>>,
    messages: usize,
    has_text: bool,
}

impl Unsummarized {
    /// Adds a message, unless it waits already.
    pub(crate) fn push(&mut self, index: usize, has_text: bool) {
        let at = self.ranges.partition_point(|range| range.end < index);
        match self.ranges.get_mut(at) {
            Some(range) if range.contains(&index) => return,
            Some(range) if range.end == index => range.end += 1,
            Some(range) if range.start == index + 1 => range.start = index,
            _ => self.ranges.insert(at, index..index + 1),
        }
        self.messages += 1;
        self.has_text |= has_text;
        self.close_gap_behind(at);
    }

    fn close_gap_behind(&mut self, at: usize) {
        if self.ranges.get(at + 1).is_some_and(|next| next.start == self.ranges[at].end) {
            self.ranges[at].end = self.ranges.remove(at + 1).end;
        }
    }

    /// How many messages wait.
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    /// Whether anybody said something in them.
    pub(crate) fn has_text(&self) -> bool {
        self.has_text
    }

    /// Empties it.
    pub(crate) fn take(&mut self) -> Vec<Range<usize>> {
        std::mem::take(self).ranges
    }
}

#[cfg(test)]
mod tests {
    use super::Unsummarized;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set_of_indices_in_as_few_ranges_as_there_are(indices in prop::collection::vec(0..40usize, 0..60)) {
            let mut waiting = Unsummarized::default();
            indices.iter().for_each(|index| waiting.push(*index, *index == 7));
            let set: BTreeSet<usize> = indices.iter().copied().collect();
            prop_assert_eq!(waiting.messages(), set.len());
            prop_assert_eq!(waiting.has_text(), set.contains(&7));
            let ranges = waiting.take();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            prop_assert_eq!(ranges.into_iter().flatten().collect::<Vec<_>>(), set.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(waiting, Unsummarized::default());
        }
    }
}
