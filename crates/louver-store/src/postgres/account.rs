//! The account in PostgreSQL.

use super::PostgresStore;
use super::booking::find_reader;
use super::pool::Lane;
use super::session::Session;
use super::values::{counted, name, named, optional_count, optional_name, text};
use super::writer::Entry;
use crate::account::{
    Account, ConversationAccount, ConversationInfo, Observed, Order, Queued, RequestEntry, Spending, Spent, Tokens,
    Usage, Whose,
};
use crate::error::Error;
use crate::money::NanoUsd;
use crate::name::ConversationId;
use crate::page::{Cursor, Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use tokio_postgres::Row;

const CONVERSATION: &str =
    "c.number, c.last_ms, c.id, c.parent, r.name, c.format, c.model, c.first_ms, c.requests, c.cuts,
    c.rescued, c.last_sent, c.last_held, c.sent, c.held, c.input, c.cache_read, c.cache_write_5m, c.cache_write_1h,
    c.output, c.reasoning, c.cost_nano, c.baseline_nano";
const REQUEST: &str = "number, at_ms, upstream, model, outcome, is_repeat, status, input, cache_read, cache_write_5m,
    cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held, observed_sent, observed_cost_nano, cut_reason,
    cache_break, duration_ms";

#[async_trait]
impl Account for PostgresStore {
    fn record_request(&self, conversation: &ConversationInfo, request: RequestEntry) -> Queued {
        self.writer.push(1 << 10, Entry::Request(Box::new((conversation.clone(), request))))
    }

    async fn conversations_by(
        &self,
        order: Order,
        whose: Whose,
        page: PageRequest,
    ) -> Result<Page<ConversationAccount>, Error> {
        let asked = (order, whose, page);
        self.pool
            .run(Lane::Long, asked, |session, (order, whose, page)| {
                Box::pin(conversations(session, *order, whose, *page))
            })
            .await
    }

    async fn spending(&self, whose: Whose, since: UnixMillis) -> Result<Spending, Error> {
        self.pool
            .run(Lane::Long, (whose, since), |session, (whose, since)| Box::pin(spending(session, whose, *since)))
            .await
    }

    async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationAccount>, Error> {
        self.pool.run(Lane::Long, id, |session, id| Box::pin(one(session, id))).await
    }

    async fn requests(&self, id: ConversationId, page: PageRequest) -> Result<Page<RequestEntry>, Error> {
        self.pool.run(Lane::Long, (id, page), |session, (id, page)| Box::pin(requests(session, id, *page))).await
    }
}

async fn conversations(
    session: &mut Session,
    order: Order,
    whose: &Whose,
    page: PageRequest,
) -> Result<Page<ConversationAccount>, Error> {
    let (condition, reader) = match whose {
        Whose::Everybody => ("$3::bigint IS NULL", None),
        Whose::Only(reader) => match find_reader(session, reader.as_str()).await? {
            Some(number) => ("c.reader = $3", Some(number)),
            None => return Ok(Page::of(Vec::new(), page.limit())),
        },
    };
    let column = order.column();
    let sql = format!(
        "SELECT {CONVERSATION} FROM louver.conversations c JOIN louver.readers r ON r.number = c.reader
        WHERE {column} <= $1 AND ({column}, c.number) < ($1, $2) AND {condition}
        ORDER BY {column} DESC, c.number DESC LIMIT $4"
    );
    let after = page.after.unwrap_or(Cursor { order: i64::MAX, number: i64::MAX });
    let rows = session.query(&sql, &[&after.order, &after.number, &reader, &page.one_more()]).await?;
    let placed = |row: &Row| {
        let (number, account) = conversation(row)?;
        Ok((Cursor { order: order.of(&account), number }, account))
    };
    Ok(Page::of(rows.iter().map(placed).collect::<Result<_, Error>>()?, page.limit()))
}

async fn spending(session: &mut Session, whose: &Whose, since: UnixMillis) -> Result<Spending, Error> {
    let reader = match whose {
        Whose::Everybody => None,
        Whose::Only(reader) => match find_reader(session, reader.as_str()).await? {
            Some(number) => Some(number),
            None => return Ok(Spending::default()),
        },
    };
    // A sum of whole numbers is none of PostgreSQL's whole numbers.
    let sql = format!(
        "SELECT q.at_ms / {DAY}, q.model, r.name, count(*), sum(q.cost_nano)::bigint, sum(q.baseline_nano)::bigint
        FROM louver.requests q JOIN louver.conversations c ON c.number = q.conversation
            JOIN louver.readers r ON r.number = c.reader
        WHERE q.at_ms >= $1 AND ($2::bigint IS NULL OR c.reader = $2) GROUP BY 1, 2, 3",
        DAY = UnixMillis::DAY,
    );
    let mut spending = Spending::default();
    for row in session.query(&sql, &[&since.0, &reader]).await? {
        let nano = |column: usize| row.try_get::<_, Option<i64>>(column).map(|nano| NanoUsd(nano.unwrap_or_default()));
        let spent = Spent { requests: counted(&row, 3)?, cost: nano(4)?, baseline: nano(5)? };
        spending.add(row.try_get(0)?, name(&row, 1)?, name(&row, 2)?, spent);
    }
    Ok(spending)
}

async fn one(session: &mut Session, id: &ConversationId) -> Result<Option<ConversationAccount>, Error> {
    let sql = format!(
        "SELECT {CONVERSATION} FROM louver.conversations c JOIN louver.readers r ON r.number = c.reader WHERE c.id = $1"
    );
    let row = session.query_opt(&sql, &[&text(id.as_str())]).await?;
    Ok(row.as_ref().map(conversation).transpose()?.map(|(_, found)| found))
}

async fn requests(session: &mut Session, id: &ConversationId, page: PageRequest) -> Result<Page<RequestEntry>, Error> {
    let sql = format!(
        "SELECT {REQUEST} FROM louver.requests
        WHERE conversation = (SELECT number FROM louver.conversations WHERE id = $1) AND number > $2
        ORDER BY number LIMIT $3"
    );
    let after = page.after.map_or(0, |cursor| cursor.number);
    let rows = session.query(&sql, &[&text(id.as_str()), &after, &page.one_more()]).await?;
    Ok(Page::of(rows.iter().map(request).collect::<Result<_, _>>()?, page.limit()))
}

fn conversation(row: &Row) -> Result<(i64, ConversationAccount), Error> {
    let info = ConversationInfo {
        id: name(row, 2)?.into(),
        parent: optional_name(row, 3)?.map(Into::into),
        reader: name(row, 4)?.into(),
        format: named(row, 5)?,
        model: name(row, 6)?,
    };
    let account = ConversationAccount {
        info,
        first: UnixMillis(row.try_get(7)?),
        last: UnixMillis(row.try_get(1)?),
        requests: counted(row, 8)?,
        cuts: counted(row, 9)?,
        rescued: counted(row, 10)?,
        last_tokens: tokens(row, 11)?,
        tokens: Tokens { sent: counted(row, 13)?, held: counted(row, 14)? },
        usage: usage(row, 15)?.unwrap_or_default(),
        cost: NanoUsd(row.try_get(21)?),
        baseline: NanoUsd(row.try_get(22)?),
    };
    Ok((row.try_get(0)?, account))
}

fn request(row: &Row) -> Result<(Cursor, RequestEntry), Error> {
    let observed_cost = row.try_get::<_, Option<i64>>(18)?.map(NanoUsd);
    let entry = RequestEntry {
        at: UnixMillis(row.try_get(1)?),
        upstream: name(row, 2)?,
        model: name(row, 3)?,
        outcome: named(row, 4)?,
        is_repeat: row.try_get(5)?,
        status: row.try_get::<_, Option<i64>>(6)?.and_then(|status| u16::try_from(status).ok()),
        usage: usage(row, 7)?,
        cost: row.try_get::<_, Option<i64>>(13)?.map(NanoUsd),
        baseline: row.try_get::<_, Option<i64>>(14)?.map(NanoUsd),
        tokens: tokens(row, 15)?,
        observed: optional_count(row, 17)?.map(|sent| Observed { sent, cost: observed_cost }),
        cut_reason: optional_name(row, 19)?,
        cache_break: optional_name(row, 20)?,
        duration_ms: counted(row, 21)?,
    };
    Ok((Cursor { order: 0, number: row.try_get(0)? }, entry))
}

/// Six columns, all of them or none.
fn usage(row: &Row, first: usize) -> Result<Option<Usage>, Error> {
    let Some(input) = optional_count(row, first)? else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input,
        cache_read: counted(row, first + 1)?,
        cache_write_5m: counted(row, first + 2)?,
        cache_write_1h: counted(row, first + 3)?,
        output: counted(row, first + 4)?,
        reasoning: counted(row, first + 5)?,
    }))
}

/// Two columns, both or none.
fn tokens(row: &Row, first: usize) -> Result<Option<Tokens>, Error> {
    let (sent, held) = (optional_count(row, first)?, optional_count(row, first + 1)?);
    Ok(sent.zip(held).map(|(sent, held)| Tokens { sent, held }))
}
