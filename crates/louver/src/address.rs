//! How a message is named in stubs and ledgers, so that it can be had back.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// What an address starts and ends with where it stands in a text.
const OPEN: &str = "[louver:";
const CLOSE: &str = "]";

/// Which messages of a log are meant: one or more ranges of their indices, ascending and apart.
///
/// This is the one place that knows the spelling: a policy writes what it leaves out as a [`tag`](Self::tag), and
/// whoever reads the tag gives it back as it stands, with or without its bracket.
///
/// ```
/// use louver::address::Address;
///
/// let address: Address = "[louver:3-17, 20-41]".parse().unwrap();
/// assert_eq!(address, "20-41, 3-17".parse().unwrap());
/// assert_eq!((address.to_string(), address.count()), ("3-17, 20-41".to_owned(), 37));
/// assert_eq!(Address::of(12).tag(), "[louver:12]");
///
/// let error = "[louver:twelve]".parse::<Address>().unwrap_err();
/// assert_eq!(error.to_string(), "`[louver:twelve]` names no messages: expected 12, 3-17 or 3-17, 20-41");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    ranges: Vec<Range<usize>>,
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` names no messages: expected 12, 3-17 or 3-17, 20-41")]
pub struct NoAddress {
    /// The text.
    pub text: String,
}

/// An address of a message that the log does not have.
///
/// ```
/// use louver::address::Address;
///
/// let address: Address = "3-17".parse()?;
/// assert_eq!((address.check(18), address.check(9).unwrap_err().index), (Ok(()), 9));
/// # Ok::<(), louver::address::NoAddress>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no message {index}: the log has {len}, counted from 0")]
pub struct NotInLog {
    /// The first index that is not there.
    pub index: usize,
    /// How many messages there are.
    pub len: usize,
}

impl Address {
    /// One message.
    pub fn of(index: usize) -> Self {
        Self { ranges: std::iter::once(index..index.saturating_add(1)).collect() }
    }

    /// All messages of these ranges, or nothing if they are empty.
    ///
    /// ```
    /// use louver::address::Address;
    ///
    /// assert_eq!(Address::of_ranges([20..22, 3..5, 5..8]).unwrap().to_string(), "3-7, 20-21");
    /// assert!(Address::of_ranges([]).is_none());
    /// ```
    pub fn of_ranges(ranges: impl IntoIterator<Item = Range<usize>>) -> Option<Self> {
        let ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        let ranges = joined(&ranges);
        (!ranges.is_empty()).then_some(Self { ranges })
    }

    /// As it is written into a text: `[louver:3-17, 20-41]`.
    pub fn tag(&self) -> String {
        format!("{OPEN}{self}{CLOSE}")
    }

    /// The same for a single message: a ledger names hundreds.
    pub(crate) fn tag_of(message: usize) -> String {
        [OPEN, &message.to_string(), CLOSE].concat()
    }

    /// Whether a text is meant as an address, well spelled or not.
    ///
    /// ```
    /// assert!(louver::address::Address::is_meant_by("[louver:3") && !louver::address::Address::is_meant_by("3-17"));
    /// ```
    #[must_use]
    pub fn is_meant_by(text: &str) -> bool {
        text.trim_start().starts_with(OPEN)
    }

    /// How many messages it names.
    pub fn count(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// The indices it names, ascending.
    ///
    /// ```
    /// let address: louver::address::Address = "3-5, 9".parse()?;
    /// assert!(address.indices().eq([3, 4, 5, 9]));
    /// # Ok::<(), louver::address::NoAddress>(())
    /// ```
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().cloned().flatten()
    }

