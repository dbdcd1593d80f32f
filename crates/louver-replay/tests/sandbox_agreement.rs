//! The sandbox keeps cache books of its own, written by another reading of the rules: on the same requests both must
//! come to the same usage.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::budget::Budget;
use louver::tokens::Millitokens;
use louver::window::{Window, WindowConfig};
use louver::wire::{Body, Format};
use louver_replay::report::Point;
use louver_replay::{Conversation, Options, replay};
use louver_sandbox::{Running, Sandbox, Scenario};
use serde_json::{Value, json};

const WINDOW: u64 = 12_000;
const RESERVE: u64 = 500;
const SYSTEM_TOKENS: usize = 4_400;

/// A provider's way to ask.
struct Provider {
    format: Format,
    model: &'static str,
    path: &'static str,
}

const PROVIDERS: [Provider; 4] = [
    Provider { format: Format::Anthropic, model: "claude-sonnet-4-5", path: "/v1/messages" },
    Provider { format: Format::OpenAiChat, model: "gpt-5.2", path: "/v1/chat/completions" },
    Provider { format: Format::OpenAiChat, model: "gpt-5.6-sol", path: "/v1/chat/completions" },
    Provider { format: Format::Gemini, model: "gemini-2.5-pro", path: "/v1beta/models/gemini-2.5-pro:generateContent" },
];

/// A text of so many tokens at four characters each.
fn text(name: &str, tokens: usize) -> String {
    format!("{name:x<width$}", width = tokens * 4)
}

impl Provider {
    fn message(&self, role: &str, said: &str) -> Value {
        match self.format {
            Format::Gemini => {
                let role = if role == "assistant" { "model" } else { role };
                json!({"role": role, "parts": [{"text": said}]})
            }
            _ => json!({"role": role, "content": said}),
        }
    }

    /// Thirty turns of 500 tokens behind a long system prompt.
    fn recorded(&self) -> Value {
        let system = text("system ", SYSTEM_TOKENS);
        let mut messages = Vec::new();
        if self.format == Format::OpenAiChat {
            messages.push(self.message("system", &system));
        }
        for turn in 0..30 {
            messages.push(self.message("user", &text(&format!("question {turn} "), 400)));
            messages.push(self.message("assistant", &text(&format!("answer {turn} "), 100)));
        }
        self.body(&messages)
    }

    fn body(&self, messages: &[Value]) -> Value {
        let system = text("system ", SYSTEM_TOKENS);
        match self.format {
            Format::Anthropic => {
                let mark = json!({"type": "ephemeral"});
                let system = json!([{"type": "text", "text": system, "cache_control": mark}]);
                json!({"model": self.model, "max_tokens": 100, "system": system, "messages": messages})
            }
            Format::Gemini => json!({
                "model": self.model, "systemInstruction": {"parts": [{"text": system}]}, "contents": messages}),
            _ => json!({"model": self.model, "messages": messages}),
        }
    }

    /// Every request that the policy makes, as raw messages.
    fn requests(&self, conversation: &Conversation, policy: &str) -> Vec<Vec<String>> {
        let mut config = WindowConfig::new(self.format, policy.parse().unwrap());
        config.budget = Some(Budget::new(WINDOW, Some(RESERVE)).unwrap());
        let is_outside = self.format != Format::OpenAiChat;
        config.overhead = Millitokens::from_tokens(if is_outside { SYSTEM_TOKENS as u64 } else { 0 });
        let mut window = Window::new(config).unwrap();
        let request = |turn: louver_replay::Turn| {
            for message in &conversation.messages[window.len()..turn.at] {
                window.push(std::sync::Arc::clone(message));
            }
            window.fit().unwrap();
            window.view().iter().map(|sent| sent.message.raw().to_owned()).collect()
        };
        conversation.turns().into_iter().map(request).collect()
    }
}

/// Marks the last block of the newest message, and of the longest earlier request that this one starts with.
fn mark(messages: &mut [Value], request: &[String], earlier: &[Vec<String>]) {
    let prefixes = earlier.iter().filter(|other| request.starts_with(other)).map(Vec::len);
    for end in prefixes.max().into_iter().chain([request.len()]) {
        let message = &mut messages[end - 1];
        if let Some(said) = message["content"].as_str().map(ToOwned::to_owned) {
            let mark = json!({"type": "ephemeral"});
            message["content"] = json!([{"type": "text", "text": said, "cache_control": mark}]);
        }
    }
}

async fn ask(sandbox: &Running, provider: &Provider, body: &Value) {
    // Another crate of the workspace builds reqwest without a TLS provider of its own; a second install is refused.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let request = reqwest::Client::new().post(format!("{}{}", sandbox.url(), provider.path)).json(body);
    let request = request.header("x-api-key", "key").header("x-goog-api-key", "key").bearer_auth("key");
    let answer = request.header("anthropic-version", "2023-06-01").send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
}

async fn usage_of_sandbox(provider: &Provider, requests: &[Vec<String>]) -> Vec<(u64, u64)> {
    let scenario = Scenario::named("echo").unwrap();
    let sandbox = Sandbox::builder().scenario(scenario).start("127.0.0.1:0").await.unwrap();
    for (number, request) in requests.iter().enumerate() {
        let mut messages: Vec<Value> = request.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        if provider.format == Format::Anthropic {
            mark(&mut messages, request, &requests[..number]);
        }
        ask(&sandbox, provider, &provider.body(&messages)).await;
    }
    let usage = sandbox.journal().iter().map(|entry| (entry.input_tokens, entry.cache_read_tokens)).collect();
    sandbox.shutdown().await;
    usage
}

#[tokio::test]
async fn replay_and_the_sandbox_keep_the_same_books() {
    for provider in &PROVIDERS {
        let body = Body::parse(&provider.recorded().to_string(), Some(provider.format)).unwrap();
        let conversation = Conversation::of_body("recorded", &body);
        for policy in ["everything", "full-cut", "newest"] {
            let mut options = Options::of_policies(&[policy]).unwrap();
            options.model = Some(provider.model.to_owned());
            options.counter = "chars4".parse().unwrap();
            options.context_window = Some(WINDOW);
            options.max_output = Some(RESERVE);
            let report = replay(std::slice::from_ref(&conversation), &options, &|_| {}).unwrap();
            let row = &report.runs[0];
            let ours: Vec<(u64, u64)> =
                row.detail.series.iter().map(|Point { tokens, read, .. }| (*tokens, *read)).collect();
            let theirs = usage_of_sandbox(provider, &provider.requests(&conversation, policy)).await;
            assert_eq!(ours, theirs, "{} under {policy}", provider.model);
            assert!(policy == "everything" || row.cuts > 0, "{policy} cuts");
        }
    }
}
