//! Reading a `generateContent` body as blocks, tools and facts.

use serde_json::Value;

use super::judge::{count, role};
use crate::body::{is_missing, items, said_in, text};
use crate::counter::Counter;
use crate::prompt::{BlockList, Caching, DeclaredTool, Prompt};
use crate::provider::Request;

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let body = &request.body;
    let contents = items(body, "contents");
    let mut list = BlockList::new(request.cache_scope());
    for tool in items(body, "tools") {
        list.push("tool", tool, counter.json(tool), None);
    }
    if let Some(system) = body.get("systemInstruction").or_else(|| body.get("system_instruction")) {
        list.push("system", system, counter.block(system), None);
    }
    for content in contents {
        list.push("content", content, counter.block(content), None);
    }
    Prompt {
        messages: contents.len(),
        blocks: list.finish(),
        caching: Caching::Automatic { ttl: None, marks_only: false },
        tools: items(body, "tools").iter().flat_map(declarations).map(tool).collect(),
        last_said: contents.iter().rev().find_map(said).unwrap_or_default(),
        ends_with_results: contents.last().is_some_and(|content| count(content, "functionResponse") > 0),
        is_fresh: contents.len() == 1,
    }
}

fn declarations(tool: &Value) -> &[Value] {
    let modern = items(tool, "functionDeclarations");
    if modern.is_empty() { items(tool, "function_declarations") } else { modern }
}

fn tool(declaration: &Value) -> DeclaredTool {
    let field = ["parametersJsonSchema", "parameters"].into_iter().find(|field| !is_missing(declaration, field));
    let schema = field.map_or(Value::Null, |field| declaration[field].clone());
    DeclaredTool { name: text(declaration, "name").to_owned(), schema }
}

fn said(content: &Value) -> Option<String> {
    if role(content) == "user" { said_in(items(content, "parts")) } else { None }
}
