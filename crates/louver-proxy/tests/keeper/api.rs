//! The account, and what is kept of conversations.

use crate::desk::{Desk, small, well};
use crate::talk::{SECRET, Talk};
use crate::world::{Upstream, config_to};
use louver::Format;
use louver_proxy::{AccessToken, Archive, KeeperSettings, ProxyConfig};
use louver_store::{Content, Maintenance, PageRequest, Whose};
use serde_json::Value;
use std::sync::Arc;

/// A desk that tells alice from bob, and both from the owner.
pub(crate) async fn shared(settings: KeeperSettings) -> Desk {
    let upstream = Arc::new(Upstream::start(|_, request| well(request)).await);
    let tokens = vec![
        AccessToken::new("alice", "token-a"),
        AccessToken::new("bob", "token-b"),
        AccessToken::of_owner("token-o"),
    ];
    let config = ProxyConfig { access_tokens: tokens, ..config_to(upstream.address) };
    Desk::configured(settings, upstream, config).await
}

pub(crate) const ALICE: &str = "x-louver-token: token-a\r\n";
pub(crate) const BOB: &str = "x-louver-token: token-b\r\n";
pub(crate) const OWNER: &str = "x-louver-token: token-o\r\n";

pub(crate) async fn json(desk: &Desk, path: &str, headers: &str) -> Value {
    let answer = desk.get(path, headers).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn conversations_are_listed_for_whoever_had_them() {
    let desk = shared(small()).await;
    let mut talk = Talk { headers: ALICE.to_owned(), ..Talk::new(Format::Anthropic) };
    let cut = desk.until_cut(&mut talk).await;
    desk.ask(&talk).await;
    let list = json(&desk, "/louver/api/conversations", ALICE).await;
    let [one] = list.as_array().unwrap().as_slice() else { panic!("{list}") };
    let requests = (talk.messages.len() / 2) as u64;
    assert_eq!(one["id"], cut.conversation);
    assert_eq!(one["parent"], Value::Null);
    assert_eq!((&one["format"], &one["model"]), (&"anthropic".into(), &talk.model.as_str().into()));
    assert_eq!((one["cuts"].as_u64(), one["rescued"].as_u64()), (Some(1), Some(0)));
    assert!(one["requests"].as_u64().unwrap() >= requests, "{one}");
    assert!(one["tokens"]["sent"].as_u64() < one["tokens"]["held"].as_u64());
    assert_eq!(one["usage"]["cache_read"], one["requests"].as_u64().unwrap() * 50);
    assert!(one["cost_usd"].as_f64().unwrap() > 0.0 && one["baseline_usd"].as_f64().unwrap() > 0.0);

    let path = format!("/louver/api/conversations/{}", cut.conversation);
    let whole = json(&desk, &path, ALICE).await;
    let requests = whole["request_list"].as_array().unwrap();
    assert!(requests.iter().any(|request| request["outcome"] == "cut" && request["cut"].is_string()), "{whole}");
    assert!(requests.iter().any(|request| request["repeat"] == true), "{whole}");

    assert_eq!(json(&desk, "/louver/api/conversations", BOB).await, Value::Array(Vec::new()));
    assert_eq!(desk.get(&path, BOB).await.status(), 404);
    assert_eq!(desk.get(&path, "").await.status(), 401);
    assert_eq!(desk.get("/louver/api/conversations?after=x", ALICE).await.status(), 400);
    assert_eq!(desk.get("/louver/api/conversations/none", ALICE).await.status(), 404);
}

#[tokio::test]
async fn readers_with_the_same_history_have_conversations_of_their_own_and_decisions_in_common() {
    let desk = shared(small()).await;
    let talk = Talk { headers: ALICE.to_owned(), ..Talk::new(Format::Anthropic).turns(25) };
    let first = desk.ask(&talk).await;
    let second = desk.ask(&Talk { headers: BOB.to_owned(), ..talk.clone() }).await;
    assert_ne!(first.conversation(), second.conversation());
    assert_eq!(first.body(), second.body());
    assert_eq!(desk.decisions(&talk).await.len(), 1);
}

#[tokio::test]
async fn metrics_count_every_outcome_and_hold_no_content() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    desk.until_cut(&mut talk).await;
    talk.turn();
    desk.ask(&talk).await;
    let passed = (talk.messages.len() / 2 - 2) as f64;
    crate::world::eventually("all have ended", || true).await;
    assert_eq!(desk.metric(r#"louver_requests_total{outcome="passed"}"#).await, passed);
    assert_eq!(desk.metric(r#"louver_requests_total{outcome="cut"}"#).await, 1.0);
    assert_eq!(desk.metric(r#"louver_requests_total{outcome="kept"}"#).await, 1.0);
    assert_eq!(desk.metric("louver_cache_read_tokens_total").await, (passed + 2.0) * 50.0);
    let text = desk.get("/louver/metrics", "").await.text();
    assert!(!text.contains(SECRET) && !text.contains(&talk.model) && !text.contains("file_"), "{text}");
}

/// What a dashboard or an alert asks for has to be there.
#[tokio::test]
async fn every_figure_that_is_watched_is_measured() {
    let desk = Desk::open(small()).await;
    desk.until_cut(&mut Talk::new(Format::Anthropic)).await;
    let measured = desk.get("/louver/metrics", "").await.text();
    for file in ["grafana.json", "alerts.yml"] {
        let path = format!("{}/../../deploy/{file}", env!("CARGO_MANIFEST_DIR"));
        let watched = std::fs::read_to_string(path).unwrap();
        let names = watched.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let is_metric = |name: &&str| {
            (name.starts_with("louver_") || name.starts_with("gen_ai_client_")) && *name != "louver_store"
        };
        let names: std::collections::BTreeSet<&str> = names.filter(is_metric).collect();
        assert!(names.len() > 5, "{file}");
        for name in names {
            assert!(
                measured.contains(&format!("\n{name}{{")) || measured.contains(&format!("\n{name} ")),
                "{file}: {name}"
            );
        }
    }
}

#[tokio::test]
async fn without_an_archive_no_word_of_a_conversation_is_stored() {
    for archive in [Archive::Off, Archive::Decisions] {
        let desk = Desk::open(KeeperSettings { archive, ..small() }).await;
        let mut talk = Talk::thinking();
        talk.headers = "x-api-key: sk-very-secret\r\n".to_owned();
        desk.until_cut(&mut talk).await;
        for _ in 0..25 {
            talk.turn();
            desk.ask(&talk).await;
        }
        assert!(desk.decisions(&talk).await.len() > 1);
        desk.store.flush().await.unwrap();
        let bytes = desk.bytes_on_disk();
        for text in [SECRET, "Read all files", "src/file_", "copper", "sk-very-secret", "sig1"] {
            assert!(memchr::memmem::find(&bytes, text.as_bytes()).is_none(), "{archive} keeps {text}");
        }
    }
}

#[tokio::test]
async fn a_full_archive_gives_messages_back() {
    let desk = Desk::open(KeeperSettings { archive: Archive::Full, ..small() }).await;
    let mut talk = Talk::thinking();
    let cut = desk.until_cut(&mut talk).await;
    talk.turn();
    desk.ask(&talk).await;
    desk.store.flush().await.unwrap();
    let whose = Whose::Only("local".into());
    let page = PageRequest::first(500);
    let found = desk.store.content(whose, cut.conversation.as_str().into(), page).await.unwrap();
    let raws: Vec<&str> = found.rows.iter().map(|message| &*message.raw).collect();
    assert_eq!(raws, talk.messages);
}
