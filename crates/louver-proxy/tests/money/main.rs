//! What conversations cost through the proxy, by the sandbox's own cache books, beside what replay says of the same policy.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and this one has figures to show"
)]

#[allow(dead_code, unused_imports, reason = "the tests of the data path use the rest")]
#[path = "../proxy/world/mod.rs"]
mod world;

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../louver/tests/corpus/mod.rs"]
mod corpus;

use louver::Format;
use louver::catalog::{Catalog, Model};
use louver::tokens::CounterChoice;
use louver::wire::{Body, PartKind};
use louver_proxy::{Keeper, KeeperSettings};
use louver_replay::{Conversation, Options, replay};
use louver_sandbox::{Counter, Limits, Sandbox, Scenario};
use louver_store::SqliteStore;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use world::{Client, Running, config_to};

/// What both sides may differ by, in percent.
const TOLERANCE: f64 = 2.0;

/// What is kept free for a reply, on both sides.
const REPLY: u64 = 8_192;

/// The model of each format: one that both the catalogue and the sandbox know by the same rules.
fn model_name(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "claude-sonnet-5-5",
        Format::OpenAiChat => "gpt-4.1",
        Format::OpenAiResponses => "gpt-5.2",
        Format::Gemini => "gemini-2.5-pro",
    }
}

/// A recorded conversation as requests have it, without thinking, which nobody but its provider can judge.
fn messages(body: &Body) -> Vec<Value> {
    let messages = body.messages().iter().filter(|message| {
        let parts = &message.shape().parts;
        parts.is_empty() || parts.iter().any(|part| part.kind != PartKind::Thinking)
    });
    let without = |message: &Arc<louver::Message>| {
        let mut value: Value = serde_json::from_str(message.raw()).unwrap();
        if let Some(content) = value["content"].as_array_mut() {
            content.retain(|block| !matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking")));
        }
        value
    };
    messages.map(without).collect()
}

/// A request of the first messages of a conversation, with the marks of a client that caches all it sends.
fn request(format: Format, messages: &[Value], before: usize) -> String {
    let model = model_name(format);
    let mut messages = messages.to_vec();
    let body = match format {
        Format::Anthropic => {
            for end in [before, messages.len()] {
                mark(end.checked_sub(1).map(|last| &mut messages[last]));
            }
            json!({ "model": model, "max_tokens": REPLY, "messages": messages })
        }
        Format::OpenAiChat => json!({ "model": model, "max_completion_tokens": REPLY, "messages": messages }),
        Format::OpenAiResponses => {
            json!({ "model": model, "store": false, "max_output_tokens": REPLY, "input": messages })
        }
        Format::Gemini => json!({ "contents": messages, "generationConfig": { "maxOutputTokens": REPLY } }),
    };
    body.to_string()
}

fn mark(message: Option<&mut Value>) {
    let Some(message) = message else { return };
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{ "type": "text", "text": text }]);
    }
    if let Some(block) = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn path(format: Format) -> String {
    match format {
        Format::Anthropic => "/v1/messages".to_owned(),
        Format::OpenAiChat => "/v1/chat/completions".to_owned(),
        Format::OpenAiResponses => "/v1/responses".to_owned(),
        Format::Gemini => format!("/v1beta/models/{}:generateContent", model_name(format)),
    }
}

/// What the input of some requests came to, in dollars.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    usd: f64,
    requests: u64,
    tokens: u64,
    read: u64,
    cuts: u64,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.usd += other.usd;
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.read += other.read;
        self.cuts += other.cuts;
    }
}

