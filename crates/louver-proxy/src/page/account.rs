//! Conversations, their requests, and money.

use super::asked::Query;
use super::{Answered, Fault, NEXT, Page, json_answer};
use crate::clock::now;
use http::HeaderValue;
use louver_store::{ConversationAccount, Cursor, Order, RequestEntry, Spent, UnixMillis, Usage, Whose};
use serde_json::{Value, json};

/// How many rows a page has where nothing else is asked for.
const ROWS: usize = 200;

/// How many days of money are shown where nothing else is asked for, and at most.
const DAYS: usize = 30;
const MAX_DAYS: usize = 366;

/// How many models and readers are named; what is left of the others is added up.
const NAMED: usize = 50;

impl Page {
    pub(super) async fn conversations(&self, query: &Query) -> Answered {
        let order = query.get("order").map(str::parse::<Order>).transpose()?.unwrap_or_default();
        let page = query.page(ROWS)?;
        self.store.flush().await?;
        let found = self.store.conversations_by(order, self.whose.clone(), page).await?;
        let mut answer = json_answer(&found.rows.iter().map(conversation).collect());
        if let Some(next) = next(found.next).as_str().and_then(|next| HeaderValue::from_str(next).ok()) {
            answer.headers_mut().insert(NEXT, next);
        }
        Ok(answer)
    }

    pub(super) async fn conversation(&self, id: &str, query: &Query) -> Result<Value, Fault> {
        let page = query.page(ROWS)?;
        let found = self.account(id).await?;
        let requests = self.store.requests(id.into(), page).await?;
        let mut value = conversation(&found);
        value["request_list"] = requests.rows.iter().map(request_entry).collect();
        value["next"] = next(requests.next);
        Ok(value)
    }

    pub(super) async fn money(&self, query: &Query) -> Result<Value, Fault> {
        let days = query.number("days")?.unwrap_or(DAYS).clamp(1, MAX_DAYS);
        let today = now().day();
        let first = today - (days as i64 - 1);
        self.store.flush().await?;
        let since = UnixMillis::default().plus_days(first);
        let spending = self.store.spending(self.whose.clone(), since).await?;
        // A day without requests is a day, too: a chart has a place for it.
        let by_day =
            (first..=today).map(|day| spent(&date(day), spending.by_day.get(&day).copied().unwrap_or_default()));
        let by_day: Vec<Value> = by_day.collect();
        let readers = spending.by_reader.into_iter().map(|(reader, spent)| (reader.to_string(), spent));
        Ok(json!({
            "days": by_day,
            "models": dearest(spending.by_model.into_iter().collect()),
            // Whose money it is says nothing to somebody who sees their own alone.
            "readers": if self.whose == Whose::Everybody { dearest(readers.collect()) } else { Vec::new() },
        }))
    }
}

pub(super) fn next(cursor: Option<Cursor>) -> Value {
    cursor.map_or(Value::Null, |cursor| cursor.to_string().into())
}

/// The dearest by name, and the others as one row without a name.
fn dearest(mut named: Vec<(String, Spent)>) -> Vec<Value> {
    named.sort_by(|(a, one), (b, other)| other.cost.cmp(&one.cost).then_with(|| a.cmp(b)));
    let others = named.split_off(named.len().min(NAMED));
    let mut rows: Vec<Value> = named.into_iter().map(|(name, sum)| spent(&name, sum)).collect();
    if !others.is_empty() {
        rows.push(spent("", others.into_iter().fold(Spent::default(), |sum, (_, spent)| sum + spent)));
    }
    rows
}

fn spent(name: &str, spent: Spent) -> Value {
    json!({
        "name": name,
        "requests": spent.requests,
        "cost_usd": spent.cost.usd(),
        "baseline_usd": spent.baseline.usd(),
    })
}

/// A day of the calendar, given how many have passed since the start of 1970.
fn date(day: i64) -> String {
    // Years are counted from the first of March, so that a leap day is the last day of its year.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn conversation(account: &ConversationAccount) -> Value {
    let tokens = |sent: u64, held: u64| json!({ "sent": sent, "held": held });
    json!({
        "id": account.info.id.as_str(),
        "parent": account.info.parent.as_ref().map(|parent| parent.as_str()),
        "reader": account.info.reader.as_str(),
        "format": account.info.format.to_string(),
        "model": account.info.model,
        "first": account.first.0,
        "last": account.last.0,
        "requests": account.requests,
        "cuts": account.cuts,
        "rescued": account.rescued,
        "tokens": tokens(account.tokens.sent, account.tokens.held),
        "last_tokens": account.last_tokens.map(|last| tokens(last.sent, last.held)),
        "usage": usage(account.usage),
        "hit_rate": hit_rate(account.usage),
        "cost_usd": account.cost.usd(),
        "baseline_usd": account.baseline.usd(),
    })
}

pub(super) fn request_entry(entry: &RequestEntry) -> Value {
    json!({
        "at": entry.at.0,
        "upstream": entry.upstream,
        "model": entry.model,
        "outcome": entry.outcome.name(),
        "repeat": entry.is_repeat,
        "status": entry.status,
        "usage": entry.usage.map(usage),
        "cost_usd": entry.cost.map(|cost| cost.usd()),
        "baseline_usd": entry.baseline.map(|cost| cost.usd()),
        "tokens": entry.tokens.map(|tokens| json!({ "sent": tokens.sent, "held": tokens.held })),
        "observed": entry.observed.map(|observed| json!({ "sent": observed.sent })),
        "cut": entry.cut_reason,
        "cache_break": entry.cache_break,
        "milliseconds": entry.duration_ms,
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "input": usage.input,
        "cache_read": usage.cache_read,
        "cache_write_5m": usage.cache_write_5m,
        "cache_write_1h": usage.cache_write_1h,
        "output": usage.output,
        "reasoning": usage.reasoning,
    })
}

/// The share of the prompts that providers read from their caches.
fn hit_rate(usage: Usage) -> Option<f64> {
    let prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
    (prompt > 0).then(|| usage.cache_read as f64 / prompt as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (11_016, "2000-02-29"),
            (20_774, "2026-11-17"),
            (-1, "1969-12-31"),
        ] {
            assert_eq!(date(day), expected);
        }
    }

    #[test]
    fn what_is_not_named_is_added_up() {
        let one = Spent { requests: 1, ..Spent::default() };
        let many: Vec<_> = (0..NAMED + 3).map(|number| (format!("m{number:02}"), one)).collect();
        let rows = dearest(many);
        assert_eq!(rows.len(), NAMED + 1);
        assert_eq!((&rows[NAMED]["name"], &rows[NAMED]["requests"]), (&json!(""), &json!(3)));
    }
}
