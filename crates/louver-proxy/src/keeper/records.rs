//! Which of the recorded decisions applies.

use crate::conversation::Chain;
use louver_store::{DecisionKey, StoredDecision};

/// A record that applies to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen<'r> {
    pub(super) stored: &'r StoredDecision,
    /// Whether its own key lies on the chain; otherwise the client changed something behind what it speaks of.
    pub(super) is_on_chain: bool,
}

/// The record that applies to a chain: the one at the last boundary; there the request's own model counts, else the first
/// inserted, and of several attempts the one that was shown, else the last.
pub(super) fn choose<'r>(records: &'r [StoredDecision], chain: &Chain, model: &str) -> Option<Chosen<'r>> {
    let on_chain = records.iter().filter_map(|stored| Some((chain.position(stored.decision.key.chain)?, stored)));
    let last = on_chain.clone().map(|(boundary, _)| boundary).max();
    let here: Vec<&StoredDecision> =
        on_chain.filter(|(boundary, _)| Some(*boundary) == last).map(|(_, stored)| stored).collect();
    let own = here.iter().any(|stored| stored.decision.key.model == model);
    let first = here.iter().min_by_key(|stored| stored.sequence).map(|stored| stored.decision.key.model.as_str());
    let of_model = if own { Some(model) } else { first };
    let attempts = here.into_iter().filter(|stored| Some(stored.decision.key.model.as_str()) == of_model);
    let on_chain = attempts.max_by_key(|stored| (stored.is_shown, stored.decision.key.attempt));
    let touched = |stored: &StoredDecision| chain.position(stored.decision.touches);
    // A fork's own record is not replaced by what another fork decided later about the part that they share.
    let behind = on_chain.and(last);
    let off_chain = records.iter().filter(|stored| chain.position(stored.decision.key.chain).is_none());
    let off_chain = off_chain.filter(|stored| touched(stored) > behind);
    match off_chain.max_by_key(|stored| (touched(stored), stored.sequence)) {
        Some(stored) => Some(Chosen { stored, is_on_chain: false }),
        None => on_chain.map(|stored| Chosen { stored, is_on_chain: true }),
    }
}

/// The attempts that were made at one request.
pub(super) fn attempts_at<'r>(
    records: &'r [StoredDecision],
    key: &DecisionKey,
) -> impl Iterator<Item = &'r StoredDecision> {
    let key = key.clone();
    records.iter().filter(move |stored| DecisionKey { attempt: key.attempt, ..stored.decision.key.clone() } == key)
}
