//! Messages in PostgreSQL.

use super::PostgresStore;
use super::booking::{conversation_number, find_reader, reader_number};
use super::on_chain::{archived, chain_to, newest_point, sizes, tagged};
use super::pool::Lane;
use super::put::put;
use super::search::search;
use super::session::Session;
use super::values::{chain_hash, small, text};
use super::writer::Entry;
use crate::account::{Queued, Whose};
use crate::content::{
    ArchivedMessage, ChainPlace, ChainPoint, Content, MAX_PAGE_BYTES, NewContent, RecallRequest, Recalled,
    SearchAnswer, SearchRequest,
};
use crate::error::Error;
use crate::name::{ConversationId, ReaderId};
use crate::on_chain::{Tagged, addressed};
use crate::page::{Cursor, Page, PageRequest};
use async_trait::async_trait;
use std::sync::Arc;

#[async_trait]
impl Content for PostgresStore {
    async fn put_content(&self, content: NewContent) -> Result<usize, Error> {
        content.check()?;
        let mut new = 0;
        for chunk in content.into_chunks() {
            new += self.pool.run(Lane::Quick, chunk, |session, chunk| Box::pin(put_alone(session, chunk))).await?;
        }
        Ok(new)
    }

    fn put_content_behind(&self, content: NewContent) -> Queued {
        let mut queued = Queued::Waiting;
        for chunk in content.into_chunks() {
            let bytes = chunk.messages.iter().map(|message| message.raw.len() + 100).sum();
            if self.writer.push(bytes, Entry::Content(Box::new(chunk))) == Queued::Lost {
                queued = Queued::Lost;
            }
        }
        queued
    }

    async fn recall(&self, request: RecallRequest) -> Result<Recalled, Error> {
        self.pool.run(Lane::Long, request, |session, request| Box::pin(recall(session, request))).await
    }

