//! What the Messages API insists on before it looks at the history.

use serde_json::Value;

use super::judge::{is_thinking, marks};
use super::thinking;
use crate::Violation;
use crate::body::{is_missing, items, text};
use crate::models;
use crate::provider::Request;
use crate::refusal::Refusal;

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    let fields: &[&str] = if request.is_count { &["model", "messages"] } else { &["model", "max_tokens", "messages"] };
    request.require(fields)?;
    let checks = [version, roles, tools, warming, cache_marks, thinking_config];
    Refusal::if_any(checks.iter().find_map(|check| check(request)))
}

fn version(request: &Request) -> Option<Violation> {
    let is_sent = request.headers.contains_key("anthropic-version");
    (!is_sent).then(|| Violation::invalid("anthropic-version", "anthropic-version: header is required"))
}

fn roles(request: &Request) -> Option<Violation> {
    if !request.body["messages"].is_array() {
        return Some(Violation::invalid("messages", "messages: Input should be a valid list"));
    }
    items(&request.body, "messages").iter().enumerate().find_map(|(index, message)| {
        let path = format!("messages.{index}");
        match text(message, "role") {
            "user" => items(message, "content").iter().any(|block| text(block, "type") == "tool_use").then(|| {
                Violation::invalid(&path, format!("{path}: `tool_use` blocks can only be in `assistant` messages"))
            }),
            "assistant" => None,
            "system" if models::find(&request.model).system_messages => None,
            "system" => Some(Violation::invalid(&path, "role 'system' is not supported on this model")),
            _ => Some(Violation::invalid(&path, format!("{path}.role: Input should be 'user' or 'assistant'"))),
        }
    })
}

fn tools(request: &Request) -> Option<Violation> {
    items(&request.body, "tools").iter().enumerate().find_map(|(index, tool)| {
        let is_custom = matches!(text(tool, "type"), "" | "custom");
        let missing = ["name", "input_schema"].into_iter().find(|field| is_missing(tool, field))?;
        let path = format!("tools.{index}.custom.{missing}");
        is_custom.then(|| Violation::invalid(&path, format!("{path}: Field required")))
    })
}

/// A request without room for an answer only warms the cache, and then has nothing to stream.
fn warming(request: &Request) -> Option<Violation> {
    let warms = request.body.get("max_tokens").and_then(Value::as_u64) == Some(0);
    (warms && request.is_stream)
        .then(|| Violation::invalid("max_tokens", "max_tokens: `max_tokens: 0` is not supported with `stream`"))
}

fn cache_marks(request: &Request) -> Option<Violation> {
    for (index, message) in items(&request.body, "messages").iter().enumerate() {
        for (position, block) in items(message, "content").iter().enumerate() {
            if is_thinking(block) && !is_missing(block, "cache_control") {
                let path = format!("messages.{index}.content.{position}.{}.cache_control", text(block, "type"));
                return Some(Violation::invalid(&path, format!("{path}: Extra inputs are not permitted")));
            }
        }
    }
    let lives: Vec<&Value> = marks(&request.body);
    let first_short = lives.iter().position(|mark| text(mark, "ttl") != "1h")?;
    let is_late = lives[first_short..].iter().any(|mark| text(mark, "ttl") == "1h");
    is_late.then(|| {
        Violation::invalid(
            "cache_control",
            "cache_control: a `ttl='1h'` cache_control block must not come after a ttl='5m' cache_control block. Note that \
             blocks are processed in the following order: `tools`, `system`, `messages`.",
        )
    })
}

fn thinking_config(request: &Request) -> Option<Violation> {
    let thinking = request.body.get("thinking")?;
    if !is_missing(thinking, "block_binding") && !thinking::may_control_binding(request) {
        let path = "thinking.block_binding";
        return Some(Violation::invalid(path, "thinking.block_binding: Extra inputs are not permitted"));
    }
    if text(thinking, "type") != "enabled" || request.is_count {
        return None;
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let room = request.body["max_tokens"].as_u64().unwrap_or(0);
    let path = "thinking.enabled.budget_tokens";
    match budget {
        None => Some(Violation::invalid(path, format!("{path}: Field required"))),
        Some(..1024) => {
            Some(Violation::invalid(path, format!("{path}: Input should be greater than or equal to 1024")))
        }
        Some(budget) if budget >= room => {
            Some(Violation::invalid("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`."))
        }
        Some(_) => None,
    }
}
