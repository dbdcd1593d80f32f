//! The page's files and what it asks for: lists in pages, cuts as differences, words, money, and nothing of others.

use crate::api::{ALICE, BOB, OWNER, json, shared};
use crate::desk::{Cut, Desk, small};
use crate::talk::{SECRET, Talk};
use louver::Format;
use louver_proxy::{Archive, KeeperSettings};
use louver_store::{Account, ConversationInfo, Maintenance, NanoUsd, Outcome, RequestEntry, UnixMillis};
use serde_json::Value;

fn full() -> KeeperSettings {
    KeeperSettings { archive: Archive::Full, user: "ann".into(), ..small() }
}

fn talk_of(headers: &str) -> Talk {
    Talk { headers: headers.to_owned(), ..Talk::new(Format::Anthropic) }
}

/// The texts of a message's parts.
fn texts_of(raw: &str) -> Vec<String> {
    let message = louver::Message::parse(Format::Anthropic, raw).unwrap();
    message.shape().parts.iter().map(|part| message.text_of(part).into_owned()).collect()
}

fn words_of(raw: &str) -> String {
    texts_of(raw).concat()
}

/// A conversation that was cut twice, and both.
async fn cut_twice(desk: &Desk, talk: &mut Talk) -> [Cut; 2] {
    let first = desk.until_cut(talk).await;
    for _ in 0..100 {
        talk.turn();
        let asked = desk.ask(talk).await;
        if asked.outcome() == "cut" {
            return [first, Cut::of(talk, &asked)];
        }
    }
    panic!("it was cut once only");
}

/// All rows of a cut, page by page.
async fn rows(desk: &Desk, path: &str, headers: &str, rows: usize) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let joint = if path.contains('?') { '&' } else { '?' };
        let page = json(desk, &format!("{path}{joint}after={after}&rows={rows}"), headers).await;
        let list = page["rows"].as_array().unwrap();
        assert!(list.len() <= rows);
        all.extend(list.iter().cloned());
        match page["next"].as_u64() {
            Some(next) => after = next,
            None => return all,
        }
    }
}

#[tokio::test]
async fn the_page_and_its_files_are_in_the_binary_and_need_a_token() {
    let desk = shared(small()).await;
    let page = desk.get("/louver/", ALICE).await;
    assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let html = page.text();
    let named = html.split(['"', '\'']).filter(|word| word.ends_with(".js") || word.ends_with(".css"));
    let named: Vec<&str> = named.collect();
    assert_eq!(named.len(), 10, "{html}");
    for name in named {
        let file = desk.get(&format!("/louver/{name}"), "cookie: louver_token=token-a\r\n").await;
        assert_eq!(file.status(), 200, "{name}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let refused = desk.get(&format!("/louver/{name}"), "").await;
        assert_eq!(refused.status(), 401);
        assert!(refused.text().contains("/louver/?token="), "{}", refused.text());
    }
    assert_eq!(desk.get("/louver", ALICE).await.header("location"), Some("/louver/"));
    for path in
        ["/louver/none.js", "/louver/../Cargo.toml", "/louver/api/", "/louver/api/nothing", "/louver/files/main.js"]
    {
        assert!([400, 404].contains(&desk.get(path, ALICE).await.status()), "{path}");
    }
}

#[tokio::test]
async fn conversations_come_in_pages_and_in_any_order() {
    let desk = shared(small()).await;
    for number in 0..45 {
        let info = ConversationInfo {
            id: format!("c{number:02}").as_str().into(),
            parent: None,
            reader: "alice".into(),
            format: Format::Anthropic,
            model: "claude-sonnet-5-5".to_owned(),
        };
        let mut entry = RequestEntry::new(UnixMillis(number), "anthropic", "claude-sonnet-5-5", Outcome::Passed);
        (entry.cost, entry.baseline) = (Some(NanoUsd(100 - number)), Some(NanoUsd(100 + number % 2 * 2)));
        let _ = desk.store.record_request(&info, entry);
    }
    for (order, first) in [("newest", "c44"), ("dearest", "c00"), ("most-saved", "c43")] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/louver/api/conversations?order={order}&rows=20&after={after}");
            let answer = desk.get(&path, ALICE).await;
            let list: Vec<Value> = serde_json::from_slice(&answer.body).unwrap();
            assert!(list.len() <= 20);
            seen.extend(list.iter().map(|one| one["id"].as_str().unwrap().to_owned()));
            match answer.header("x-louver-next") {
                Some(next) => after = next.to_owned(),
                None => break,
            }
        }
        assert_eq!((seen.len(), seen[0].as_str()), (45, first), "{order}");
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 45, "{order}");
    }
    let refused = desk.get("/louver/api/conversations?order=cheapest", ALICE).await;
    assert_eq!(refused.status(), 400);
    assert!(refused.text().contains("most-saved"), "{}", refused.text());
    assert_eq!(desk.get("/louver/api/conversations?rows=many", ALICE).await.status(), 400);
}

