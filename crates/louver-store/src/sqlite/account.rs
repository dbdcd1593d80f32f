//! The account in SQLite.

use super::SqliteStore;
use super::values::counted;
use super::writes::behind;
use crate::account::{
    Account, ConversationAccount, ConversationInfo, Observed, Order, Outcome, Queued, RequestEntry, Spending, Spent,
    Tokens, Usage, Whose,
};
use crate::bounds::{amount, count, cut_short};
use crate::error::Error;
use crate::money::NanoUsd;
use crate::name::ConversationId;
use crate::page::{Cursor, Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::str::FromStr;

const CONVERSATION: &str =
    "c.number, c.last_ms, c.id, c.parent, r.name, c.format, c.model, c.first_ms, c.requests, c.cuts,
    c.rescued, c.last_sent, c.last_held, c.sent, c.held, c.input, c.cache_read, c.cache_write_5m, c.cache_write_1h,
    c.output, c.reasoning, c.cost_nano, c.baseline_nano";
const REQUEST: &str = "number, at_ms, upstream, model, outcome, is_repeat, status, input, cache_read, cache_write_5m,
    cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held, observed_sent, observed_cost_nano, cut_reason,
    cache_break, duration_ms";

const OF_EVERYBODY: &str = "?3 IS NULL";
const OF_ONE: &str = "c.reader = ?3";

#[async_trait]
impl Account for SqliteStore {
    fn record_request(&self, conversation: &ConversationInfo, request: RequestEntry) -> Queued {
        let conversation = conversation.clone();
        self.writes.push(behind(1 << 10, move |connection| insert(connection, &conversation, &request)))
    }

    async fn conversations_by(
        &self,
        order: Order,
        whose: Whose,
        page: PageRequest,
    ) -> Result<Page<ConversationAccount>, Error> {
        self.reads.ask(move |connection| conversations(connection, order, &whose, page)).await
    }

    async fn spending(&self, whose: Whose, since: UnixMillis) -> Result<Spending, Error> {
        self.reads.ask(move |connection| spending(&*connection.transaction()?, &whose, since)).await
    }

    async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationAccount>, Error> {
        let sql =
            format!("SELECT {CONVERSATION} FROM conversations c JOIN readers r ON r.number = c.reader WHERE c.id = ?1");
        let find = move |connection: &mut Connection| {
            Ok(connection.prepare_cached(&sql)?.query_row([id.as_str()], conversation).optional()?)
        };
        Ok(self.reads.ask(find).await?.map(|(_, found)| found))
    }

    async fn requests(&self, id: ConversationId, page: PageRequest) -> Result<Page<RequestEntry>, Error> {
        self.reads.ask(move |connection| requests(connection, &id, page)).await
    }
}

/// Finds or makes the number of a reader.
pub(super) fn reader_number(connection: &Connection, name: &str) -> Result<i64, Error> {
    let known = find_reader(connection, name)?;
    if let Some(number) = known {
        return Ok(number);
    }
    connection.prepare_cached("INSERT INTO readers (name) VALUES (?1)")?.execute([cut_short(name)])?;
    Ok(connection.last_insert_rowid())
}

/// The number of a reader that is known.
pub(super) fn find_reader(connection: &Connection, name: &str) -> Result<Option<i64>, Error> {
    let sql = "SELECT number FROM readers WHERE name = ?1";
    Ok(connection.prepare_cached(sql)?.query_row([cut_short(name)], |row| row.get(0)).optional()?)
}

/// Finds or makes a conversation, and notes that it was heard of.
pub(super) fn conversation_number(
    connection: &Connection,
    info: &ConversationInfo,
    at: UnixMillis,
) -> Result<i64, Error> {
    let reader = reader_number(connection, info.reader.as_str())?;
    let sql = "INSERT INTO conversations (id, parent, reader, format, model, first_ms, last_ms)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
        ON CONFLICT (id) DO UPDATE SET parent = coalesce(parent, excluded.parent), model = excluded.model,
            first_ms = min(first_ms, excluded.first_ms), last_ms = max(last_ms, excluded.last_ms)
        RETURNING number";
    let parent = info.parent.as_ref().map(|parent| cut_short(parent.as_str()));
    let values = params![cut_short(info.id.as_str()), parent, reader, info.format.name(), cut_short(&info.model), at.0];
    Ok(connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// Takes a request into the account.
fn insert(connection: &Connection, info: &ConversationInfo, request: &RequestEntry) -> Result<(), Error> {
    let conversation = conversation_number(connection, info, request.at)?;
    let sql = "INSERT INTO requests (conversation, at_ms, upstream, model, outcome, is_repeat, status, input, cache_read,
            cache_write_5m, cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held, observed_sent,
            observed_cost_nano, cut_reason, cache_break, duration_ms)
        VALUES (:conversation, :at, :upstream, :model, :outcome, :is_repeat, :status, :input, :cache_read, :cache_write_5m,
            :cache_write_1h, :output, :reasoning, :cost, :baseline, :sent, :held, :observed_sent, :observed_cost,
            :cut_reason, :cache_break, :duration)";
    let usage = |part: fn(&Usage) -> u64| request.usage.as_ref().map(part).map(count);
    let nano = |money: Option<NanoUsd>| money.map(|money| amount(money.0));
    connection.prepare_cached(sql)?.execute(named_params! {
        ":conversation": conversation,
        ":at": request.at.0,
        ":upstream": cut_short(&request.upstream),
        ":model": cut_short(&request.model),
        ":outcome": request.outcome.name(),
        ":is_repeat": request.is_repeat,
        ":status": request.status,
        ":input": usage(|usage| usage.input),
        ":cache_read": usage(|usage| usage.cache_read),
        ":cache_write_5m": usage(|usage| usage.cache_write_5m),
        ":cache_write_1h": usage(|usage| usage.cache_write_1h),
        ":output": usage(|usage| usage.output),
        ":reasoning": usage(|usage| usage.reasoning),
        ":cost": nano(request.cost),
        ":baseline": nano(request.baseline),
        ":sent": request.tokens.map(|tokens| count(tokens.sent)),
        ":held": request.tokens.map(|tokens| count(tokens.held)),
        ":observed_sent": request.observed.map(|observed| count(observed.sent)),
        ":observed_cost": nano(request.observed.and_then(|observed| observed.cost)),
        ":cut_reason": request.cut_reason.as_deref().map(cut_short),
        ":cache_break": request.cache_break.as_deref().map(cut_short),
        ":duration": count(request.duration_ms),
    })?;
    add_up(connection, conversation, request)
}

fn add_up(connection: &Connection, conversation: i64, request: &RequestEntry) -> Result<(), Error> {
    let sql = "UPDATE conversations SET requests = requests + 1, cuts = cuts + :cuts, rescued = rescued + :rescued,
            last_sent = coalesce(:sent, last_sent), last_held = coalesce(:held, last_held),
            sent = sent + coalesce(:sent, 0), held = held + coalesce(:held, 0),
            input = input + :input, cache_read = cache_read + :cache_read,
            cache_write_5m = cache_write_5m + :cache_write_5m, cache_write_1h = cache_write_1h + :cache_write_1h,
            output = output + :output, reasoning = reasoning + :reasoning,
            cost_nano = cost_nano + :cost, baseline_nano = baseline_nano + :baseline
        WHERE number = :conversation";
    let usage = request.usage.unwrap_or_default();
    let is_rescued = request.outcome == Outcome::Rescued && !request.is_repeat;
    let is_cut = is_rescued || (request.outcome == Outcome::Cut && !request.is_repeat);
    connection.prepare_cached(sql)?.execute(named_params! {
        ":conversation": conversation,
        ":cuts": is_cut,
        ":rescued": is_rescued,
        ":sent": request.tokens.map(|tokens| count(tokens.sent)),
        ":held": request.tokens.map(|tokens| count(tokens.held)),
        ":input": count(usage.input),
        ":cache_read": count(usage.cache_read),
        ":cache_write_5m": count(usage.cache_write_5m),
        ":cache_write_1h": count(usage.cache_write_1h),
        ":output": count(usage.output),
        ":reasoning": count(usage.reasoning),
        ":cost": amount(request.cost.unwrap_or_default().0),
        ":baseline": amount(request.baseline.unwrap_or_default().0),
    })?;
    Ok(())
}

/// Conversations behind a place in an order: `?1` and `?2` say where that is, `?4` how many are wanted.
fn in_order(order: Order, condition: &str) -> String {
    let column = order.column();
    // An index on an expression is entered by the expression alone.
    format!(
        "SELECT {CONVERSATION} FROM conversations c JOIN readers r ON r.number = c.reader
        WHERE {column} <= ?1 AND ({column}, c.number) < (?1, ?2) AND {condition}
        ORDER BY {column} DESC, c.number DESC LIMIT ?4"
    )
}

fn conversations(
    connection: &Connection,
    order: Order,
    whose: &Whose,
    page: PageRequest,
) -> Result<Page<ConversationAccount>, Error> {
    let (condition, reader) = match whose {
        Whose::Everybody => (OF_EVERYBODY, None),
        Whose::Only(reader) => match find_reader(connection, reader.as_str())? {
            Some(number) => (OF_ONE, Some(number)),
            None => return Ok(Page::of(Vec::new(), page.limit())),
        },
    };
    let sql = in_order(order, condition);
    let after = page.after.unwrap_or(Cursor { order: i64::MAX, number: i64::MAX });
    let limit = page.limit();
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![after.order, after.number, reader, page.one_more()], conversation)?;
    let cursor =
        |(number, account): (i64, ConversationAccount)| (Cursor { order: order.of(&account), number }, account);
    Ok(Page::of(rows.map(|row| row.map(cursor)).collect::<Result<_, _>>()?, limit))
}

fn spending(connection: &Connection, whose: &Whose, since: UnixMillis) -> Result<Spending, Error> {
    let reader = match whose {
        Whose::Everybody => None,
        Whose::Only(reader) => match find_reader(connection, reader.as_str())? {
            Some(number) => Some(number),
            None => return Ok(Spending::default()),
        },
    };
    // The index has everything, in the order of time. To sort and group it again would take several times as long as to add
    // it up.
    let sql = "SELECT at_ms, conversation, model, cost_nano, baseline_nano FROM requests WHERE at_ms >= ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([since.0])?;
    let mut leads = connection.prepare_cached("SELECT reader FROM conversations WHERE number = ?1")?;
    let (mut leaders, mut models, mut sums) = (HashMap::new(), Vec::<String>::new(), HashMap::new());
    while let Some(row) = rows.next()? {
        let leader = match leaders.entry(row.get::<_, i64>(1)?) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(leads.query_row([row.get::<_, i64>(1)?], |row| row.get::<_, i64>(0))?),
        };
        if reader.is_some_and(|reader| reader != leader) {
            continue;
        }
        let model = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let model = models.iter().position(|known| known == model).unwrap_or_else(|| {
            models.push(model.to_owned());
            models.len() - 1
        });
        let nano = |column: usize| row.get::<_, Option<i64>>(column).map(|nano| NanoUsd(nano.unwrap_or_default()));
        let sum: &mut Spent = sums.entry((UnixMillis(row.get(0)?).day(), model, leader)).or_default();
        *sum = *sum + Spent { requests: 1, cost: nano(3)?, baseline: nano(4)? };
    }
    let mut name = connection.prepare_cached("SELECT name FROM readers WHERE number = ?1")?;
    let mut spending = Spending::default();
    for ((day, model, leader), spent) in sums {
        spending.add(day, models[model].clone(), name.query_row([leader], |row| row.get(0))?, spent);
    }
    Ok(spending)
}

