//! Where a history ends, as a hash of everything before.

use crate::error::{Error, Kind};
use std::fmt;
use std::str::FromStr;

/// The hash of a history up to and with one message.
///
/// Whoever computes it decides what counts; the store only compares.
///
/// ```
/// use louver_store::ChainHash;
///
/// let chain = ChainHash([0xab; 32]);
/// assert_eq!(chain.to_string(), "ab".repeat(32));
/// assert!(chain.starts_with(&"abab".repeat(4).parse().unwrap()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// Whether a tag is of this hash.
    #[must_use]
    pub fn starts_with(&self, tag: &ChainTag) -> bool {
        self.0.starts_with(&tag.0)
    }

    /// The tag of so many bytes, at least [`ChainTag::MIN_BYTES`] and at most all.
    #[must_use]
    pub fn tag(&self, bytes: usize) -> ChainTag {
        ChainTag(self.0[..bytes.clamp(ChainTag::MIN_BYTES, self.0.len())].to_vec())
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0[..6], f)
    }
}

/// The first bytes of a [`ChainHash`], as a ledger names the chain it stands on.
///
/// ```
/// use louver_store::{ChainHash, ChainTag};
///
/// let tag: ChainTag = "0011223344".parse().unwrap();
/// assert_eq!(tag.to_string(), "0011223344");
/// assert!("0011".parse::<ChainTag>().unwrap_err().is_invalid());
/// assert_eq!(ChainHash([7; 32]).tag(4).to_string(), "07070707");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChainTag(Vec<u8>);

impl ChainTag {
    /// Shorter tags name too many chains.
    pub const MIN_BYTES: usize = 4;

    /// The least and the greatest hash that has this tag.
    pub(crate) fn bounds(&self) -> ([u8; 32], [u8; 32]) {
        let (mut first, mut last) = ([0; 32], [0xff; 32]);
        first[..self.0.len()].copy_from_slice(&self.0);
        last[..self.0.len()].copy_from_slice(&self.0);
        (first, last)
    }
}

impl From<ChainHash> for ChainTag {
    fn from(chain: ChainHash) -> Self {
        Self(chain.0.to_vec())
    }
}

impl fmt::Display for ChainTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl FromStr for ChainTag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
        let bytes =
            digits.filter(|digits| digits.len() % 2 == 0 && (Self::MIN_BYTES..=32).contains(&(digits.len() / 2)));
        let Some(digits) = bytes else {
            let message = format!("`{text}` is no tag of a conversation: expected 8 to 64 hexadecimal digits");
            return Err(Error::new(Kind::Invalid, message));
        };
        Ok(Self(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()))
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
