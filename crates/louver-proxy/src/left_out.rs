//! What was left out, by where a ledger says that it was.

use crate::conversation::ViewRecord;
use louver::address::Address;
use louver_store::{
    ChainHash, ChainPlace, ChainQuery, ChainTag, ConversationId, Error, PageRequest, SearchScope, Sequence, Store,
    StoredDecision,
};
use std::collections::HashMap;

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

/// What was decided on a chain that a conversation is on.
pub(crate) async fn decided_on(
    store: &dyn Store,
    id: &ConversationId,
    places: &[ChainPlace],
) -> Result<Vec<StoredDecision>, Error> {
    let request = store.requests(id.clone(), PageRequest::first(1)).await?.rows.pop();
    let Some(request) = request.filter(|_| !places.is_empty()) else { return Ok(Vec::new()) };
    let hashes = places.iter().map(|place| place.chain).collect();
    store.decisions_on(ChainQuery { upstream: request.upstream, hashes, after: Sequence::default() }).await
}

/// The record that holds at the end of a chain.
pub(crate) fn latest(decisions: &[StoredDecision], places: &[ChainPlace]) -> Option<ViewRecord> {
    let numbers: HashMap<ChainHash, usize> =
        places.iter().enumerate().map(|(number, place)| (place.chain, number)).collect();
    let on_chain = decisions.iter().filter_map(|stored| Some((numbers.get(&stored.decision.key.chain)?, stored)));
    let (_, last) = on_chain.max_by_key(|(at, stored)| (**at, stored.is_shown, stored.decision.key.attempt))?;
    ViewRecord::parse(&last.decision.record).ok()
}
