//! What an earlier version recorded is sent by this one, byte for byte.
//!
//! `tests/golden/NAME.json` has a conversation, some of its requests with what went out for each, and the decisions that
//! were recorded. It was written by the version that its records name and never changes; a new version may add files:
//! `cargo test -p louver-proxy --test keeper write_golden -- --ignored`.

use crate::desk::{Desk, similar, small, well};
use crate::talk::Talk;
use crate::world::json_answer;
use louver::Format;
use louver::wire::Message;
use louver_proxy::{Chain, KeeperSettings};
use louver_store::{ChainHash, Decision, DecisionKey, Decisions, StoredDecision, UnixMillis};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// A window so small that files stay short.
fn tiny() -> KeeperSettings {
    KeeperSettings { context_window: Some(5_000), ..small() }
}

fn hash(value: &Value) -> ChainHash {
    let text = value.as_str().unwrap();
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
    ChainHash(std::array::from_fn(byte))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Puts the decisions of a file that were made at a history into a store.
async fn keep(desk: &Desk, file: &Value, format: Format, held: &[String]) {
    let held: Vec<Message> = held.iter().map(|raw| Message::parse(format, raw).unwrap()).collect();
    let end = Chain::of(format, &held).end();
    for row in file["decisions"].as_array().unwrap().iter().filter(|row| hash(&row["chain"]) == end) {
        let key = DecisionKey {
            chain: hash(&row["chain"]),
            upstream: text(&row["upstream"]),
            model: text(&row["model"]),
            attempt: u8::try_from(row["attempt"].as_u64().unwrap()).unwrap(),
        };
        let record = text(&row["record"]).into_bytes().into();
        let (touches, conversation) = (hash(&row["touches"]), text(&row["conversation"]).into());
        let decision = Decision { key: key.clone(), touches, conversation, at: UnixMillis(0), record };
        match key.attempt {
            0 => drop(desk.store.insert_decision(decision).await.unwrap()),
            _ => drop(desk.store.insert_attempt(decision).await.unwrap()),
        }
        if row["shown"].as_bool().unwrap() {
            desk.store.mark_shown(key).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_golden_store_is_sent_byte_for_byte() {
    let files: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 7, "{files:?}");
    for path in files {
        let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let all: Vec<String> = file["messages"].as_array().unwrap().iter().map(text).collect();
        let desk = Desk::open(KeeperSettings { context_window: Some(900_000), ..small() }).await;
        let format = Format::ALL.into_iter().find(|format| Talk::new(*format).path() == text(&file["path"])).unwrap();
        for request in file["requests"].as_array().unwrap() {
            let body = |messages: &[String]| {
                format!("{}{}{}", text(&file["before"]), messages.join(","), text(&file["after"]))
            };
            let held = &all[..usize::try_from(request["messages"].as_u64().unwrap()).unwrap()];
            keep(&desk, &file, format, held).await;
            let sent = |item: &Value| match item.as_u64() {
                Some(index) => all[usize::try_from(index).unwrap()].clone(),
                None => text(item),
            };
            let sent: Vec<String> = request["sent"].as_array().unwrap().iter().map(sent).collect();
            // Nothing is decided anew: recorded decisions hold in every mode.
            let asked = desk.post(&text(&file["path"]), "x-louver-mode: off\r\n", &body(held)).await;
            assert_eq!(asked.answer.status(), 200, "{}", path.display());
            similar(asked.body(), &body(&sent));
        }
    }
}

/// What is written of a request.
fn written(held: &[String], sent: &[String]) -> Value {
    let item = |message: &String| match held.iter().rposition(|held| held == message) {
        Some(index) => json!(index),
        None => json!(message),
    };
    json!({ "messages": held.len(), "sent": sent.iter().map(item).collect::<Vec<_>>() })
}

fn written_decision(stored: &StoredDecision) -> Value {
    let StoredDecision { is_shown, decision, .. } = stored;
    json!({
        "chain": decision.key.chain.to_string(),
        "upstream": decision.key.upstream,
        "model": decision.key.model,
        "attempt": decision.key.attempt,
        "shown": is_shown,
        "touches": decision.touches.to_string(),
        "conversation": decision.conversation.as_str(),
        "record": String::from_utf8(decision.record.to_vec()).unwrap(),
    })
}

/// A conversation until it was cut twice, and two turns more.
async fn write_one(name: &str, desk: &Desk, mut talk: Talk) {
    let path = folder().join(format!("{name}.json"));
    assert!(!path.exists(), "{}: a golden file never changes", path.display());
    let (mut requests, mut cuts, mut left) = (Vec::new(), 0, 2);
    while left > 0 {
        assert!(talk.turns < 200, "{name} is never cut");
        talk.turn();
        let asked = desk.ask(&talk).await;
        assert_eq!(asked.answer.status(), 200, "{name}: {}", asked.answer.text());
        cuts += usize::from(matches!(asked.outcome(), "cut" | "rescued"));
        left -= usize::from(cuts >= 2);
        if asked.outcome() != "passed" {
            requests.push(written(&talk.messages, &asked.messages(talk.format)));
        }
    }
    let body = talk.body_of(&["MESSAGES".to_owned()]);
    let (before, after) = body.split_once("MESSAGES").unwrap();
    let decisions: Vec<Value> = desk.decisions(&talk).await.iter().map(written_decision).collect();
    let file = json!({
        "path": talk.path(), "before": before, "after": after, "messages": talk.messages, "requests": requests,
        "decisions": decisions,
    });
    std::fs::create_dir_all(folder()).unwrap();
    std::fs::write(path, serde_json::to_string_pretty(&file).unwrap() + "\n").unwrap();
}

#[tokio::test]
#[ignore = "writes the files that this and every later version is tested with"]
async fn write_golden() {
    let short = |talk: Talk| Talk { words: 90, max_tokens: 500, ..talk };
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses] {
        write_one(&format.to_string(), &Desk::open(tiny()).await, short(Talk::new(format))).await;
    }
    write_one("gemini", &Desk::open(small()).await, Talk::new(Format::Gemini)).await;
    write_one("anthropic-thinking", &Desk::open(tiny()).await, short(Talk::thinking())).await;
    let reasoning = Talk { thinks: true, ..Talk::new(Format::OpenAiResponses) };
    write_one("openai-responses-reasoning", &Desk::open(tiny()).await, short(reasoning)).await;
    let desk = Desk::with(KeeperSettings { context_window: None, ..tiny() }, |_, request| match request.body.len() {
        0..16_000 => well(request),
        bytes => json_answer(
            400,
            &format!(r#"{{"error":{{"message":"prompt is too long: {} tokens > 4000 maximum"}}}}"#, bytes / 4),
        ),
    })
    .await;
    write_one("anthropic-rescued", &desk, short(Talk::new(Format::Anthropic))).await;
}