fn requests(connection: &Connection, id: &ConversationId, page: PageRequest) -> Result<Page<RequestEntry>, Error> {
    let sql = format!(
        "SELECT {REQUEST} FROM requests
        WHERE conversation = (SELECT number FROM conversations WHERE id = ?1) AND number > ?2 ORDER BY number LIMIT ?3"
    );
    let (after, limit) = (page.after.map_or(0, |cursor| cursor.number), page.limit());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![id.as_str(), after, page.one_more()], request)?;
    Ok(Page::of(rows.collect::<Result<_, _>>()?, limit))
}

fn conversation(row: &Row<'_>) -> rusqlite::Result<(i64, ConversationAccount)> {
    let info = ConversationInfo {
        id: row.get::<_, String>(2)?.into(),
        parent: row.get::<_, Option<String>>(3)?.map(Into::into),
        reader: row.get::<_, String>(4)?.into(),
        format: named(row, 5)?,
        model: row.get(6)?,
    };
    let account = ConversationAccount {
        info,
        first: UnixMillis(row.get(7)?),
        last: UnixMillis(row.get(1)?),
        requests: counted(row, 8)?,
        cuts: counted(row, 9)?,
        rescued: counted(row, 10)?,
        last_tokens: tokens(row, 11)?,
        tokens: tokens(row, 13)?.unwrap_or_default(),
        usage: usage(row, 15)?.unwrap_or_default(),
        cost: NanoUsd(row.get(21)?),
        baseline: NanoUsd(row.get(22)?),
    };
    Ok((row.get(0)?, account))
}

