//! The same bytes, whoever decides: restarted, with other settings, by another process on the same file.

use crate::desk::{Cut, Desk, similar, small};
use crate::talk::{Talk, without_thinking};
use louver::Format;
use louver::PolicyKind;
use louver_proxy::KeeperSettings;

/// What reaches the upstream of some requests; the keeper is dropped before some of them.
async fn views(requests: &[Talk], is_restart: impl Fn(usize) -> bool) -> Vec<(String, String)> {
    let mut desk = Desk::open(small()).await;
    let mut views = Vec::new();
    for (number, talk) in requests.iter().enumerate() {
        if is_restart(number) {
            desk.reopen().await;
        }
        let asked = desk.ask(talk).await;
        assert_eq!(asked.answer.status(), 200, "{}", asked.answer.text());
        views.push((asked.outcome().to_owned(), asked.body().to_owned()));
    }
    views
}

async fn are_the_same(name: &str, requests: Vec<Talk>) {
    let undisturbed = views(&requests, |_| false).await;
    let cuts = undisturbed.iter().filter(|(outcome, _)| outcome == "cut").count();
    assert!(cuts >= 2, "{name}: {cuts} cuts");
    for every in [1, 4] {
        let disturbed = views(&requests, |number| number % every == 0).await;
        for (number, (left, right)) in undisturbed.iter().zip(&disturbed).enumerate() {
            assert_eq!(left.0, right.0, "{name}, request {number}, restarted every {every}");
            similar(&right.1, &left.1);
        }
    }
}

/// The requests of a conversation that grows, each changed by how many came before.
fn growing(talk: Talk, turns: usize, mut change: impl FnMut(usize, &mut Talk)) -> Vec<Talk> {
    let mut talk = talk;
    let mut requests = Vec::new();
    for turn in 0..turns {
        talk.turn();
        let mut request = talk.clone();
        change(turn, &mut request);
        requests.push(request);
    }
    requests
}

#[tokio::test]
async fn a_growing_conversation_of_every_format() {
    for format in Format::ALL {
        are_the_same(&format.to_string(), growing(Talk { words: 900, ..Talk::new(format) }, 60, |_, _| {})).await;
    }
}

#[tokio::test]
async fn thinking_that_clients_leave_out_some_day() {
    for model in ["claude-sonnet-5-5", "claude-sonnet-4-5"] {
        let strip = |turn: usize, talk: &mut Talk| {
            if turn >= 13 && !turn.is_multiple_of(7) {
                talk.messages = talk.messages.iter().map(|message| without_thinking(message)).collect();
            }
        };
        are_the_same(model, growing(Talk { words: 900, ..Talk::thinking().of_model(model) }, 60, strip)).await;
    }
    let reasoning = Talk { thinks: true, words: 900, ..Talk::new(Format::OpenAiResponses) };
    are_the_same("reasoning", growing(reasoning, 60, |_, _| {})).await;
}

#[tokio::test]
async fn models_tools_and_prompts_that_change() {
    let change = |turn: usize, talk: &mut Talk| {
        if turn % 11 > 6 {
            talk.model = "claude-opus-4-5".to_owned();
        }
        talk.system = crate::talk::prose(turn as u64, 400 * (turn % 3));
        if turn.is_multiple_of(5) {
            talk.max_tokens = 6_000;
        }
    };
    are_the_same("frames", growing(Talk::thinking(), 50, change)).await;
}

#[tokio::test]
async fn reminders_marks_and_rewinds() {
    let change = |turn: usize, talk: &mut Talk| {
        let last = talk.messages.last_mut().unwrap();
        *last = match turn % 3 {
            0 => last.replace("}]}", r#"},{"type":"text","text":"Go on."}]}"#),
            1 => last.replace("}]}", r#","cache_control":{"type":"ephemeral"}}]}"#),
            _ => last.clone(),
        };
        if turn % 10 == 9 {
            talk.messages.truncate(talk.messages.len() - 8);
        }
    };
    are_the_same("edits", growing(Talk::thinking(), 50, change)).await;
}

#[tokio::test]
async fn recorded_views_stay_under_other_settings_until_something_new_is_cut() {
    let mut desk = Desk::open(small()).await;
    let mut talk = Talk::thinking();
    let cut = desk.until_cut(&mut talk).await;
    let policy = |name: &str| name.parse::<PolicyKind>().unwrap();
    for settings in [
        KeeperSettings { policy: policy("clear-tools"), ..small() },
        KeeperSettings { context_window: Some(400_000), ..small() },
        KeeperSettings { context_window: None, policy: policy("ladder-lean"), ..KeeperSettings::default() },
    ] {
        desk.settings = settings;
        desk.reopen().await;
        talk.turn();
        cut.holds(&talk, &desk.ask(&talk).await);
    }
    desk.settings = KeeperSettings { context_window: Some(8_000), ..small() };
    desk.reopen().await;
    talk.turn();
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "cut");
    Cut::of(&talk, &asked);
}

#[tokio::test]
async fn two_keepers_on_one_file_decide_once() {
    let desk = Desk::open(small()).await;
    let store = crate::desk::open_store(&desk.file());
    let keeper = louver_proxy::Keeper::new(store, small());
    let config = crate::world::config_to(desk.upstream.address);
    let other = crate::world::Running::start(config, keeper).await;
    let mut talk = Talk::new(Format::Anthropic).turns(10);
    for _ in 0..20 {
        talk.turn();
        let (path, body) = (talk.path(), talk.body());
        let before = desk.upstream.count();
        let (left, right) = tokio::join!(
            crate::world::ask(desk.address(), &path, "", &body),
            crate::world::ask(other.address, &path, "", &body)
        );
        assert_eq!(left.header("x-louver-outcome"), right.header("x-louver-outcome"));
        let sent = desk.upstream.requests_from(before);
        similar(std::str::from_utf8(&sent[0].body).unwrap(), std::str::from_utf8(&sent[1].body).unwrap());
    }
    assert!(!desk.decisions(&talk).await.is_empty());
    other.stop().await;
}
