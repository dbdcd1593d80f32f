//! Where the text of a recorded page was taken from.

use super::varint::{number, put, put_signed, signed};
use crate::plan::Source;
use serde::{Deserialize, Serialize};

/// What of a text was taken from the log, in a few bytes each: a page takes hundreds of names from all over it, and every
/// page that was ever sent is recorded.
///
/// ```
/// use louver::plan::Source;
/// use louver::window::Sources;
///
/// let all = vec![Source { range: 4..9, message: 70 }, Source { range: 10..12, message: 3 }];
/// assert_eq!(Sources::from(all.as_slice()).to_vec(), all);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Source>", into = "Vec<Source>")]
pub struct Sources(Box<[u8]>);

impl Sources {
    /// Whether nothing was taken from the log.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them, in order.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Source> {
        let mut bytes = self.0.iter();
        let mut last = Source { range: 0..0, message: 0 };
        let next = || {
            let start = last.range.end.wrapping_add(number(&mut bytes)?);
            let end = start.wrapping_add(number(&mut bytes)?);
            last = Source { range: start..end, message: last.message.wrapping_add(signed(&mut bytes)?) };
            Some(last.clone())
        };
        std::iter::from_fn(next).collect()
    }
}

impl From<&[Source]> for Sources {
    fn from(all: &[Source]) -> Self {
        let mut bytes = Vec::with_capacity(all.len() * 5);
        let (mut end, mut message) = (0_usize, 0_usize);
        for source in all {
            put(&mut bytes, source.range.start.wrapping_sub(end));
            put(&mut bytes, source.range.end.wrapping_sub(source.range.start));
            put_signed(&mut bytes, source.message.wrapping_sub(message));
            (end, message) = (source.range.end, source.message);
        }
        Self(bytes.into())
    }
}

impl From<Vec<Source>> for Sources {
    fn from(all: Vec<Source>) -> Self {
        all.as_slice().into()
    }
}

impl From<Sources> for Vec<Source> {
    fn from(sources: Sources) -> Self {
        sources.to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_recorded_reads_back(all in proptest::collection::vec(any::<(usize, usize, usize)>(), 0..20)) {
            let all: Vec<Source> =
                all.into_iter().map(|(start, end, message)| Source { range: start..end, message }).collect();
            let sources = Sources::from(all.as_slice());
            prop_assert_eq!(sources.is_empty(), all.is_empty());
            let json = serde_json::to_string(&sources).unwrap();
            prop_assert_eq!(&json, &serde_json::to_string(&all).unwrap());
            prop_assert_eq!(serde_json::from_str::<Sources>(&json).unwrap(), sources.clone());
            prop_assert_eq!(sources.to_vec(), all);
        }
    }
}
