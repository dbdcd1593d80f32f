//! A small HTTP client and a sandbox to talk to, for the tests.

#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use louver_sandbox::{Format, ManualClock, Running, Sandbox, Scenario};
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

/// A running sandbox and a client that knows where each format goes.
pub(crate) struct Client {
    pub(crate) sandbox: Running,
    pub(crate) clock: Arc<ManualClock>,
    http: reqwest::Client,
    key: String,
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Client {
    pub(crate) async fn new(scenario: Scenario) -> Self {
        Self::with(Sandbox::builder().scenario(scenario)).await
    }

    pub(crate) async fn named(scenario: &str) -> Self {
        Self::new(Scenario::named(scenario).unwrap()).await
    }

    pub(crate) async fn with(builder: louver_sandbox::Builder) -> Self {
        // Another crate of the workspace builds reqwest without a TLS provider of its own; a second install is refused.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = Arc::new(ManualClock::default());
        let sandbox = builder.clock(clock.clone()).start("127.0.0.1:0").await.unwrap();
        Self { sandbox, clock, http: reqwest::Client::new(), key: "test-key".to_owned() }
    }

    pub(crate) fn use_key(&mut self, key: &str) {
        self.key = key.to_owned();
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.signed(self.http.get(format!("{}{path}", self.sandbox.url())))
    }

    /// A request with whatever each API wants beside the body.
    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.signed(self.http.post(format!("{}{path}", self.sandbox.url()))).json(body)
    }

    pub(crate) fn bare(&self, path: &str) -> RequestBuilder {
        self.http.post(format!("{}{path}", self.sandbox.url()))
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("x-api-key", &self.key).header("x-goog-api-key", &self.key).bearer_auth(&self.key)
    }

    /// Sends a body where its format belongs.
    pub(crate) async fn send(&self, format: Format, body: &Value) -> Response {
        let path = path(format, body);
        let mut body = body.clone();
        if let (Format::Gemini, Some(fields)) = (format, body.as_object_mut()) {
            fields.remove("stream");
        }
        let request = self.post(&path, &body);
        let request =
            if format == Format::Anthropic { request.header("anthropic-version", "2023-06-01") } else { request };
        request.send().await.unwrap()
    }

    /// The status and the JSON of the answer.
    pub(crate) async fn ask(&self, format: Format, body: &Value) -> (u16, Value) {
        let response = self.send(format, body).await;
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// The events of a streamed answer.
    pub(crate) async fn stream(&self, format: Format, body: &Value) -> Vec<Event> {
        let mut body = body.clone();
        body["stream"] = json!(true);
        let response = self.send(format, &body).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        events(&response.text().await.unwrap())
    }
}

/// Where a body goes. A Gemini body carries `model` and `stream` for the tests' sake only.
pub(crate) fn path(format: Format, body: &Value) -> String {
    match format {
        Format::Anthropic => "/v1/messages".to_owned(),
        Format::OpenAiChat => "/v1/chat/completions".to_owned(),
        Format::OpenAiResponses => "/v1/responses".to_owned(),
        Format::Gemini => {
            let model = body["model"].as_str().unwrap_or("gemini-2.5-flash");
            let is_stream = body["stream"] == json!(true);
            let verb = if is_stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            format!("/v1beta/models/{model}:{verb}")
        }
    }
}

/// Server-sent events out of a whole body; `[DONE]` becomes a string.
pub(crate) fn events(text: &str) -> Vec<Event> {
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim();
        let data = field("data:");
        let data = serde_json::from_str(data).unwrap_or_else(|_| json!(data));
        Event { name: field("event:").to_owned(), data }
    };
    text.split("\n\n").filter(|block| !block.is_empty()).map(event).collect()
}

/// A body of any format with one text of the user.
pub(crate) fn hello(format: Format) -> Value {
    say(format, "Hello.")
}

pub(crate) fn say(format: Format, said: &str) -> Value {
    match format {
        Format::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 1024, "messages": [{"role": "user", "content": said}]})
        }
        Format::OpenAiChat => json!({"model": "gpt-5", "messages": [{"role": "user", "content": said}]}),
        Format::OpenAiResponses => json!({"model": "gpt-5", "input": [{"role": "user", "content": said}]}),
        Format::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": said}]}]}),
    }
}

/// The same with tools of these names declared, each taking a `path`.
pub(crate) fn with_tools(format: Format, mut body: Value, names: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tools: Vec<Value> = names
        .iter()
        .map(|name| match format {
            Format::Anthropic => json!({"name": name, "input_schema": schema}),
            Format::OpenAiChat => json!({"type": "function", "function": {"name": name, "parameters": schema}}),
            Format::OpenAiResponses => json!({"type": "function", "name": name, "parameters": schema}),
            Format::Gemini => json!({"functionDeclarations": [{"name": name, "parameters": schema}]}),
        })
        .collect();
    body["tools"] = json!(tools);
    body
}

/// What an answer in one piece says.
pub(crate) fn said(format: Format, answer: &Value) -> String {
    let text = match format {
        Format::Anthropic => find(&answer["content"], "text"),
        Format::OpenAiChat => answer["choices"][0]["message"]["content"].clone(),
        Format::OpenAiResponses => find(&answer["output"], "message")["content"][0]["text"].clone(),
        Format::Gemini => answer["candidates"][0]["content"]["parts"][0]["text"].clone(),
    };
    let text = if format == Format::Anthropic { text["text"].clone() } else { text };
    text.as_str().unwrap_or_default().to_owned()
}

/// The first element of a kind.
pub(crate) fn find(list: &Value, kind: &str) -> Value {
    list.as_array().and_then(|list| list.iter().find(|item| item["type"] == kind)).cloned().unwrap_or_default()
}

/// Appends an answer and results for all its calls to the history of a body; the number of calls.
pub(crate) fn follow(format: Format, body: &mut Value, answer: &Value, result: &str) -> usize {
    let history = body[format.history_field()].as_array_mut().unwrap();
    match format {
        Format::Anthropic => {
            history.push(json!({"role": "assistant", "content": answer["content"]}));
            let calls: Vec<&Value> =
                answer["content"].as_array().unwrap().iter().filter(|block| block["type"] == "tool_use").collect();
            let results: Vec<Value> = calls
                .iter()
                .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": result}))
                .collect();
            if !results.is_empty() {
                history.push(json!({"role": "user", "content": results}));
            }
            calls.len()
        }
        Format::OpenAiChat => {
            let message = &answer["choices"][0]["message"];
            history.push(message.clone());
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            history.extend(
                calls.iter().map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": result})),
            );
            calls.len()
        }
        Format::OpenAiResponses => {
            let output = answer["output"].as_array().unwrap();
            history.extend(output.iter().cloned());
            let calls: Vec<&Value> = output.iter().filter(|item| item["type"] == "function_call").collect();
            history.extend(
                calls
                    .iter()
                    .map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": result})),
            );
            calls.len()
        }
        Format::Gemini => {
            let content = &answer["candidates"][0]["content"];
            history.push(content.clone());
            let calls: Vec<&Value> =
                content["parts"].as_array().unwrap().iter().filter(|part| part.get("functionCall").is_some()).collect();
            let results: Vec<Value> = calls
                .iter()
                .map(|call| json!({"functionResponse": {"name": call["functionCall"]["name"], "response": {"output": result}}}))
                .collect();
            if !results.is_empty() {
                history.push(json!({"role": "user", "parts": results}));
            }
            calls.len()
        }
    }
}
