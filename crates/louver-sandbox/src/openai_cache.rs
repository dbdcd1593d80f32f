//! The cache options that both OpenAI APIs share.

use std::time::Duration;

use serde_json::Value;

use crate::body::{is_missing, items, text};
use crate::prompt::Caching;

const HALF_A_DAY: Duration = Duration::from_secs(12 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What a request asks of the cache.
pub(crate) fn caching(body: &Value) -> Caching {
    let options = &body["prompt_cache_options"];
    let ttl = match (text(options, "ttl"), text(body, "prompt_cache_retention")) {
        ("12h", _) => Some(HALF_A_DAY),
        (_, "24h") => Some(DAY),
        _ => None,
    };
    Caching::Automatic { ttl, marks_only: text(options, "mode") == "explicit" }
}

/// The mark of a message or item that carries a breakpoint on itself or on one of its parts. Its length does not
/// matter: the request's options set it.
pub(crate) fn mark(item: &Value) -> Option<Duration> {
    let is_marked = |block: &Value| !is_missing(block, "prompt_cache_breakpoint");
    (is_marked(item) || items(item, "content").iter().any(is_marked)).then_some(Duration::ZERO)
}
