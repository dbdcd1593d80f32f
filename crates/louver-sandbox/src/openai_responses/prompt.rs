//! Reading a Responses body as blocks, tools and facts.

use serde_json::{Value, json};

use super::judge::is_output;
use crate::body::{is_missing, items, text};
use crate::counter::Counter;
use crate::openai_cache;
use crate::prompt::{BlockList, DeclaredTool, Prompt};
use crate::provider::Request;

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let body = &request.body;
    let input = list(body);
    let mut blocks = BlockList::new(request.cache_scope());
    for tool in items(body, "tools") {
        blocks.push("tool", tool, counter.json(tool), None);
    }
    if !is_missing(body, "instructions") {
        blocks.push("instructions", &body["instructions"], counter.block(&body["instructions"]), None);
    }
    for item in &input {
        blocks.push("item", item, counter.block(item), openai_cache::mark(item));
    }
    Prompt {
        messages: input.len(),
        blocks: blocks.finish(),
        caching: openai_cache::caching(body),
        tools: items(body, "tools").iter().filter(|tool| text(tool, "type") == "function").map(tool).collect(),
        last_said: input.iter().rev().find_map(said).unwrap_or_default(),
        ends_with_results: input.last().is_some_and(is_output),
        is_fresh: is_fresh(&input),
    }
}

/// The input as items; a string is one message of the user.
pub(super) fn list(body: &Value) -> Vec<Value> {
    match body["input"].as_str() {
        Some(said) => vec![json!({"type": "message", "role": "user", "content": said})],
        None => items(body, "input").to_vec(),
    }
}

fn tool(tool: &Value) -> DeclaredTool {
    DeclaredTool { name: text(tool, "name").to_owned(), schema: tool["parameters"].clone() }
}

fn said(item: &Value) -> Option<String> {
    if text(item, "role") != "user" {
        return None;
    }
    match item["content"].as_str() {
        Some(said) => Some(said.to_owned()),
        None => Some(items(item, "content").iter().map(|part| text(part, "text")).collect::<Vec<_>>().join("\n")),
    }
}

fn is_fresh(input: &[Value]) -> bool {
    let mut spoken = input.iter().filter(|item| !matches!(text(item, "role"), "system" | "developer"));
    spoken.next().is_some_and(|first| text(first, "role") == "user") && spoken.next().is_none()
}
