//! Words in what was left out.

use super::asked::Query;
use super::{Fault, Page};
use crate::left_out::{decided_on, latest};
use louver::address::Address;
use louver_store::{ArchiveHit, ChainHash, ConversationAccount, SearchAnswer, SearchRequest, SearchScope};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// How many passages are shown.
const HITS: usize = 30;

/// How long a query may be.
const MAX_QUERY_BYTES: usize = 1_000;

/// Of how many conversations it is said whether what was found was left out.
const JUDGED: usize = 12;

impl Page {
    pub(super) async fn search(&self, query: &Query) -> Result<Value, Fault> {
        let words = query.get("q").map(str::trim).unwrap_or_default();
        if words.is_empty() || words.len() > MAX_QUERY_BYTES {
            return Err(Fault::Invalid(format!("q= is empty, or longer than {MAX_QUERY_BYTES} bytes")));
        }
        self.store.flush().await?;
        let scope = match query.get("conversation") {
            Some(id) => {
                let account = self.account(id).await?;
                match self.left_out_of(&account).await? {
                    Some(scope) => scope,
                    None => return Ok(json!({ "hits": [], "is_whole": false })),
                }
            }
            None => SearchScope::Everything,
        };
        let is_everything = scope == SearchScope::Everything;
        let request = SearchRequest { reader: self.reader.clone(), scope, query: words.to_owned(), limit: HITS };
        let hits = match self.store.search(request).await? {
            SearchAnswer::Hits(hits) => hits,
            SearchAnswer::UnknownScope | SearchAnswer::AmbiguousTag => Vec::new(),
        };
        let judged = if is_everything { self.judged(&hits).await? } else { HashMap::new() };
        let told = |hit: &ArchiveHit| {
            let is_left_out = if is_everything { judged.get(&hit.place.chain).copied() } else { Some(true) };
            told(hit, is_left_out)
        };
        Ok(json!({ "hits": hits.iter().map(told).collect::<Vec<_>>(), "is_whole": is_everything }))
    }

    /// Where to search for what a conversation's latest cut left out.
    async fn left_out_of(&self, account: &ConversationAccount) -> Result<Option<SearchScope>, Fault> {
        let places = self.places(account).await?;
        let decisions = decided_on(&*self.store, &account.info.id, &places).await?;
        let Some(end) = places.last() else { return Ok(None) };
        let within = latest(&decisions, &places).and_then(|record| Address::of_ranges(record.left_out()));
        Ok(within.map(|within| SearchScope::Counted { tag: end.chain.into(), within }))
    }

    /// Of each place that was found whether it is left out now, as far as that is known.
    async fn judged(&self, hits: &[ArchiveHit]) -> Result<HashMap<ChainHash, bool>, Fault> {
        let (mut seen, mut judged) = (HashSet::new(), HashMap::new());
        for hit in hits {
            let id = &hit.place.conversation;
            if seen.len() >= JUDGED || !seen.insert(id.clone()) {
                continue;
            }
            let Ok(account) = self.account(id.as_str()).await else { continue };
            let places = self.places(&account).await?;
            let decisions = decided_on(&*self.store, id, &places).await?;
            let left_out: HashSet<usize> = latest(&decisions, &places)
                .into_iter()
                .flat_map(|record| record.left_out().flatten().collect::<Vec<_>>())
                .collect();
            judged.extend(places.iter().enumerate().map(|(number, place)| (place.chain, left_out.contains(&number))));
        }
        Ok(judged)
    }
}

fn told(hit: &ArchiveHit, is_left_out: Option<bool>) -> Value {
    // Marks count bytes, and scripts count otherwise: the text comes in pieces.
    let (mut pieces, mut from) = (Vec::new(), 0);
    for mark in &hit.marks {
        pieces.push(json!({ "text": hit.text[from..mark.start] }));
        pieces.push(json!({ "text": hit.text[mark.clone()], "is_mark": true }));
        from = mark.end;
    }
    pieces.push(json!({ "text": hit.text[from..] }));
    json!({
        "conversation": hit.place.conversation.as_str(),
        "index": hit.place.index,
        "chain": hit.place.chain.to_string(),
        "is_left_out": is_left_out,
        "pieces": pieces,
    })
}
