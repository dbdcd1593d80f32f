//! The account as JSON, and figures for Prometheus.

use super::Keeper;
use crate::brain::PageBody;
use crate::model_request::Reader;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use louver_store::{ConversationAccount, Error, PageRequest, ReaderId, RequestEntry, Usage, Whose};
use serde_json::{Value, json};

const CONVERSATIONS: &str = "/louver/api/conversations";

/// How many rows a page has where nothing else is asked for.
const ROWS: usize = 200;

impl Keeper {
    /// What is asked of the keeper itself; nothing where there is no such page.
    pub(super) async fn api(&self, request: &Request<Bytes>, reader: &Reader) -> Option<Response<PageBody>> {
        if request.method() != Method::GET {
            return None;
        }
        let path = request.uri().path();
        if path == "/louver/metrics" {
            return Some(answer(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", self.metrics()));
        }
        let rest = path.strip_prefix(CONVERSATIONS)?;
        let whose = match reader {
            Reader::Token(name) => Whose::Only(ReaderId::from(&**name)),
            Reader::LocalUser => Whose::Everybody,
        };
        let page = match page(request.uri().query().unwrap_or_default()) {
            Ok(page) => page,
            Err(error) => return Some(failed(&error)),
        };
        let value = match rest.strip_prefix('/') {
            None if rest.is_empty() => self.conversations(whose, page).await,
            Some(id) if !id.is_empty() => self.one_conversation(id, whose, page).await.transpose()?,
            _ => return None,
        };
        Some(match value {
            Ok(value) => answer(StatusCode::OK, "application/json", value.to_string()),
            Err(error) => failed(&error),
        })
    }

    async fn conversations(&self, whose: Whose, page: PageRequest) -> Result<Value, Error> {
        self.store.flush().await?;
        let found = self.store.conversations(whose, page).await?;
        let rows: Vec<Value> = found.rows.iter().map(conversation).collect();
        Ok(Value::Array(rows))
    }

    async fn one_conversation(&self, id: &str, whose: Whose, page: PageRequest) -> Result<Option<Value>, Error> {
        self.store.flush().await?;
        let Some(found) = self.store.conversation(id.into()).await? else { return Ok(None) };
        if matches!(&whose, Whose::Only(reader) if *reader != found.info.reader) {
            return Ok(None);
        }
        let requests = self.store.requests(id.into(), page).await?;
        let mut value = conversation(&found);
        value["request_list"] = requests.rows.iter().map(request_entry).collect();
        value["next"] = requests.next.map_or(Value::Null, |next| next.to_string().into());
        Ok(Some(value))
    }
}

fn page(query: &str) -> Result<PageRequest, Error> {
    let mut page = PageRequest::first(ROWS);
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match key {
            "after" => page.after = Some(value.parse()?),
            "rows" => page.rows = value.parse().unwrap_or(ROWS),
            _ => {}
        }
    }
    Ok(page)
}

fn conversation(account: &ConversationAccount) -> Value {
    let tokens = |sent: u64, held: u64| json!({ "sent": sent, "held": held });
    json!({
        "id": account.info.id.as_str(),
        "parent": account.info.parent.as_ref().map(|parent| parent.as_str()),
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

fn request_entry(entry: &RequestEntry) -> Value {
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

fn failed(error: &Error) -> Response<PageBody> {
    let status = if error.is_invalid() { StatusCode::BAD_REQUEST } else { StatusCode::SERVICE_UNAVAILABLE };
    answer(status, "application/json", json!({ "error": error.to_string() }).to_string())
}

fn answer(status: StatusCode, kind: &'static str, text: String) -> Response<PageBody> {
    let body = Full::new(Bytes::from(text)).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