    /// Whether it names a message. An address may name more messages than anybody has: ask, rather than go through
    /// [`indices`](Self::indices), where it was not written by us.
    ///
    /// ```
    /// let address: louver::address::Address = "3-99999999999".parse()?;
    /// assert!(address.contains(5) && !address.contains(2));
    /// # Ok::<(), louver::address::NoAddress>(())
    /// ```
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        holds(&self.ranges, index)
    }

    /// What it names from a message on, if anything.
    ///
    /// ```
    /// let address: louver::address::Address = "3-5, 9-99999999999".parse()?;
    /// assert_eq!(address.starting_at(5).unwrap().to_string(), "5, 9-99999999999");
    /// assert!("3-5".parse::<louver::address::Address>()?.starting_at(6).is_none());
    /// # Ok::<(), louver::address::NoAddress>(())
    /// ```
    #[must_use]
    pub fn starting_at(&self, first: usize) -> Option<Self> {
        Self::of_ranges(self.ranges.iter().map(|range| range.start.max(first)..range.end))
    }

    /// Whether a log of this length has all the messages it names.
    ///
    /// # Errors
    ///
    /// The first one that is not there.
    pub fn check(&self, len: usize) -> Result<(), NotInLog> {
        match self.ranges.iter().find(|range| range.end > len) {
            Some(range) => Err(NotInLog { index: range.start.max(len), len }),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, range) in self.ranges.iter().enumerate() {
            let gap = if position > 0 { ", " } else { "" };
            let last = range.end - 1;
            match range.start == last {
                true => write!(f, "{gap}{last}")?,
                false => write!(f, "{gap}{}-{last}", range.start)?,
            }
        }
        Ok(())
    }
}

impl FromStr for Address {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Self, NoAddress> {
        let inner = text.trim();
        let inner = inner.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)).unwrap_or(inner);
        let ranges: Option<Vec<_>> = inner.split(',').map(range).collect();
        ranges.and_then(Self::of_ranges).ok_or_else(|| NoAddress { text: text.to_owned() })
    }
}

/// `12` or `3-17`, both ends meant.
/// Ranges in order, those that touch as one.
pub(crate) fn joined(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges = ranges.to_vec();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Whether an index is in one of some ranges that are in order and apart. O(log ranges).
pub(crate) fn holds(ranges: &[Range<usize>], index: usize) -> bool {
    let following = ranges.partition_point(|range| range.end <= index);
    ranges.get(following).is_some_and(|range| range.contains(&index))
}

fn range(text: &str) -> Option<Range<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..last.checked_add(1)?)
}

/// Digits alone: `parse` would take a plus sign, too.
fn number(text: &str) -> Option<usize> {
    let digits = text.trim();
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        text.parse::<Address>().ok().map(|address| address.to_string())
    }

    #[test]
    fn what_is_written_can_be_read() {
        for ranges in [[0..1, 1..2], [3..18, 20..42], [5..6, 9..10]] {
            let address = Address::of_ranges(ranges).unwrap();
            assert_eq!(address.tag().parse(), Ok(address.clone()));
            assert_eq!(address.to_string().parse(), Ok(address));
        }
    }

    #[test]
    fn ranges_in_any_order_are_put_together() {
        assert_eq!(read(" 7 , 3-5,4-6, 12 - 12 ").as_deref(), Some("3-7, 12"));
        assert_eq!(read("[louver:9, 9]").as_deref(), Some("9"));
    }

    #[test]
    fn what_names_no_messages_is_refused() {
        let bad =
            ["", "a", "5-", "-5", "5-3", "1,,2", "1 2", "+1", "[louver:]", "[louver:1", "1]", "louver:1", "1-2-3"];
        for text in bad.into_iter().chain(["18446744073709551615", "99999999999999999999"]) {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(Address::is_meant_by(" [louver:x") && !Address::is_meant_by("12"));
    }

    #[test]
    fn no_ranges_are_no_address() {
        assert_eq!(Address::of_ranges([]), None);
        assert_eq!(Address::of_ranges([4..4, 7..7]), None);
    }

    #[test]
    fn a_range_that_ends_behind_the_log_is_named_by_its_first_missing_message() {
        let missing = |text: &str| text.parse::<Address>().unwrap().check(3);
        assert_eq!(missing("0-2"), Ok(()));
        assert_eq!(missing("1-99999999999"), Err(NotInLog { index: 3, len: 3 }));
        assert_eq!(missing("0, 7"), Err(NotInLog { index: 7, len: 3 }));
    }
}