/// Every message that a client held is there, with what became of it.
async fn has_every_message(desk: &Desk, cut: &Cut, summary: &Value, one: &str) {
    // What a cut has not changed stands together, and can be had one by one.
    let mut covered = 0;
    for row in rows(desk, one, OWNER, 3).await {
        let count = row["count"].as_u64();
        assert!(row["before"] != row["after"] || count.is_some(), "{row}");
        assert_eq!(row[if count.is_some() { "number" } else { "index" }], covered);
        covered += count.unwrap_or(1);
    }
    assert_eq!(covered as usize, cut.held.len());
    let (mut next, mut gone) = (0, 0);
    for row in rows(desk, &format!("{one}?each=1"), OWNER, 7).await {
        assert_eq!(row["index"], next);
        let raw = &cut.held[next as usize];
        let is_sent = cut.sent.contains(raw);
        match row["after"].as_str().unwrap() {
            "sent" => assert!(is_sent, "{row}"),
            "left out" => gone += 1,
            _ => assert!(!is_sent, "{row}"),
        }
        let message = format!(
            "/louver/api/conversations/{}/messages/{next}?chain={}",
            cut.conversation,
            summary["chain"].as_str().unwrap()
        );
        let message = json(desk, &message, OWNER).await;
        let whole = message["text"].as_str().unwrap();
        assert!(texts_of(raw).iter().all(|text| whole.contains(text)), "{message}");
        next += 1;
    }
    assert_eq!((next as usize, summary["left_out"].as_u64()), (cut.held.len(), Some(gone)));
    assert!(gone > 0);
}

#[tokio::test]
async fn a_cut_is_a_difference_with_its_ledger_and_every_message_that_was_left_out() {
    for thinks in [false, true] {
        let desk = Desk::open(full()).await;
        let mut talk = Talk { thinks, ..Talk::new(Format::Anthropic) };
        let cuts = cut_twice(&desk, &mut talk).await;
        let path = format!("/louver/api/conversations/{}/cuts", cuts[0].conversation);
        let list = json(&desk, &path, OWNER).await;
        let list = list["cuts"].as_array().unwrap();
        assert_eq!(list.len(), 2, "{list:?}");
        let mut known: Vec<String> = Vec::new();
        for (cut, summary) in cuts.iter().zip(list) {
            let held = cut.held.len();
            assert_eq!(summary["messages"], held, "{summary}");
            let one = format!("{path}/{}", summary["sequence"]);
            let whole = json(&desk, &one, OWNER).await;
            assert_eq!((&whole["text"], &whole["cut"]), (&"kept".into(), summary));
            let ledger: String =
                whole["ours"]["after"].as_array().unwrap().iter().map(|ours| ours["text"].as_str().unwrap()).collect();
            let sent = cut.sent.iter().find(|message| message.contains("[Conversation Ledger]")).unwrap();
            assert!(ledger.contains(&words_of(sent)), "{ledger}\n{sent}");
            let before = whole["ours"]["before"]
                .as_array()
                .unwrap()
                .iter()
                .map(|ours| ours["text"].as_str().unwrap().to_owned());
            assert_eq!(before.collect::<Vec<_>>(), known);
            known = whole["ours"]["after"]
                .as_array()
                .unwrap()
                .iter()
                .map(|ours| ours["text"].as_str().unwrap().to_owned())
                .collect();

            has_every_message(&desk, cut, summary, &one).await;
        }
    }
}

