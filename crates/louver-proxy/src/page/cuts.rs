//! The cuts of a conversation.

use super::account::next;
use super::asked::Query;
use super::{Fault, Page};
use crate::conversation::ViewRecord;
use crate::left_out::decided_on;
use louver_store::{
    ChainPlace, ChainPoint, ConversationAccount, ConversationId, PageRequest, Sequence, StoredDecision,
};
use serde_json::{Value, json};
use std::collections::HashSet;

/// How many cuts a page has at most: their records are read.
const CUTS: usize = 100;

impl Page {
    pub(super) async fn cuts(&self, id: &str, query: &Query) -> Result<Value, Fault> {
        let page = query.page(CUTS)?;
        let page = PageRequest { rows: page.rows.min(CUTS), ..page };
        let account = self.account(id).await?;
        let found = self.store.decisions_in(id.into(), page).await?;
        let mut cuts: Vec<Value> = found.rows.iter().filter_map(|stored| summary(stored, &account.info.id)).collect();
        if page.after.is_none() {
            let mut before = self.decided_elsewhere(&account).await?;
            before.truncate(CUTS);
            cuts.splice(0..0, before.iter().filter_map(|stored| summary(stored, &account.info.id)));
        }
        Ok(json!({ "cuts": cuts, "next": next(found.next) }))
    }

    /// A decision that holds for a conversation.
    pub(super) async fn decision_of(
        &self,
        account: &ConversationAccount,
        sequence: &str,
    ) -> Result<StoredDecision, Fault> {
        let number = sequence.parse().map_err(|_| Fault::Missing)?;
        let found = self.store.decision(Sequence(number)).await?.ok_or(Fault::Missing)?;
        if found.decision.conversation == account.info.id {
            return Ok(found);
        }
        let elsewhere = self.decided_elsewhere(account).await?;
        elsewhere.into_iter().find(|stored| stored.sequence == found.sequence).ok_or(Fault::Missing)
    }

    /// What holds for a conversation and was decided in another: the one that it is a fork of, or one that begins with the
    /// same words. Only where they are kept is it known.
    async fn decided_elsewhere(&self, account: &ConversationAccount) -> Result<Vec<StoredDecision>, Fault> {
        let places = self.places(account).await?;
        let found = decided_on(&*self.store, &account.info.id, &places).await?;
        let chain: HashSet<_> = places.iter().map(|place| place.chain).collect();
        let is_elsewhere = |stored: &StoredDecision| {
            stored.decision.conversation != account.info.id && chain.contains(&stored.decision.key.chain)
        };
        Ok(found.into_iter().filter(is_elsewhere).collect())
    }

    /// Where the messages stand that a conversation was last heard to hold, as far as this reader may know.
    pub(super) async fn places(&self, account: &ConversationAccount) -> Result<Vec<ChainPlace>, Fault> {
        if !self.may_read(account) {
            return Ok(Vec::new());
        }
        Ok(self.store.chain_places(self.reader.clone(), ChainPoint::Newest(account.info.id.clone())).await?)
    }
}

/// What a decision came to; nothing where it left everything as it was, or cannot be read.
pub(super) fn summary(stored: &StoredDecision, conversation: &ConversationId) -> Option<Value> {
    let record = ViewRecord::parse(&stored.decision.record).ok().filter(|record| !record.is_everything())?;
    let edited: HashSet<usize> = record.edited.iter().map(|edited| edited.message).collect();
    let is_own = stored.decision.conversation == *conversation;
    Some(json!({
        "sequence": stored.sequence.0,
        // When somebody else decided is not for others to know.
        "at": is_own.then_some(stored.decision.at.0),
        "chain": stored.decision.key.chain.to_string(),
        "model": stored.decision.key.model,
        "attempt": stored.decision.key.attempt,
        "trigger": record.trigger,
        "policy": record.policy,
        "is_rescue": record.is_rescue,
        "is_taken_over": record.is_taken_over || !is_own,
        "is_left_alone": record.is_left_alone,
        "messages": record.messages,
        "left_out": record.gone.iter().map(ExactSizeIterator::len).sum::<usize>(),
        "edited": edited.len(),
    }))
}
