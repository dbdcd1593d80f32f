//! A server that answers with whatever a test says, for what no provider should do and some do.

use super::{Api, connection};
use louver_agent::ApiKey;
use louver_agent::provider::{Connection, Provider};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is sent back.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<String>) -> Self {
        Self { status, headers: vec![("content-type", content_type.to_owned())], body: body.into() }
    }

    pub(crate) fn refusal(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn events(events: &[Value]) -> Self {
        let line = |event: &Value| match event["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        };
        let body: String = events.iter().map(line).collect();
        Self::new(200, "text/event-stream", body)
    }

    /// A streamed answer with calls of `read_file` and `task_complete`: id, name and argument of each, and the provider's
    /// word for why it stopped.
    pub(crate) fn answer(api: Api, text: &str, calls: &[(&str, &str, &str)], stop: &str) -> Self {
        match api {
            Api::Anthropic => Self::events(&anthropic(text, calls, stop)),
            Api::Chat => {
                let Self { body, .. } = Self::events(&chat(text, calls, stop));
                Self::new(200, "text/event-stream", body + "data: [DONE]\n\n")
            }
            Api::Responses => Self::events(&responses(text, calls)),
        }
    }

    /// The model says that the task is done.
    pub(crate) fn done(api: Api, id: &str) -> Self {
        Self::answer(
            api,
            "",
            &[(id, "task_complete", "All done.")],
            if api == Api::Chat { "tool_calls" } else { "tool_use" },
        )
    }
}

fn arguments(name: &str, argument: &str) -> Value {
    json!({ if name.starts_with("task_") { "summary" } else { "path" }: argument })
}

fn anthropic(text: &str, calls: &[(&str, &str, &str)], stop: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let mut events = vec![json!({"type": "message_start", "message": {"role": "assistant", "usage": usage}})];
    let mut block = |block: Value, delta: Value| {
        let index = events.len() / 3;
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    };
    if !text.is_empty() {
        block(json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}));
    }
    for (id, name, argument) in calls {
        let input = arguments(name, argument).to_string();
        block(
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input}),
        );
    }
    let usage = json!({"output_tokens": 5});
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events
}

fn chat(text: &str, calls: &[(&str, &str, &str)], stop: &str) -> Vec<Value> {
    let calls = calls.iter().enumerate().map(|(index, (id, name, argument))| {
        let function = json!({"name": name, "arguments": arguments(name, argument).to_string()});
        json!({"index": index, "id": id, "type": "function", "function": function})
    });
    let calls: Vec<Value> = calls.collect();
    let mut delta = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        delta["tool_calls"] = Value::Array(calls);
    }
    vec![
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}),
    ]
}

fn responses(text: &str, calls: &[(&str, &str, &str)]) -> Vec<Value> {
    let mut items = Vec::new();
    if !text.is_empty() {
        let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
        items.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "content": content}));
    }
    for (id, name, argument) in calls {
        let arguments = arguments(name, argument).to_string();
        items.push(json!({"type": "function_call", "id": format!("fc_{}", items.len()), "call_id": id, "name": name,
            "arguments": arguments}));
    }
    let done = |(index, item): (usize, Value)| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let mut events: Vec<Value> = items.into_iter().enumerate().map(done).collect();
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    events.push(json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}}));
    events
}

/// The server, and what it was asked.
pub(crate) struct Replies {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
}

impl Replies {
    /// Serves what a function makes of the number of the request, from 0, and its body.
    pub(crate) async fn start(reply: impl Fn(usize, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                serve(socket, &seen, &reply).await;
            }
        });
        Self { url, asked }
    }

    pub(crate) fn provider(&self, api: Api) -> Arc<dyn Provider> {
        self.provider_by(api, connection(&self.url))
    }

    pub(crate) fn provider_by(&self, api: Api, connection: Connection) -> Arc<dyn Provider> {
        api.provider(connection, ApiKey::sandbox())
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut socket: TcpStream, seen: &Mutex<Vec<Value>>, reply: &(impl Fn(usize, &Value) -> Reply + Sync)) {
    let mut bytes = Vec::new();
    let body = loop {
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break serde_json::from_str(body).unwrap_or_default();
        }
    };
    let number = seen.lock().unwrap().len();
    let Reply { status, headers, body: said } = reply(number, &body);
    seen.lock().unwrap().push(body);
    let mut head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {}\r\n", said.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let _ = socket.write_all(format!("{head}\r\n{said}").as_bytes()).await;
}
