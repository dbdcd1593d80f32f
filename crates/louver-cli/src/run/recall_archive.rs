//! `louver recall --archive`: what did the proxy leave out?

use super::recall::{NO_SUCH_WORDS, nothing_in, show_hits, show_messages};
use super::store::open_existing;
use super::{Exit, Shell, proxy_setup};
use crate::args::Recall;
use crate::recall::{Excerpt, Row};
use crate::settings::{Wanted, wanted};
use anyhow::{Context, bail};
use louver::Message;
use louver::address::Address;
use louver::inspect::pieces;
use louver_proxy::{NOTHING_ARCHIVED, left_out_at};
use louver_store::{
    ArchiveHit, ArchivedMessage, ChainPoint, ChainTag, MAX_PAGE_BYTES, ReaderId, RecallRequest, Recalled, SearchAnswer,
    SearchRequest, SearchScope, Store,
};
use std::collections::HashMap;

/// How much of a chain's hash names it where a hit is shown: as much as in ledgers.
const TAG_BYTES: usize = 6;

pub(super) fn run(job: &Recall, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let (point, typed) = sought(job);
    let wanted = wanted(typed)?;
    let store = open_existing(job.store.as_deref())?;
    let reading = Reading { job, store: &*store, reader: proxy_setup::keeper_settings().user, point };
    super::task::runtime()?.block_on(async {
        let exit = match &wanted {
            Wanted::Address(address) => reading.fetch(address, shell).await,
            Wanted::Query(query) => reading.search(query, shell).await,
        };
        store.close().await?;
        exit
    })
}

/// Where to look, and for what.
fn sought(job: &Recall) -> (Option<ChainPoint>, &str) {
    let tagged = job.wanted.split_once(':').and_then(|(tag, rest)| Some((tag.trim().parse::<ChainTag>().ok()?, rest)));
    match tagged {
        Some((tag, rest)) => (Some(ChainPoint::Tag(tag)), rest),
        None => (job.input.typed().map(|id| ChainPoint::Newest(id.into())), &job.wanted),
    }
}

/// One question to an archive.
struct Reading<'r> {
    job: &'r Recall,
    store: &'r dyn Store,
    reader: ReaderId,
    point: Option<ChainPoint>,
}