    async fn chain_places(&self, reader: ReaderId, point: ChainPoint) -> Result<Vec<ChainPlace>, Error> {
        let asked = (reader, point);
        self.pool.run(Lane::Long, asked, |session, (reader, point)| Box::pin(places(session, reader, point))).await
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchAnswer, Error> {
        let asked = (request, Arc::clone(&self.remembered));
        self.pool.run(Lane::Long, asked, |session, (request, known)| Box::pin(search(session, request, known))).await
    }

    async fn has_content(&self, reader: ReaderId) -> Result<bool, Error> {
        self.pool.run(Lane::Quick, reader, |session, reader| Box::pin(has_content(session, reader))).await
    }

    async fn content(
        &self,
        whose: Whose,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<ArchivedMessage>, Error> {
        let asked = (whose, conversation, page);
        self.pool.run(Lane::Long, asked, |session, (whose, id, page)| Box::pin(all(session, whose, id, *page))).await
    }
}

/// Keeps messages in a transaction of their own.
async fn put_alone(session: &mut Session, content: &NewContent) -> Result<usize, Error> {
    session.batch("BEGIN").await?;
    let reader = reader_number(session, content.conversation.reader.as_str()).await?;
    let conversation = conversation_number(session, &content.conversation, content.at).await?;
    let new = put(session, content, reader, conversation).await?;
    session.batch("COMMIT").await?;
    Ok(new)
}

async fn recall(session: &mut Session, request: &RecallRequest) -> Result<Recalled, Error> {
    let point = match pointed(session, &request.reader, &request.point).await? {
        Tagged::Unknown => return Ok(Recalled::UnknownTag),
        Tagged::Ambiguous => return Ok(Recalled::AmbiguousTag),
        Tagged::Point(point) => point,
    };
    let (wanted, missing) = addressed(&chain_to(session, point).await?, point, &request.address);
    let positions: Vec<i64> = wanted.iter().map(|found| found.position).collect();
    let sizes = sizes(session, &positions).await?;
    let (mut fitting, mut bytes) = (Vec::new(), 0_usize);
    for found in &wanted {
        bytes = bytes.saturating_add(sizes.get(&found.position).copied().unwrap_or_default());
        if bytes > request.max_bytes.min(MAX_PAGE_BYTES) && !fitting.is_empty() {
            let messages = archived(session, &fitting).await?;
            return Ok(Recalled::Messages { messages, next: Some(found.index) });
        }
        fitting.push(found.position);
    }
    match missing {
        Some(index) => Ok(Recalled::Missing { index }),
        None => Ok(Recalled::Messages { messages: archived(session, &fitting).await?, next: None }),
    }
}

/// The point of a reader's chain that is meant.
async fn pointed(session: &mut Session, reader: &ReaderId, point: &ChainPoint) -> Result<Tagged, Error> {
    let Some(reader) = find_reader(session, reader.as_str()).await? else { return Ok(Tagged::Unknown) };
    match point {
        ChainPoint::Tag(tag) => tagged(session, reader, tag).await,
        ChainPoint::Newest(id) => Ok(newest_point(session, reader, id).await?.map_or(Tagged::Unknown, Tagged::Point)),
    }
}

async fn places(session: &mut Session, reader: &ReaderId, point: &ChainPoint) -> Result<Vec<ChainPlace>, Error> {
    let Tagged::Point(point) = pointed(session, reader, point).await? else { return Ok(Vec::new()) };
    let positions: Vec<i64> = chain_to(session, point).await?.iter().map(|found| found.position).collect();
    // Along a chain indices ascend.
    let sql = "SELECT message_index, chain FROM louver.positions WHERE id = ANY ($1) ORDER BY message_index";
    let rows = session.query(sql, &[&positions]).await?;
    rows.iter().map(|row| Ok(ChainPlace { index: small(row, 0)?, chain: chain_hash(row, 1)? })).collect()
}

async fn has_content(session: &mut Session, reader: &ReaderId) -> Result<bool, Error> {
    let sql =
        "SELECT EXISTS (SELECT FROM louver.readers r JOIN louver.messages m ON m.reader = r.number WHERE r.name = $1)";
    Ok(session.query_one(sql, &[&text(reader.as_str())]).await?.try_get(0)?)
}

async fn all(
    session: &mut Session,
    whose: &Whose,
    conversation: &ConversationId,
    page: PageRequest,
) -> Result<Page<ArchivedMessage>, Error> {
    let reader = match whose {
        Whose::Everybody => None,
        Whose::Only(reader) => Some(find_reader(session, reader.as_str()).await?.unwrap_or_default()),
    };
    let sql = "SELECT p.message_index, p.id, m.bytes FROM louver.conversations c
            JOIN louver.threads t ON t.conversation = c.number
            JOIN louver.positions p ON p.thread = t.number JOIN louver.messages m ON m.id = p.message
        WHERE c.id = $1 AND coalesce(t.reader = $2, TRUE) AND (p.message_index, p.id) > ($3, $4)
        ORDER BY p.message_index, p.id LIMIT $5";
    let after = page.after.unwrap_or(Cursor { order: -1, number: 0 });
    let id = text(conversation.as_str());
    let rows = session.query(sql, &[&id, &reader, &after.order, &after.number, &page.one_more()]).await?;
    let (mut cursors, mut bytes, mut limit) = (Vec::new(), 0_usize, page.limit());
    for row in &rows {
        bytes = bytes.saturating_add(small::<u32>(row, 2)? as usize);
        if bytes > MAX_PAGE_BYTES && !cursors.is_empty() {
            limit = limit.min(cursors.len());
        }
        cursors.push(Cursor { order: row.try_get(0)?, number: row.try_get(1)? });
    }
    // One more than wanted says that there is another page; its text is not needed.
    let positions: Vec<i64> = cursors.iter().take(limit).map(|cursor| cursor.number).collect();
    let messages = archived(session, &positions).await?;
    let next = (cursors.len() > limit).then(|| cursors[limit - 1]);
    Ok(Page { rows: messages, next })
}
