//! Values as PostgreSQL keeps them.

use crate::chain::ChainHash;
use crate::error::{Error, Kind};
use std::borrow::Cow;
use std::str::FromStr;
use tokio_postgres::Row;

/// What stands for a zero, which PostgreSQL has in no text: a code point that is no character and never will be.
const ZERO: char = '\u{10ffff}';

/// A name as it can be kept.
pub(super) fn text(name: &str) -> Cow<'_, str> {
    if name.contains('\0') { name.replace('\0', ZERO.encode_utf8(&mut [0; 4])).into() } else { name.into() }
}

/// A name as it was given.
pub(super) fn name(row: &Row, column: usize) -> Result<String, Error> {
    Ok(given(row.try_get(column)?))
}

pub(super) fn optional_name(row: &Row, column: usize) -> Result<Option<String>, Error> {
    Ok(row.try_get::<_, Option<String>>(column)?.map(given))
}

fn given(name: String) -> String {
    if name.contains(ZERO) { name.replace(ZERO, "\0") } else { name }
}

/// A count as it was kept.
pub(super) fn counted(row: &Row, column: usize) -> Result<u64, Error> {
    Ok(u64::try_from(row.try_get::<_, i64>(column)?).unwrap_or_default())
}

pub(super) fn optional_count(row: &Row, column: usize) -> Result<Option<u64>, Error> {
    let number: Option<i64> = row.try_get(column)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or_default()))
}

/// A number that is never as large as it could be.
pub(super) fn small<T: TryFrom<i64> + Default>(row: &Row, column: usize) -> Result<T, Error> {
    Ok(T::try_from(row.try_get(column)?).unwrap_or_default())
}

/// A hash of a chain as it was kept.
pub(super) fn chain_hash(row: &Row, column: usize) -> Result<ChainHash, Error> {
    hash(row.try_get(column)?)
}

pub(super) fn optional_hash(row: &Row, column: usize) -> Result<Option<ChainHash>, Error> {
    row.try_get::<_, Option<&[u8]>>(column)?.map(hash).transpose()
}

fn hash(bytes: &[u8]) -> Result<ChainHash, Error> {
    Ok(ChainHash(bytes.try_into().map_err(|_| odd())?))
}

/// Hashes for `= ANY($1)`.
pub(super) fn hash_array<'h>(hashes: impl IntoIterator<Item = &'h ChainHash>) -> Vec<&'h [u8]> {
    hashes.into_iter().map(|hash| &hash.0[..]).collect()
}

/// Something that is kept by its name.
pub(super) fn named<T: FromStr>(row: &Row, column: usize) -> Result<T, Error> {
    row.try_get::<_, &str>(column)?.parse().map_err(|_| odd())
}

fn odd() -> Error {
    Error::new(Kind::Corrupt, "a row of the store holds what Louver never writes")
}
