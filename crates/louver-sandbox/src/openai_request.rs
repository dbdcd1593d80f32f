//! What requests of both OpenAI APIs have in common.

use std::time::Duration;

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};
use crate::counter::Counter;
use crate::models;
use crate::prompt::{BlockList, Caching, DeclaredTool, Prompt};
use crate::provider::Request;

const HALF_A_DAY: Duration = Duration::from_secs(12 * 3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What differs between the two when a request is read.
pub(crate) struct Parts<'a> {
    /// What an element of the history is called.
    pub(crate) label: &'static str,
    pub(crate) history: &'a [Value],
    /// The system prompt that stands outside the history, or null.
    pub(crate) instructions: &'a Value,
    /// The declarations of functions among the tools.
    pub(crate) functions: Vec<&'a Value>,
    pub(crate) ends_with_results: bool,
}

/// Reads a request as blocks, tools and facts.
pub(crate) fn read(request: &Request, counter: &Counter, parts: &Parts<'_>) -> Prompt {
    let body = &request.body;
    let mut blocks = BlockList::new(request.cache_scope());
    for tool in items(body, "tools") {
        blocks.push("tool", tool, counter.json(tool), None);
    }
    if !parts.instructions.is_null() {
        blocks.push("instructions", parts.instructions, counter.block(parts.instructions), None);
    }
    for element in parts.history {
        blocks.push(parts.label, element, counter.block(element), mark(element));
    }
    Prompt {
        messages: parts.history.len(),
        blocks: blocks.finish(),
        caching: caching(body),
        tools: parts.functions.iter().map(|function| declared(function)).collect(),
        last_said: parts.history.iter().rev().find_map(said).unwrap_or_default(),
        ends_with_results: parts.ends_with_results,
        is_fresh: is_fresh(parts.history),
    }
}

fn declared(function: &Value) -> DeclaredTool {
    DeclaredTool { name: text(function, "name").to_owned(), schema: function["parameters"].clone() }
}

fn said(message: &Value) -> Option<String> {
    if text(message, "role") != "user" {
        return None;
    }
    match message["content"].as_str() {
        Some(said) => Some(said.to_owned()),
        None => Some(items(message, "content").iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")),
    }
}

fn is_fresh(history: &[Value]) -> bool {
    let mut spoken = history.iter().filter(|element| !matches!(text(element, "role"), "system" | "developer"));
    spoken.next().is_some_and(|first| text(first, "role") == "user") && spoken.next().is_none()
}

/// What a request asks of the cache.
fn caching(body: &Value) -> Caching {
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
fn mark(item: &Value) -> Option<Duration> {
    let is_marked = |block: &Value| !is_missing(block, "prompt_cache_breakpoint");
    (is_marked(item) || items(item, "content").iter().any(is_marked)).then_some(Duration::ZERO)
}

/// The cache options of newer models are unknown parameters to older ones.
pub(crate) fn new_cache_fields(request: &Request) -> Option<Violation> {
    let is_old = !models::find(&request.model).cache.reports_writes;
    (is_old && !is_missing(&request.body, "prompt_cache_options"))
        .then(|| Violation::invalid("prompt_cache_options", "Unknown parameter: 'prompt_cache_options'."))
}
