//! Readers, conversations and requests as they are written down.

use super::session::Session;
use super::values::text;
use crate::account::{ConversationInfo, Outcome, RequestEntry, Usage};
use crate::bounds::{amount, count, cut_short};
use crate::error::Error;
use crate::money::NanoUsd;
use crate::time::UnixMillis;

/// A conversation as it is heard of: found or made.
const HEARD: &str = "INSERT INTO louver.conversations AS c (id, parent, reader, format, model, first_ms, last_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $6)
    ON CONFLICT (id) DO UPDATE SET parent = coalesce(c.parent, excluded.parent), model = excluded.model,
        first_ms = least(c.first_ms, excluded.first_ms), last_ms = greatest(c.last_ms, excluded.last_ms)
    RETURNING number";

/// The sums of a conversation, with one more request.
const ADD_UP: &str =
    "UPDATE louver.conversations SET requests = requests + 1, cuts = cuts + $2, rescued = rescued + $3,
        last_sent = coalesce($4, last_sent), last_held = coalesce($5, last_held),
        sent = sent + coalesce($4, 0), held = held + coalesce($5, 0),
        input = input + $6, cache_read = cache_read + $7, cache_write_5m = cache_write_5m + $8,
        cache_write_1h = cache_write_1h + $9, output = output + $10, reasoning = reasoning + $11,
        cost_nano = cost_nano + $12, baseline_nano = baseline_nano + $13
    WHERE number = $1";

const INSERT: &str =
    "INSERT INTO louver.requests (conversation, at_ms, upstream, model, outcome, is_repeat, status, input,
        cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost_nano, baseline_nano, sent, held,
        observed_sent, observed_cost_nano, cut_reason, cache_break, duration_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)";

/// Finds or makes the number of a reader.
pub(super) async fn reader_number(session: &mut Session, name: &str) -> Result<i64, Error> {
    if let Some(number) = find_reader(session, name).await? {
        return Ok(number);
    }
    let sql = "INSERT INTO louver.readers (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name
        RETURNING number";
    Ok(session.query_one(sql, &[&text(cut_short(name))]).await?.try_get(0)?)
}

/// The number of a reader that is known.
pub(super) async fn find_reader(session: &mut Session, name: &str) -> Result<Option<i64>, Error> {
    let row = session.query_opt("SELECT number FROM louver.readers WHERE name = $1", &[&text(cut_short(name))]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Finds or makes a conversation, and notes that it was heard of.
pub(super) async fn conversation_number(
    session: &mut Session,
    info: &ConversationInfo,
    at: UnixMillis,
) -> Result<i64, Error> {
    let reader = reader_number(session, info.reader.as_str()).await?;
    let parent = info.parent.as_ref().map(|parent| text(cut_short(parent.as_str())));
    let (id, model) = (text(cut_short(info.id.as_str())), text(cut_short(&info.model)));
    let row = session.query_one(HEARD, &[&id, &parent, &reader, &info.format.name(), &model, &at.0]).await?;
    Ok(row.try_get(0)?)
}

/// Takes a request into the account.
pub(super) async fn insert(
    session: &mut Session,
    info: &ConversationInfo,
    request: &RequestEntry,
) -> Result<(), Error> {
    let conversation = conversation_number(session, info, request.at).await?;
    let usage = |part: fn(&Usage) -> u64| request.usage.as_ref().map(part).map(count);
    let nano = |money: Option<NanoUsd>| money.map(|money| amount(money.0));
    let short = |words: &Option<String>| words.as_deref().map(|words| text(cut_short(words)).into_owned());
    session
        .execute(
            INSERT,
            &[
                &conversation,
                &request.at.0,
                &text(cut_short(&request.upstream)),
                &text(cut_short(&request.model)),
                &request.outcome.name(),
                &request.is_repeat,
                &request.status.map(i64::from),
                &usage(|usage| usage.input),
                &usage(|usage| usage.cache_read),
                &usage(|usage| usage.cache_write_5m),
                &usage(|usage| usage.cache_write_1h),
                &usage(|usage| usage.output),
                &usage(|usage| usage.reasoning),
                &nano(request.cost),
                &nano(request.baseline),
                &request.tokens.map(|tokens| count(tokens.sent)),
                &request.tokens.map(|tokens| count(tokens.held)),
                &request.observed.map(|observed| count(observed.sent)),
                &nano(request.observed.and_then(|observed| observed.cost)),
                &short(&request.cut_reason),
                &short(&request.cache_break),
                &count(request.duration_ms),
            ],
        )
        .await?;
    add_up(session, conversation, request).await
}

async fn add_up(session: &mut Session, conversation: i64, request: &RequestEntry) -> Result<(), Error> {
    let usage = request.usage.unwrap_or_default();
    let is_rescued = request.outcome == Outcome::Rescued && !request.is_repeat;
    let is_cut = is_rescued || (request.outcome == Outcome::Cut && !request.is_repeat);
    session
        .execute(
            ADD_UP,
            &[
                &conversation,
                &i64::from(is_cut),
                &i64::from(is_rescued),
                &request.tokens.map(|tokens| count(tokens.sent)),
                &request.tokens.map(|tokens| count(tokens.held)),
                &count(usage.input),
                &count(usage.cache_read),
                &count(usage.cache_write_5m),
                &count(usage.cache_write_1h),
                &count(usage.output),
                &count(usage.reasoning),
                &amount(request.cost.unwrap_or_default().0),
                &amount(request.baseline.unwrap_or_default().0),
            ],
        )
        .await
        .map(drop)
}
