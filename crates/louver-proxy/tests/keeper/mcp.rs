//! A model asks over MCP for what a ledger stands for, in both eras of the protocol.

use crate::desk::{Cut, Desk, small};
use crate::talk::Talk;
use louver::Format;
use louver::address::Address;
use louver_proxy::{Archive, KeeperSettings, McpServer, NOTHING_ARCHIVED};
use louver_store::{
    Account, ConversationInfo, Maintenance, NewContent, NewMessage, Outcome, Queued, RequestEntry, UnixMillis,
};
use serde_json::{Value, json};
use std::sync::Arc;

const STATELESS: &str = "2026-07-28";

fn full() -> KeeperSettings {
    KeeperSettings { archive: Archive::Full, user: "ann".into(), ..small() }
}

async fn asked(server: &McpServer, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let answer: Value = serde_json::from_str(&server.answer(&message.to_string()).await.unwrap()).unwrap();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
    answer
}

/// What a tool says, and whether it went well.
async fn called(server: &McpServer, tool: &str, arguments: Value) -> (String, bool) {
    let answer = asked(server, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let result = &answer["result"];
    (result["content"][0]["text"].as_str().unwrap().to_owned(), !result["isError"].as_bool().unwrap())
}

/// A conversation that was cut, its server, and the tag that the ledger names.
async fn cut(desk: &Desk) -> (McpServer, String, Vec<String>) {
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    let ledger = cut.sent.iter().find(|message| message.contains("[Conversation Ledger]")).unwrap();
    let tag = ledger.split_once("[Conversation Ledger] ").unwrap().1.split(' ').next().unwrap().to_owned();
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    (server, tag, cut.held)
}

#[tokio::test]
async fn a_model_gets_back_what_it_asks_for() {
    let desk = Desk::open(full()).await;
    let (server, tag, held) = cut(&desk).await;
    let (text, is_good) = called(&server, "recall", json!({ "what": format!("{tag}:12") })).await;
    assert!(is_good, "{text}");
    let said: Value = serde_json::from_str(&held[12]).unwrap();
    let said = said.to_string();
    let word = said.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap();
    assert!(text.starts_with("[louver:12]\n") && text.contains(word), "{word}: {text}");
    // Without a tag it is the latest conversation.
    assert_eq!(called(&server, "recall", json!({ "what": "[louver:12]" })).await, (text, true));
    let (found, is_good) = called(&server, "recall", json!({ "what": format!("{tag}:{word}") })).await;
    assert!(is_good && found.contains(word), "{found}");
    let (told, is_good) = called(&server, "inspect", json!({})).await;
    assert!(is_good && told.contains("cuts 1") && told.contains("left out now: "), "{told}");
}

#[tokio::test]
async fn what_inspect_says_is_left_out_is_what_recall_gives_back() {
    let desk = Desk::open(full()).await;
    let mut talk = Talk::new(Format::OpenAiResponses);
    let cut = loop {
        // Reasoning is no message to a record, but one to the client.
        let at = talk.messages.len();
        talk.turn();
        talk.messages.insert(at, json!({ "type": "reasoning", "id": format!("rs_{at}"), "summary": [] }).to_string());
        let asked = desk.ask(&talk).await;
        if asked.outcome() == "cut" {
            break Cut::of(&talk, &asked);
        }
        assert!(talk.messages.len() < 500, "it is never cut");
    };
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    let (told, _) = called(&server, "inspect", json!({})).await;
    let address: Address = told.split_once("left out now: ").unwrap().1.split(" (").next().unwrap().parse().unwrap();
    let sent: Vec<&str> = cut.sent.iter().map(String::as_str).collect();
    let gone: Vec<usize> = (0..cut.held.len()).filter(|index| !sent.contains(&&*cut.held[*index])).collect();
    assert!(address.indices().all(|index| gone.contains(&index)), "{told}: {gone:?}");
}

#[tokio::test]
async fn what_the_store_lost_is_kept_before_a_cut_hides_it() {
    let desk = Desk::open(full()).await;
    let mut talk = Talk { words: 20, ..Talk::new(Format::Anthropic) };
    let (elsewhere, mut at) = (desk.file().with_extension("away"), 0);
    // For a moment the file is not where it was, while something waits to be written to it.
    while desk.store.status().lost == 0 {
        at = talk.messages.len();
        talk.turn();
        assert_eq!(desk.ask(&talk).await.outcome(), "passed");
        std::fs::rename(desk.file(), &elsewhere).unwrap();
        desk.store.flush().await.unwrap();
        std::fs::rename(&elsewhere, desk.file()).unwrap();
    }
    talk.words = Talk::new(Format::Anthropic).words;
    let cut = desk.until_cut(&mut talk).await;
    assert!(!cut.sent.contains(&cut.held[at]), "it is left out");
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    let (text, is_good) = called(&server, "recall", json!({ "what": format!("[louver:{at}]") })).await;
    assert!(is_good, "{text}");
}

#[tokio::test]
async fn an_address_of_more_messages_than_there_can_be_is_no_trouble() {
    let desk = Desk::open(full()).await;
    let (server, tag, _) = cut(&desk).await;
    for what in [
        format!("{tag}:0-99999999999999"),
        "[louver:0-99999999999999]".to_owned(),
        "00000000:0-99999999999999".to_owned(),
    ] {
        let (told, is_good) = called(&server, "recall", json!({ "what": what })).await;
        assert!(!is_good && !told.is_empty(), "{what}: {told}");
    }
}

#[tokio::test]
async fn another_reader_sees_nothing() {
    let desk = Desk::open(full()).await;
    let (_, tag, _) = cut(&desk).await;
    let bob = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "bob".into());
    for what in [format!("{tag}:12"), "[louver:12]".to_owned(), "the".to_owned(), format!("{tag}:the")] {
        let (told, is_good) = called(&bob, "recall", json!({ "what": what })).await;
        assert!(!is_good && (told.contains("of yours")), "{what}: {told}");
    }
    assert!(!called(&bob, "inspect", json!({})).await.1);
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let desk = Desk::open(full()).await;
    let (server, tag, _) = cut(&desk).await;
    for (arguments, said) in [
        (json!({}), "`what` is missing"),
        (json!({ "what": "0000000000:1" }), "no conversation of yours in this archive is known by this tag"),
        (json!({ "what": format!("{tag}:99999") }), "message 99999 is not kept there"),
        (json!({ "what": format!("{tag}:zzzzqqqq") }), "none of these words"),
        (json!({ "what": "[louver:x]" }), "louver"),
        (json!({ "what": format!("{tag}:1"), "cursor": "soon" }), "this is no cursor"),
    ] {
        let (told, is_good) = called(&server, "recall", arguments.clone()).await;
        assert!(!is_good && told.contains(said), "{arguments}: {told}");
    }
    assert_eq!(asked(&server, "tools/call", json!({ "name": "delete" })).await["error"]["code"], -32602);
    assert_eq!(asked(&server, "resources/list", json!({})).await["error"]["code"], -32601);
    let garbage: Value = serde_json::from_str(&server.answer("{").await.unwrap()).unwrap();
    assert_eq!(garbage["error"]["code"], -32700);
}