fn request(row: &Row<'_>) -> rusqlite::Result<(Cursor, RequestEntry)> {
    let observed_cost = row.get::<_, Option<i64>>(18)?.map(NanoUsd);
    let observed = optional_count(row, 17)?.map(|sent| Observed { sent, cost: observed_cost });
    let entry = RequestEntry {
        at: UnixMillis(row.get(1)?),
        upstream: row.get(2)?,
        model: row.get(3)?,
        outcome: named(row, 4)?,
        is_repeat: row.get(5)?,
        status: row.get(6)?,
        usage: usage(row, 7)?,
        cost: row.get::<_, Option<i64>>(13)?.map(NanoUsd),
        baseline: row.get::<_, Option<i64>>(14)?.map(NanoUsd),
        tokens: tokens(row, 15)?,
        observed,
        cut_reason: row.get(19)?,
        cache_break: row.get(20)?,
        duration_ms: counted(row, 21)?,
    };
    Ok((Cursor { order: 0, number: row.get(0)? }, entry))
}

/// Six columns, all of them or none.
fn usage(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Usage>> {
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
fn tokens(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Tokens>> {
    let (sent, held) = (optional_count(row, first)?, optional_count(row, first + 1)?);
    Ok(sent.zip(held).map(|(sent, held)| Tokens { sent, held }))
}

fn optional_count(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or_default()))
}

/// Something that is kept by its name.
pub(super) fn named<T: FromStr>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let name = row.get_ref(column)?.as_str()?;
    name.parse().map_err(|cause| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(cause)))
}