impl Reading<'_> {
    /// The messages of an address, as they came.
    async fn fetch(&self, address: &Address, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
        let Some(point) = &self.point else {
            if !self.is_anything_archived().await? {
                return self.nothing(NOTHING_ARCHIVED, shell);
            }
            bail!(
                "message {address} of which conversation? A ledger's first line has its tag: TAG:{address}; or name one \
                 of `louver archive list` behind it"
            );
        };
        let (mut found, mut left) = (Vec::new(), Some(address.clone()));
        while let Some(wanted) = left {
            match self.recall(point.clone(), wanted.clone()).await? {
                Recalled::Messages { messages, next } => {
                    found.extend(messages);
                    left = next.and_then(|next| wanted.starting_at(next as usize));
                }
                Recalled::UnknownTag => return self.unknown(shell).await,
                Recalled::AmbiguousTag => return self.nothing(AMBIGUOUS, shell),
                Recalled::Missing { index } => {
                    return self.nothing(&format!("message {index} is not kept there"), shell);
                }
            }
        }
        if found.is_empty() {
            return self.nothing("nothing but thinking stands there, which is not kept", shell);
        }
        let messages = found.iter().map(parsed).collect::<anyhow::Result<Vec<_>>>()?;
        let rows = rows(&found, &messages);
        show_messages(self.job, rows, &messages.iter().collect::<Vec<_>>(), shell)
    }

    /// The best passages of what was left out.
    async fn search(&self, query: &str, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
        let scope = match &self.point {
            Some(ChainPoint::Tag(tag)) => left_out_at(self.store, tag).await?,
            Some(ChainPoint::Newest(id)) => SearchScope::Conversation(id.clone()),
            None => SearchScope::Everything,
        };
        let (reader, query) = (self.reader.clone(), query.to_owned());
        let hits = match self.store.search(SearchRequest { reader, scope, query, limit: self.job.limit }).await? {
            SearchAnswer::Hits(hits) if hits.is_empty() => {
                let is_archived = self.is_anything_archived().await?;
                return self.nothing(if is_archived { NO_SUCH_WORDS } else { NOTHING_ARCHIVED }, shell);
            }
            SearchAnswer::Hits(hits) => hits,
            SearchAnswer::UnknownScope => return self.unknown(shell).await,
            SearchAnswer::AmbiguousTag => return self.nothing(AMBIGUOUS, shell),
        };
        let mut found = Vec::new();
        for hit in &hits {
            found.push(self.message_of(hit).await?);
        }
        let messages = found.iter().map(parsed).collect::<anyhow::Result<Vec<_>>>()?;
        let mut rows = rows(&found, &messages);
        if !matches!(self.point, Some(ChainPoint::Tag(_))) {
            // So that a hit can be asked for by what is shown of it.
            rows.iter_mut()
                .zip(&hits)
                .for_each(|(row, hit)| row.tag = Some(hit.place.chain.tag(TAG_BYTES).to_string()));
        }
        let excerpt = |hit: ArchiveHit| Excerpt { message: hit.place.index as usize, text: hit.text, marks: hit.marks };
        let excerpts: Vec<Excerpt> = hits.into_iter().map(excerpt).collect();
        show_hits(self.job, rows, &excerpts, shell)
    }

    /// The message that a hit stands in.
    async fn message_of(&self, hit: &ArchiveHit) -> anyhow::Result<ArchivedMessage> {
        let point = ChainPoint::Tag(hit.place.chain.into());
        let recalled = self.recall(point, Address::of(hit.place.index as usize)).await?;
        let found = match recalled {
            Recalled::Messages { messages, .. } => messages.into_iter().next(),
            _ => None,
        };
        found.context("a message that was found has left the archive meanwhile; ask again")
    }

    async fn recall(&self, point: ChainPoint, address: Address) -> anyhow::Result<Recalled> {
        let request = RecallRequest { reader: self.reader.clone(), point, address, max_bytes: MAX_PAGE_BYTES };
        Ok(self.store.recall(request).await?)
    }

    async fn is_anything_archived(&self) -> anyhow::Result<bool> {
        Ok(self.store.has_content(self.reader.clone()).await?)
    }

    /// Says why a conversation has no messages here.
    async fn unknown(&self, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
        if !self.is_anything_archived().await? {
            return self.nothing(NOTHING_ARCHIVED, shell);
        }
        if let Some(ChainPoint::Newest(id)) = &self.point {
            let account = self.store.conversation(id.clone()).await?;
            if account.is_some_and(|account| account.info.reader == self.reader) {
                return self.nothing("no message of this conversation is archived", shell);
            }
        }
        self.nothing(UNKNOWN, shell)
    }

    fn nothing(&self, reason: &str, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
        let place = match &self.point {
            Some(ChainPoint::Tag(tag)) => tag.to_string(),
            Some(ChainPoint::Newest(id)) => id.to_string(),
            None => "the archive".to_owned(),
        };
        nothing_in(&place, self.job, reason, shell)
    }
}

const UNKNOWN: &str = "no conversation of yours in this archive is known by this name";
const AMBIGUOUS: &str = "several conversations have this tag; more of its digits tell them apart";

fn parsed(message: &ArchivedMessage) -> anyhow::Result<Message> {
    let index = message.place.index;
    Message::parse(message.place.format, &message.raw).with_context(|| format!("message {index} of the archive"))
}

/// A row for each. A result is told by the tool that was called before, where that was found, too.
fn rows<'b>(found: &[ArchivedMessage], messages: &[Message]) -> Vec<Row<'b>> {
    let mut tools = HashMap::new();
    let row = |(found, message): (&ArchivedMessage, &Message)| {
        Row::new(found.place.index as usize, message, pieces(message, &mut tools))
    };
    found.iter().zip(messages).map(row).collect()
}