/// Sends all requests of a conversation; nothing where the sandbox refuses one as it stands.
async fn through_the_proxy(format: Format, model: &Model, messages: &[Value], turns: &[usize]) -> Option<Spent> {
    let counter = CounterChoice::Auto.resolve(Some(model));
    let limits = Limits { max_journal_entries: turns.len() + 1, ..Limits::default() };
    let sandbox = Sandbox::builder()
        .scenario(Scenario::named("echo").unwrap())
        .counter(Counter::new(move |text| counter.text(text).ceil_tokens()))
        .limits(limits)
        .start("127.0.0.1:0")
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("louver.db")).unwrap());
    let settings = KeeperSettings { policy: "ladder-careful".parse().unwrap(), ..KeeperSettings::default() };
    let proxy = Running::start(config_to(sandbox.addr()), Keeper::new(store, settings)).await;
    let (mut spent, mut before) = (Spent::default(), 0);
    for at in turns {
        let mut client = Client::connect(proxy.address).await;
        let headers =
            "x-api-key: k\r\nanthropic-version: 2023-06-01\r\nauthorization: Bearer k\r\nx-goog-api-key: k\r\n";
        client.post(&path(format), headers, request(format, &messages[..*at], before)).await;
        let answer = client.answer().await;
        if answer.status() != 200 {
            return None;
        }
        spent.cuts += u64::from(answer.header("x-louver-outcome") == Some("cut"));
        before = *at;
    }
    for entry in sandbox.journal() {
        let prices = model.prices_at(entry.input_tokens);
        let uncached = entry.input_tokens - entry.cache_read_tokens - entry.cache_write_tokens;
        let parts = [
            prices.input.of(uncached),
            prices.cache_read.of(entry.cache_read_tokens),
            prices.cache_write.of(entry.cache_write_tokens),
        ];
        spent.usd += parts.into_iter().sum::<louver::catalog::Cost>().usd();
        (spent.requests, spent.tokens) = (spent.requests + 1, spent.tokens + entry.input_tokens);
        spent.read += entry.cache_read_tokens;
    }
    proxy.stop().await;
    sandbox.shutdown().await;
    Some(spent)
}

fn by_replay(conversation: Conversation, model: &str) -> Spent {
    let options = Options {
        model: Some(model.to_owned()),
        max_output: Some(REPLY),
        gap_seconds: Some(1),
        threads: Some(1),
        ..Options::of_policies(&["ladder-careful"]).unwrap()
    };
    let report = replay(&[conversation], &options, &|_| {}).unwrap();
    let row = &report.runs[0];
    let tokens = row.tokens.uncached + row.tokens.written + row.tokens.read;
    Spent { usd: row.input_usd, requests: row.requests, tokens, read: row.tokens.read, cuts: row.cuts }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_cost_through_the_proxy_what_replay_says() {
    let Some(folder) = corpus::folder() else { return };
    // A slice of it, and all with LOUVER_FULL=1.
    let step = if std::env::var_os("LOUVER_FULL").is_some_and(|value| value == "1") { 1 } else { 12 };
    let (mut sums, mut refused): (BTreeMap<&str, [Spent; 2]>, usize) = (BTreeMap::new(), 0);
    for (name, body) in corpus::bodies(&folder).into_iter().step_by(step) {
        let format = body.format();
        let model = Catalog::builtin().find(model_name(format)).unwrap().model;
        let messages = messages(&body);
        let whole = Body::parse(&request(format, &messages, 0), Some(format)).unwrap();
        let conversation = Conversation::of_body(&name, &whole);
        let turns: Vec<usize> = conversation.turns().iter().map(|turn| turn.at).collect();
        let Some(sent) = through_the_proxy(format, &model, &messages, &turns).await else {
            refused += 1;
            continue;
        };
        let said = by_replay(conversation, model_name(format));
        println!("{:+7.2} % {name}\n    {sent:?}\n    {said:?}", (sent.usd / said.usd - 1.0) * 100.0);
        let sum = sums.entry(format.name()).or_default();
        sum[0] += sent;
        sum[1] += said;
    }
    let mut all = [Spent::default(); 2];
    for (format, sum) in &sums {
        println!("{format}: {:?} through the proxy, {:?} by replay", sum[0], sum[1]);
        all[0] += sum[0];
        all[1] += sum[1];
    }
    let off = (all[0].usd / all[1].usd - 1.0) * 100.0;
    println!("all: {off:+.2} %; {refused} refused as they stand");
    assert!(all[0].requests > 100 && all[0].requests == all[1].requests, "{all:?}");
    assert!(off.abs() <= TOLERANCE, "{off:+.2} %: {all:?}");
}
