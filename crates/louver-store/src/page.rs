//! Answers in pieces.

use crate::error::{Error, Kind};
use std::fmt;
use std::str::FromStr;

/// The most rows of a page, whatever was asked for.
pub const MAX_PAGE_ROWS: usize = 1_000;

/// Which piece of an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Where the page before said that it ends; nothing for the first.
    pub after: Option<Cursor>,
    /// How many rows at most; never more than [`MAX_PAGE_ROWS`].
    pub rows: usize,
}

impl PageRequest {
    /// The first rows.
    #[must_use]
    pub fn first(rows: usize) -> Self {
        Self { after: None, rows }
    }

    /// The rows behind a cursor.
    #[must_use]
    pub fn after(cursor: Cursor, rows: usize) -> Self {
        Self { after: Some(cursor), rows }
    }

    pub(crate) fn limit(&self) -> usize {
        self.rows.clamp(1, MAX_PAGE_ROWS)
    }

    /// One row more than wanted, to see whether there is another page.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn one_more(&self) -> i64 {
        self.limit() as i64 + 1
    }
}

/// Where a page ends. As text it can be given to a client and taken back.
///
/// ```
/// use louver_store::Cursor;
///
/// let cursor: Cursor = "1700000000000.42".parse().unwrap();
/// assert_eq!(cursor.to_string(), "1700000000000.42");
/// assert!("12".parse::<Cursor>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) order: i64,
    pub(crate) number: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.order, self.number)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parsed = text
            .split_once('.')
            .and_then(|(order, number)| Some(Self { order: order.parse().ok()?, number: number.parse().ok()? }));
        parsed.ok_or_else(|| Error::new(Kind::Invalid, format!("`{text}` is no place in a list of the store")))
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Where the next page starts; nothing behind the last.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// Of rows of which one more than wanted was asked for; each comes with where it stands.
    pub(crate) fn of(mut rows: Vec<(Cursor, T)>, limit: usize) -> Self {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().map(|(cursor, _)| *cursor).filter(|_| has_more);
        Self { rows: rows.into_iter().map(|(_, row)| row).collect(), next }
    }
}
