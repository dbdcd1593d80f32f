//! What was left out, by where a ledger says that it was.

use crate::conversation::ViewRecord;
use louver::address::Address;
use louver_store::{ChainTag, Error, SearchScope, Store};

/// What is said to somebody of whom nothing is archived, whatever was asked for.
pub const NOTHING_ARCHIVED: &str =
    "no message of yours is archived here: `louver proxy --archive full` and `louver wrap` keep them, from then on";

/// What the cut left out at which a tag was written; where it names no cut, everything up to there.
///
/// # Errors
///
/// The store cannot be read.
pub async fn left_out_at(store: &dyn Store, tag: &ChainTag) -> Result<SearchScope, Error> {
    let decisions = store.decisions_at(tag.clone()).await?;
    let records = decisions.iter().filter_map(|stored| ViewRecord::parse(&stored.decision.record).ok());
    let left_out = records.flat_map(|record| record.left_out().collect::<Vec<_>>());
    Ok(match Address::of_ranges(left_out) {
        Some(within) => SearchScope::Counted { tag: tag.clone(), within },
        None => SearchScope::Chain { tag: tag.clone(), within: None },
    })
}