#[tokio::test]
async fn long_messages_come_in_pieces() {
    let desk = Desk::open(full()).await;
    let mut talk = Talk { words: 30_000, ..Talk::new(Format::Anthropic) };
    talk.turn();
    let asked = desk.post(&talk.path(), "x-louver-mode: off\r\n", &talk.body()).await;
    desk.store.flush().await.unwrap();
    let (mut whole, mut offset, mut pieces) = (String::new(), 0, 0);
    loop {
        let path = format!("/louver/api/conversations/{}/messages/2?offset={offset}", asked.conversation());
        let piece = json(&desk, &path, OWNER).await;
        assert!(piece["text"].as_str().unwrap().len() <= 64 << 10);
        whole.push_str(piece["text"].as_str().unwrap());
        pieces += 1;
        match piece["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert!(pieces > 2);
    assert_eq!(whole.trim_end(), words_of(&talk.messages[2]).trim_end());
}

#[tokio::test]
async fn without_an_archive_a_cut_has_numbers_and_no_words() {
    let desk = shared(small()).await;
    let mut talk = talk_of(ALICE);
    let cut = desk.until_cut(&mut talk).await;
    let path = format!("/louver/api/conversations/{}/cuts", cut.conversation);
    let list = json(&desk, &path, ALICE).await;
    let one = format!("{path}/{}", list["cuts"][0]["sequence"]);
    let whole = json(&desk, &one, ALICE).await;
    assert_eq!(whole["text"], "not kept");
    let gone: u64 = whole["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["after"] == "left out")
        .map(|row| row["count"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(gone), list["cuts"][0]["left_out"].as_u64());
    let text = whole.to_string();
    assert!(text.contains("[Conversation Ledger]") && text.contains("characters of message"), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("copper") && !text.contains("file_"), "{text}");
    assert_eq!(json(&desk, "/louver/api/search?q=marmalade", ALICE).await["hits"], Value::Array(Vec::new()));
    assert_eq!(
        desk.get(&format!("/louver/api/conversations/{}/messages/3", cut.conversation), ALICE).await.status(),
        404
    );
}

#[tokio::test]
async fn words_are_found_in_what_was_left_out() {
    let desk = Desk::open(full()).await;
    let mut talk = Talk::new(Format::OpenAiResponses);
    talk.thinks = true;
    let cut = desk.until_cut(&mut talk).await;
    let path = format!("/louver/api/search?q={SECRET}+file_1.rs&conversation={}", cut.conversation);
    let found = json(&desk, &path, OWNER).await;
    let hits = found["hits"].as_array().unwrap();
    assert!(!hits.is_empty(), "{found}");
    for hit in hits {
        let index = hit["index"].as_u64().unwrap() as usize;
        assert!(!cut.sent.contains(&cut.held[index]), "message {index} is still sent as it came");
        assert_eq!(hit["is_left_out"], true);
        assert!(hit["pieces"].as_array().unwrap().iter().any(|piece| piece["is_mark"] == true), "{hit}");
    }
    let everywhere = json(&desk, &format!("/louver/api/search?q={SECRET}"), OWNER).await;
    let states: Vec<bool> = everywhere["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            let index = hit["index"].as_u64().unwrap() as usize;
            let is_left_out = hit["is_left_out"].as_bool().unwrap();
            assert_eq!(is_left_out, !cut.sent.contains(&cut.held[index]), "{hit}");
            is_left_out
        })
        .collect();
    assert!(states.contains(&true) && states.contains(&false), "{states:?}");
    for bad in ["/louver/api/search", "/louver/api/search?q=", "/louver/api/search?q=+"] {
        assert_eq!(desk.get(bad, OWNER).await.status(), 400, "{bad}");
    }
    assert_eq!(desk.get(&format!("/louver/api/search?q={}", "x".repeat(1_001)), OWNER).await.status(), 400);
}

#[tokio::test]
async fn another_readers_token_sees_nothing() {
    let desk = shared(KeeperSettings { archive: Archive::Full, ..small() }).await;
    let mut talk = talk_of(ALICE);
    let [first, _] = cut_twice(&desk, &mut talk).await;
    let own = format!("/louver/api/conversations/{}", first.conversation);
    let cuts = json(&desk, &format!("{own}/cuts"), ALICE).await;
    let (sequence, chain) = (&cuts["cuts"][0]["sequence"], cuts["cuts"][0]["chain"].as_str().unwrap());
    let paths = [
        own.clone(),
        format!("{own}/cuts"),
        format!("{own}/cuts/{sequence}"),
        format!("{own}/messages/3"),
        format!("{own}/messages/3?chain={chain}"),
        format!("/louver/api/search?q={SECRET}&conversation={}", first.conversation),
    ];
    let nothing = |text: &str| {
        assert!(!text.contains(&first.conversation) && !text.contains(SECRET) && !text.contains("alice"), "{text}");
    };
    for path in &paths {
        assert_eq!(desk.get(path, ALICE).await.status(), 200, "{path}");
        let answer = desk.get(path, BOB).await;
        assert_eq!(answer.status(), 404, "{path}");
        nothing(&answer.text());
    }
    let lists = ["/louver/api/conversations", "/louver/api/money", &format!("/louver/api/search?q={SECRET}")];
    for path in lists {
        let text = desk.get(path, BOB).await.text();
        nothing(&text);
        assert!(!text.contains("claude-sonnet"), "{path}: {text}");
    }

    // The same text, said by bob: a conversation of his own, of which he sees his own.
    let fork = Talk { headers: BOB.to_owned(), ..talk.clone() };
    let his = desk.ask(&fork).await;
    assert_ne!(his.conversation(), first.conversation);
    let his_path = format!("/louver/api/conversations/{}", his.conversation());
    let cuts = json(&desk, &format!("{his_path}/cuts"), BOB).await;
    assert!(!cuts["cuts"].as_array().unwrap().is_empty(), "what holds for him is shown");
    assert!(cuts["cuts"].as_array().unwrap().iter().all(|cut| cut["at"].is_null()), "but not when it was decided");
    let shown = json(&desk, &format!("{his_path}/cuts/{}", cuts["cuts"][0]["sequence"]), BOB).await;
    assert_eq!(shown["text"], "kept", "by his own words");
    for path in paths.iter().map(String::as_str).chain(lists) {
        let text = desk.get(path, BOB).await.text();
        assert!(!text.contains(&first.conversation) && !text.contains("alice"), "{path}: {text}");
    }
    // A decision of alice's that is not on his chain is none of his, whatever he asks.
    let mut further = talk.clone();
    let mut other = None;
    for _ in 0..100 {
        further.turn();
        if desk.ask(&further).await.outcome() == "cut" {
            let cuts = json(&desk, &format!("{own}/cuts"), ALICE).await;
            other = cuts["cuts"].as_array().unwrap().last().cloned();
            break;
        }
    }
    let other = other.unwrap();
    assert_eq!(desk.get(&format!("{his_path}/cuts/{}", other["sequence"]), BOB).await.status(), 404);
    let beyond =
        format!("{his_path}/messages/{}?chain={}", further.messages.len() - 1, other["chain"].as_str().unwrap());
    assert_eq!(desk.get(&beyond, BOB).await.status(), 404);
}

#[tokio::test]
async fn whoever_owns_the_process_sees_everybodys_figures_and_nobodys_words() {
    let desk = shared(KeeperSettings { archive: Archive::Full, ..small() }).await;
    let cut = desk.until_cut(&mut talk_of(ALICE)).await;
    let own = format!("/louver/api/conversations/{}", cut.conversation);
    let cuts = json(&desk, &format!("{own}/cuts"), ALICE).await;
    let sequence = &cuts["cuts"][0]["sequence"];
    let list = json(&desk, "/louver/api/conversations", OWNER).await;
    assert_eq!(list.as_array().unwrap().len(), 1);
    let whole = desk.get(&format!("{own}/cuts/{sequence}"), OWNER).await.text();
    assert!(whole.contains("another reader's") && !whole.contains(SECRET), "{whole}");
    assert_eq!(desk.get(&format!("{own}/messages/3"), OWNER).await.status(), 404);
    let found = json(&desk, &format!("/louver/api/search?q={SECRET}"), OWNER).await;
    assert_eq!(found["hits"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn money_is_shown_by_day_model_and_reader() {
    let desk = shared(small()).await;
    desk.ask(&talk_of(ALICE).turns(2)).await;
    desk.ask(&talk_of(BOB).turns(3).of_model("claude-opus-4-5")).await;
    let all = json(&desk, "/louver/api/money?days=7", OWNER).await;
    let days = all["days"].as_array().unwrap();
    assert_eq!(days.len(), 7);
    let sum =
        |rows: &Value, key: &str| rows.as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap()).sum::<f64>();
    assert!(sum(&all["days"], "cost_usd") > 0.0);
    for by in ["days", "models", "readers"] {
        assert_eq!(sum(&all[by], "requests"), 2.0, "{by}");
        assert!((sum(&all[by], "cost_usd") - sum(&all["days"], "cost_usd")).abs() < 1e-9, "{by}");
    }
    let names = |rows: &Value| {
        rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&all["models"]), ["claude-opus-4-5", "claude-sonnet-5-5"]);
    assert_eq!(names(&all["readers"]), ["bob", "alice"]);
    let own = json(&desk, "/louver/api/money", BOB).await;
    assert_eq!((names(&own["models"]), names(&own["readers"])), (vec!["claude-opus-4-5".to_owned()], Vec::new()));
    assert_eq!(json(&desk, "/louver/api/money?days=99999", BOB).await["days"].as_array().unwrap().len(), 366);
}
