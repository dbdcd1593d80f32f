//! Reading a Messages body as blocks, tools and facts.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Value, json};

use super::judge::is_thinking;
use crate::body::{items, said_in, text};
use crate::books::FIVE_MINUTES;
use crate::counter::Counter;
use crate::models::{self, Thinking};
use crate::prompt::{BlockList, Caching, DeclaredTool, Prompt};
use crate::provider::Request;

const ONE_HOUR: Duration = Duration::from_secs(3600);

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let body = &request.body;
    let messages = items(body, "messages");
    Prompt {
        messages: messages.len(),
        blocks: blocks(request, counter),
        caching: Caching::Marked,
        tools: items(body, "tools").iter().map(tool).collect(),
        last_said: messages.iter().rev().find_map(said).unwrap_or_default(),
        ends_with_results: messages.last().is_some_and(has_results),
        is_fresh: messages.len() == 1,
    }
}

fn tool(tool: &Value) -> DeclaredTool {
    DeclaredTool { name: text(tool, "name").to_owned(), schema: tool["input_schema"].clone() }
}

/// What a user message says, besides tool results.
fn said(message: &Value) -> Option<String> {
    match message["content"].as_str() {
        _ if text(message, "role") != "user" => None,
        Some(said) => Some(said.to_owned()),
        None => said_in(items(message, "content")),
    }
}

fn has_results(message: &Value) -> bool {
    items(message, "content").iter().any(|block| text(block, "type") == "tool_result")
}

/// A field as blocks; a string is one text block.
pub(super) fn as_blocks<'a>(value: &'a Value, field: &str) -> Cow<'a, [Value]> {
    match value[field].as_str() {
        Some(said) => Cow::Owned(vec![json!({"type": "text", "text": said})]),
        None => Cow::Borrowed(items(value, field)),
    }
}

/// How long a mark asks for.
fn ttl(block: &Value) -> Option<Duration> {
    let mark = block.get("cache_control").filter(|mark| !mark.is_null())?;
    Some(if text(mark, "ttl") == "1h" { ONE_HOUR } else { FIVE_MINUTES })
}

/// A mark on a block or on something inside it.
fn block_ttl(block: &Value) -> Option<Duration> {
    ttl(block).or_else(|| items(block, "content").iter().rev().find_map(ttl))
}

/// Blocks in cache order: tools, system, messages.
fn blocks(request: &Request, counter: &Counter) -> Vec<crate::prompt::Block> {
    let body = &request.body;
    let mut list = BlockList::new(request.cache_scope());
    for tool in items(body, "tools") {
        list.push("tool", tool, counter.json(tool), ttl(tool));
    }
    for block in as_blocks(body, "system").iter() {
        list.push("system", block, counter.block(block), ttl(block));
    }
    list.separate("messages", &json!([body["tool_choice"], body["thinking"]["type"]]));
    let stripped_until = stripped_until(request);
    for (index, message) in items(body, "messages").iter().enumerate() {
        for block in as_blocks(message, "content").iter() {
            if !(is_thinking(block) && index < stripped_until) {
                list.push(text(message, "role"), block, counter.block(block), block_ttl(block));
            }
        }
    }
    let mut blocks = list.finish();
    if let (Some(automatic), Some(last)) = (ttl(body), blocks.last_mut()) {
        last.mark = last.mark.or(Some(automatic));
    }
    blocks
}

/// Models with manual thinking forget it once the user has said something new: messages before this index.
fn stripped_until(request: &Request) -> usize {
    if models::find(&request.model).thinking != Some(Thinking::Manual) {
        return 0;
    }
    let messages = items(&request.body, "messages");
    messages.iter().rposition(|message| text(message, "role") == "user" && !has_results(message)).unwrap_or(0)
}