#[cfg(test)]
mod tests {
    use super::{OF_EVERYBODY, OF_ONE, Order, in_order};
    use crate::sqlite::migrations::{MIGRATIONS, migrate};
    use rusqlite::{Connection, params};

    /// How SQLite goes about a page of conversations.
    fn plan(order: Order, condition: &str) -> String {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, MIGRATIONS).unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", in_order(order, condition));
        let mut statement = connection.prepare(&sql).unwrap();
        let steps = statement.query_map(params![1, 2, 3, 4], |row| row.get::<_, String>(3)).unwrap();
        steps.map(Result::unwrap).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_order_of_conversations_is_read_from_an_index() {
        for (order, condition, index) in [
            (Order::Newest, OF_EVERYBODY, "conversations_by_last (last_ms<?)"),
            (Order::Newest, OF_ONE, "conversations_by_reader (reader=? AND last_ms<?)"),
            (Order::Dearest, OF_EVERYBODY, "conversations_by_cost (cost_nano<?)"),
            (Order::Dearest, OF_ONE, "conversations_by_reader_cost (reader=? AND cost_nano<?)"),
            (Order::MostSaved, OF_EVERYBODY, "conversations_by_saving (<expr><?)"),
            (Order::MostSaved, OF_ONE, "conversations_by_reader_saving (reader=? AND <expr><?)"),
        ] {
            let plan = plan(order, condition);
            assert!(plan.contains(&format!("SEARCH c USING INDEX {index}")), "{order:?} {condition}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{order:?} {condition}: {plan}");
        }
    }
}
