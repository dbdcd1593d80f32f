//! Reading a Chat Completions body as blocks, tools and facts.

use serde_json::Value;

use crate::body::{items, text};
use crate::counter::Counter;
use crate::openai_cache;
use crate::prompt::{BlockList, DeclaredTool, Prompt};
use crate::provider::Request;

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let body = &request.body;
    let messages = items(body, "messages");
    let mut list = BlockList::new(request.cache_scope());
    for tool in items(body, "tools") {
        list.push("tool", tool, counter.json(tool), None);
    }
    for message in messages {
        list.push("message", message, counter.block(message), openai_cache::mark(message));
    }
    Prompt {
        messages: messages.len(),
        blocks: list.finish(),
        caching: openai_cache::caching(body),
        tools: items(body, "tools").iter().filter_map(|tool| tool.get("function")).map(tool).collect(),
        last_said: messages.iter().rev().find_map(said).unwrap_or_default(),
        ends_with_results: messages.last().is_some_and(|message| text(message, "role") == "tool"),
        is_fresh: is_fresh(messages),
    }
}

fn tool(function: &Value) -> DeclaredTool {
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

fn is_fresh(messages: &[Value]) -> bool {
    let mut spoken = messages.iter().filter(|message| !matches!(text(message, "role"), "system" | "developer"));
    spoken.next().is_some_and(|first| text(first, "role") == "user") && spoken.next().is_none()
}
