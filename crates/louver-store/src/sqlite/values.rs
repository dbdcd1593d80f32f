//! Values as SQLite keeps them.

use crate::chain::ChainHash;
use rusqlite::Row;
use rusqlite::types::Value;
use rusqlite::vtab::array::Array;
use std::rc::Rc;

/// A count as it was kept.
pub(super) fn counted(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}

/// A hash of a chain as it was kept.
pub(super) fn chain_hash(row: &Row<'_>, column: usize) -> rusqlite::Result<ChainHash> {
    row.get(column).map(ChainHash)
}

/// Hashes for `IN rarray(?)`.
pub(super) fn hash_array<'h>(hashes: impl IntoIterator<Item = &'h ChainHash>) -> Array {
    Rc::new(hashes.into_iter().map(|hash| Value::Blob(hash.0.to_vec())).collect())
}