#[tokio::test]
async fn what_is_not_archived_is_said() {
    let desk = Desk::open(KeeperSettings { archive: Archive::Decisions, ..full() }).await;
    let (server, tag, _) = cut(&desk).await;
    desk.store.flush().await.unwrap();
    for what in ["[louver:12]".to_owned(), format!("{tag}:12"), format!("{tag}:the"), "the".to_owned()] {
        let (told, is_good) = called(&server, "recall", json!({ "what": what })).await;
        assert!(!is_good && told == NOTHING_ARCHIVED, "{what}: {told}");
    }
}

#[tokio::test]
async fn a_latest_conversation_that_is_not_archived_is_named() {
    let desk = Desk::open(full()).await;
    let (server, tag, _) = cut(&desk).await;
    let (before, is_good) = called(&server, "recall", json!({ "what": "[louver:12]" })).await;
    assert!(is_good, "{before}");
    let info = ConversationInfo {
        id: "c-newer".into(),
        parent: None,
        reader: "ann".into(),
        format: Format::Anthropic,
        model: "sonnet".to_owned(),
    };
    let entry = RequestEntry::new(UnixMillis(i64::MAX / 2), "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(desk.store.record_request(&info, entry), Queued::Waiting);
    desk.store.flush().await.unwrap();
    let told = "no message of your latest conversation (c-newer) is archived; another is named by the tag in its ledger's \
        first line: TAG:12";
    assert_eq!(called(&server, "recall", json!({ "what": "[louver:12]" })).await, (told.to_owned(), false));
    assert_eq!(called(&server, "recall", json!({ "what": format!("{tag}:12") })).await, (before, true));
}

#[tokio::test]
async fn both_eras_are_spoken() {
    let desk = Desk::open(full()).await;
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    for (asked_for, spoken) in
        [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")]
    {
        let answer = asked(&server, "initialize", json!({ "protocolVersion": asked_for, "capabilities": {} })).await;
        assert_eq!(answer["result"]["protocolVersion"], spoken);
    }
    assert_eq!(server.answer(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await, None);
    let meta = |version: &str| json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": version } });
    let discovered = asked(&server, "server/discover", meta(STATELESS)).await;
    assert_eq!(discovered["result"]["supportedVersions"][0], STATELESS);
    let old = asked(&server, "tools/list", json!({})).await;
    let new = asked(&server, "tools/list", meta(STATELESS)).await;
    assert_eq!(old["result"]["tools"], new["result"]["tools"]);
    assert_eq!((&old["result"]["resultType"], &new["result"]["resultType"]), (&Value::Null, &json!("complete")));
    let unknown = asked(&server, "tools/list", meta("2031-01-01")).await;
    assert_eq!(
        (&unknown["error"]["code"], &unknown["error"]["data"]["requested"]),
        (&json!(-32022), &json!("2031-01-01"))
    );
    // Both are in every prompt.
    let instructions = discovered["result"]["instructions"].as_str().unwrap();
    assert!(instructions.len() <= 200 && old["result"]["tools"].to_string().len() < 1_200);
}

#[tokio::test]
async fn long_messages_come_in_pages() {
    let desk = Desk::open(full()).await;
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    let words: String = (0..20_000).map(|number| format!("word{number} ")).collect();
    let raw: Arc<str> = json!({ "role": "user", "content": words }).to_string().into();
    let info = ConversationInfo {
        id: "c1".into(),
        parent: None,
        reader: "ann".into(),
        format: Format::Anthropic,
        model: "claude-sonnet-4-5".to_owned(),
    };
    let chain = |number: u8| louver_store::ChainHash([number; 32]);
    let messages = (1..4).map(|number| NewMessage { chain: chain(number), raw: raw.clone() }).collect();
    let at = louver_store::UnixMillis(1);
    let content = NewContent { conversation: info, at, index: 0, previous: None, messages };
    louver_store::Content::put_content(&*desk.store, content).await.unwrap();
    let (mut cursor, mut whole, mut pages) = (String::new(), String::new(), 0);
    loop {
        let what = json!({ "what": "[louver:0-2]", "cursor": cursor });
        let (page, is_good) = called(&server, "recall", what).await;
        assert!(is_good && page.len() < 25_000, "{}", page.len());
        pages += 1;
        let Some((text, next)) = page.split_once("\n(more: the same with \"cursor\": \"") else {
            whole.push_str(&page);
            break;
        };
        whole.push_str(text);
        cursor = next.split('"').next().unwrap().to_owned();
    }
    assert!(pages > 20);
    let joined = whole
        .replace(" (continued)", "")
        .replace("[louver:0]\n", "")
        .replace("[louver:1]\n", "")
        .replace("[louver:2]\n", "");
    assert_eq!(joined.matches("word19999 ").count(), 3);
    assert_eq!(joined.matches("word").count(), 60_000);
}

#[tokio::test]
async fn several_messages_at_once_are_answered_at_once() {
    let desk = Desk::open(full()).await;
    let server = McpServer::new(Arc::clone(&desk.store) as Arc<_>, "ann".into());
    let (ping, told) =
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }), json!({ "jsonrpc": "2.0", "method": "x" }));
    let answer =
        server.answer(&json!([ping, told, { "jsonrpc": "2.0", "id": 2, "method": "never" }]).to_string()).await;
    let answers: Vec<Value> = serde_json::from_str(&answer.unwrap()).unwrap();
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!(server.answer(&json!([told]).to_string()).await, None);
    assert!(server.answer("[]").await.unwrap().contains("-32600"));
}
