//! What clients change in their histories, and the decisions that hold all the same.

use crate::desk::{Cut, Desk, small};
use crate::talk::{Talk, without_thinking};
use crate::world::{Step, ask, json_answer};
use louver::Format;
use louver_proxy::KeeperSettings;
use std::sync::Arc;
use tokio::sync::Notify;

/// A conversation that has just been cut.
async fn cut_talk(talk: Talk) -> (Desk, Talk, Cut) {
    let desk = Desk::open(small()).await;
    let mut talk = talk;
    let cut = desk.until_cut(&mut talk).await;
    (desk, talk, cut)
}

#[tokio::test]
async fn a_cut_holds_in_every_format() {
    for format in Format::ALL {
        let (desk, mut talk, cut) = cut_talk(Talk::new(format)).await;
        for _ in 0..3 {
            talk.turn();
            cut.holds(&talk, &desk.ask(&talk).await);
        }
        let decisions = desk.decisions(&talk).await;
        assert_eq!(decisions.len(), 1, "{format}");
        assert!(decisions[0].is_shown, "{format}");
    }
}

#[tokio::test]
async fn a_clock_in_the_system_prompt() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let mut cut: Option<Cut> = None;
    for minute in 0..24 {
        talk.turn();
        talk.system = format!("Be brief. It is 12:{minute:02}.");
        let asked = desk.ask(&talk).await;
        match &cut {
            Some(cut) => cut.holds(&talk, &asked),
            None if asked.outcome() == "cut" => cut = Some(Cut::of(&talk, &asked)),
            None => assert_eq!(asked.body(), talk.body()),
        }
    }
    assert!(cut.is_some());
}

#[tokio::test]
async fn a_clock_in_the_first_message() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic).turns(20);
    let mut cuts = 0;
    for minute in 0..8 {
        talk.turn();
        talk.messages[0] = talk.user(&format!("It is 12:{minute:02}. Read all files."));
        let asked = desk.ask(&talk).await;
        assert_eq!(asked.answer.status(), 200);
        // Nothing that was decided holds, and what is decided anew has the clock as it is.
        let sent = asked.messages(talk.format);
        assert!(sent.len() == talk.messages.len() || asked.outcome() == "cut");
        assert!(asked.body().len() < 130_000, "{}", asked.body().len());
        assert!(
            asked.body().contains(&format!("12:{minute:02}"))
                && !asked.body().contains(&format!("12:{:02}.", minute + 1))
        );
        cuts += usize::from(asked.outcome() == "cut");
    }
    assert!(cuts > 1);
}

#[tokio::test]
async fn a_tool_added() {
    let (desk, mut talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    talk.turn();
    talk.tools = r#"read_file","input_schema":{"type":"object"}},{"name":"write_file"#.to_owned();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn another_model_and_back() {
    let (desk, mut talk, cut) = cut_talk(Talk::thinking()).await;
    for model in ["claude-opus-5-5", "claude-opus-4-5", "claude-sonnet-5-5"] {
        talk.turn();
        talk.model = model.to_owned();
        cut.holds(&talk, &desk.ask(&talk).await);
    }
    assert_eq!(desk.decisions(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_cut_made_for_one_model_holds_for_the_next() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::thinking();
    let first = desk.until_cut(&mut talk).await;
    talk.model = "claude-opus-5-5".to_owned();
    cut_again(&desk, &mut talk, &first).await;
    let cut = cut_again(&desk, &mut talk, &first).await;
    talk.model = "claude-sonnet-5-5".to_owned();
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

/// Goes on until something else than the first cut is sent.
async fn cut_again(desk: &Desk, talk: &mut Talk, _first: &Cut) -> Cut {
    for _ in 0..40 {
        talk.turn();
        let asked = desk.ask(talk).await;
        if asked.outcome() == "cut" {
            return Cut::of(talk, &asked);
        }
        assert_eq!(asked.outcome(), "kept");
    }
    panic!("it was not cut again");
}

#[tokio::test]
async fn a_result_cleared_behind_the_cut() {
    let (desk, mut talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    let cleared = talk.messages.len() - 3;
    talk.messages[cleared] = clear(&talk.messages[cleared]);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

fn clear(message: &str) -> String {
    let at = message.rfind(r#""content":""#).unwrap();
    format!(r#"{}"content":"[Old tool result content cleared]"}}]}}"#, &message[..at])
}

#[tokio::test]
async fn a_result_cleared_before_the_cut() {
    let (desk, mut talk, _) = cut_talk(Talk::new(Format::Anthropic)).await;
    talk.messages[2] = clear(&talk.messages[2]);
    talk.turn();
    // The record speaks of what the client no longer has: a new decision is made, and holds.
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "cut");
    let cut = Cut::of(&talk, &asked);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn the_last_message_edited() {
    let (desk, mut talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    let last = talk.messages.len() - 1;
    talk.messages[last] = clear(&talk.messages[last]);
    let asked = desk.ask(&talk).await;
    cut.holds(&talk, &asked);
    assert_eq!(asked.conversation(), cut.conversation);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn thinking_removed_by_the_client() {
    let (desk, mut talk, cut) = cut_talk(Talk::thinking()).await;
    talk.turn();
    talk.messages = talk.messages.iter().map(|message| without_thinking(message)).collect();
    let asked = desk.ask(&talk).await;
    cut.holds(&talk, &asked);
    assert!(!asked.body().contains("signature"));
    assert_eq!(asked.conversation(), cut.conversation);
}

#[tokio::test]
async fn reasoning_items_removed_by_the_client() {
    let talk = Talk { thinks: true, ..Talk::new(Format::OpenAiResponses) };
    let (desk, mut talk, cut) = cut_talk(talk).await;
    talk.turn();
    let is_reasoning = |message: &String| message.starts_with(r#"{"type":"reasoning""#);
    let all = talk.clone();
    talk.messages.retain(|message| !is_reasoning(message));
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "kept");
    let mut expected = crate::talk::messages_of(talk.format, cut.view_of(&all).as_bytes());
    expected.retain(|message| !is_reasoning(message));
    crate::desk::similar(asked.body(), &talk.body_of(&expected));
}

#[tokio::test]
async fn a_system_entry_that_moves_to_the_end_at_every_turn() {
    let desk = Desk::open(small()).await;
    let entry = r#"{"role":"system","content":"Today's files are green."}"#;
    let mut talk = Talk::new(Format::Anthropic).of_model("claude-opus-5-5");
    let mut cut: Option<Cut> = None;
    let mut kept = 0;
    for _ in 0..34 {
        talk.turn();
        talk.messages.push(entry.to_owned());
        let asked = desk.ask(&talk).await;
        assert_eq!(asked.answer.status(), 200);
        if let Some(cut) = &cut {
            assert_eq!(asked.outcome(), "kept");
            let mut cut = cut.clone();
            cut.held.pop();
            assert_eq!(cut.sent.pop().as_deref(), Some(entry));
            crate::desk::similar(asked.body(), &cut.view_of(&talk));
            kept += 1;
        } else if asked.outcome() == "cut" {
            cut = Some(Cut::of(&talk, &asked));
        }
        talk.messages.pop();
    }
    assert!(kept > 3);
}

#[tokio::test]
async fn cache_marks_moved() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let mut cut: Option<Cut> = None;
    for _ in 0..24 {
        talk.turn();
        let mut marked = talk.clone();
        let last = marked.messages.last_mut().unwrap();
        *last = format!(r#"{},"cache_control":{{"type":"ephemeral"}}}}]}}"#, last.strip_suffix("}]}").unwrap());
        let asked = desk.ask(&marked).await;
        match &cut {
            Some(cut) => cut.holds(&marked, &asked),
            None if asked.outcome() == "cut" => cut = Some(Cut::of(&marked, &asked)),
            None => assert_eq!(asked.body(), marked.body()),
        }
    }
    assert_eq!(desk.decisions(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_string_turned_into_a_block() {
    let (desk, mut talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    let text = "Read all files, please, and tell me which of them is wrong.";
    talk.messages[0] = format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    talk.turn();
    let asked = desk.ask(&talk).await;
    cut.holds(&talk, &asked);
    assert_eq!(asked.conversation(), cut.conversation);
}

#[tokio::test]
async fn two_forks_of_one_prefix() {
    let (desk, talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    let (mut left, mut right) = (talk.clone(), talk);
    right.words = 500;
    // The first that goes on is the conversation itself; whoever leaves it later is a fork of it.
    (0..5).for_each(|_| left.turn());
    let mut ids = Vec::new();
    for _ in 0..4 {
        left.turn();
        right.turn();
        for talk in [&left, &right] {
            let asked = desk.ask(talk).await;
            cut.holds(talk, &asked);
            ids.push((asked.conversation().to_owned(), asked.answer.header("x-louver-parent").map(str::to_owned)));
        }
    }
    assert_eq!(ids[0], (cut.conversation.clone(), None));
    assert_ne!(ids[1].0, ids[0].0);
    assert_eq!(ids[1].1.as_deref(), Some(cut.conversation.as_str()));
    assert!(ids.chunks(2).all(|pair| pair == &ids[..2]), "{ids:?}");
}

/// A desk whose upstream answers once everybody has come.
async fn patient_desk(go_on: &Arc<Notify>) -> Desk {
    let go_on = Arc::clone(go_on);
    Desk::with(small(), move |_, _| {
        let mut steps = json_answer(200, Talk::answer(Format::Anthropic));
        steps.insert(0, Step::Wait(Arc::clone(&go_on)));
        steps
    })
    .await
}

#[tokio::test]
async fn the_same_request_twice_at_once() {
    for other in ["claude-sonnet-5-5", "claude-opus-5-5"] {
        let go_on = Arc::new(Notify::new());
        let desk = patient_desk(&go_on).await;
        let talk = Talk::new(Format::Anthropic).turns(25);
        let second = talk.clone().of_model(other);
        let requests = [&talk, &second].map(|talk| (talk.path(), talk.body()));
        let all = requests.map(|(path, body)| {
            let address = desk.address();
            tokio::spawn(async move { ask(address, &path, "", &body).await })
        });
        crate::world::eventually("both are there", || desk.upstream.count() == 2).await;
        go_on.notify_waiters();
        let mut outcomes = Vec::new();
        for answer in all {
            outcomes.push(answer.await.unwrap().header("x-louver-outcome").unwrap().to_owned());
        }
        outcomes.sort();
        let sent: Vec<Vec<String>> = desk
            .upstream
            .requests_from(0)
            .iter()
            .map(|request| crate::talk::messages_of(talk.format, &request.body))
            .collect();
        assert_eq!(sent[0], sent[1]);
        assert!(sent[0].len() < talk.messages.len());
        let expected = if other == talk.model { ["cut", "cut"] } else { ["cut", "kept"] };
        assert_eq!(outcomes, expected);
        assert_eq!(desk.decisions(&talk).await.len(), 1);
    }
}

#[tokio::test]
async fn a_retry_says_what_the_first_said_and_counts_once() {
    let (desk, talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    let again = desk.ask(&talk).await;
    assert_eq!((again.outcome(), again.messages(talk.format)), ("cut", cut.sent.clone()));
    assert_eq!(desk.decisions(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_trailing_reminder_dropped_at_every_turn() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let mut cut: Option<Cut> = None;
    let mut cuts = 0;
    for turn in 0..60 {
        talk.turn();
        let plain = talk.messages.last().unwrap().clone();
        let reminder = format!(r#"}},{{"type":"text","text":"<system-reminder>{turn} left</system-reminder>"}}]}}"#);
        *talk.messages.last_mut().unwrap() = plain.strip_suffix("}]}").unwrap().to_owned() + &reminder;
        let asked = desk.ask(&talk).await;
        assert_eq!(asked.answer.status(), 200);
        assert!(asked.body().len() < 130_000, "at turn {turn} {} bytes are sent", asked.body().len());
        if asked.outcome() == "cut" {
            cuts += 1;
            cut = Some(Cut::of(&talk, &asked));
        } else if let Some(cut) = &cut {
            cut.holds(&talk, &asked);
        }
        *talk.messages.last_mut().unwrap() = plain;
    }
    assert!((2..8).contains(&cuts), "{cuts} cuts");
}

#[tokio::test]
async fn observed_for_a_hundred_turns_and_then_kept() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk { words: 240, ..Talk::new(Format::Anthropic) };
    talk.headers = "x-louver-mode: observe\r\n".to_owned();
    for turn in 0..100 {
        talk.turn();
        if turn % 5 == 4 {
            let asked = desk.ask(&talk).await;
            assert_eq!((asked.outcome(), asked.body()), ("passed", talk.body().as_str()));
        }
    }
    assert!(desk.decisions(&talk).await.is_empty());
    talk.headers.clear();
    let cut = Cut::of(&talk, &desk.ask(&talk).await);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn first_seen_at_message_300() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk { words: 150, ..Talk::thinking() }.turns(150);
    assert!(talk.messages.len() > 300);
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "cut");
    let cut = Cut::of(&talk, &asked);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn an_oauth_token_renewed() {
    let talk = Talk { headers: "authorization: Bearer old\r\n".to_owned(), ..Talk::new(Format::Anthropic) };
    let (desk, mut talk, cut) = cut_talk(talk).await;
    talk.headers = "authorization: Bearer new\r\n".to_owned();
    talk.turn();
    let asked = desk.ask(&talk).await;
    cut.holds(&talk, &asked);
    assert_eq!(asked.sent[0].header("authorization"), Some("Bearer new"));
    let bytes = desk.bytes_on_disk();
    assert!(memchr::memmem::find(&bytes, b"Bearer").is_none());
}

#[tokio::test]
async fn a_view_that_no_longer_fits_where_it_is_taken_over_is_cut_further() {
    let (desk, mut talk, cut) = cut_talk(Talk::new(Format::Anthropic)).await;
    // The last message is written anew, and so much follows that the old view does not fit.
    let last = talk.messages.len() - 1;
    talk.messages[last] = clear(&talk.messages[last]);
    (0..40).for_each(|_| talk.turn());
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "cut");
    assert!(asked.body().len() < cut.view_of(&talk).len() * 3 / 4);
}

#[tokio::test]
async fn memory_is_bounded_and_forgets_nothing() {
    let settings = KeeperSettings { max_conversations: 3, ..small() };
    let desk = Desk::open(settings).await;
    let mut talks = Vec::new();
    for number in 0..6 {
        let mut talk = Talk::new(Format::Anthropic).turns(28);
        talk.messages[0] = talk.user(&format!("Task {number}."));
        let cut = Cut::of(&talk, &desk.ask(&talk).await);
        talks.push((talk, cut));
    }
    for (talk, cut) in &mut talks {
        talk.turn();
        cut.holds(talk, &desk.ask(talk).await);
    }
    assert!(desk.metric("louver_live_conversations").await <= 3.0);
}

#[tokio::test]
async fn everybody_at_once_in_one_session_hangs_nobody() {
    let desk = Desk::open(KeeperSettings { max_conversations: 2, ..small() }).await;
    let mut talk = Talk::new(Format::Anthropic);
    talk.headers = "x-claude-code-session-id: s-1\r\n".to_owned();
    desk.until_cut(&mut talk).await;
    let mut all = Vec::new();
    for number in 0..40 {
        let mut talk = talk.clone();
        match number % 4 {
            0 => talk.messages[0] = talk.user(&format!("Task {number}.")),
            1 => talk.messages.truncate(talk.messages.len() - 2 * (number % 7)),
            2 => talk.messages.push(talk.user(&format!("Fork {number}."))),
            _ => talk.turn(),
        }
        let (path, headers, body, address) = (talk.path(), talk.headers.clone(), talk.body(), desk.address());
        all.push(tokio::spawn(async move { ask(address, &path, &headers, &body).await }));
    }
    for answer in all {
        assert_eq!(answer.await.unwrap().status(), 200);
    }
    assert!(desk.metric("louver_live_conversations").await <= 2.0);
}

/// Changes the text of every record in the store.
fn damage(desk: &Desk, change: &str) {
    let connection = rusqlite::Connection::open(desk.file()).unwrap();
    connection.execute_batch(&format!("UPDATE decisions SET record = CAST({change} AS BLOB)")).unwrap();
}

#[tokio::test]
async fn a_record_of_another_version_is_waited_for_and_never_given_up() {
    let (mut desk, mut talk, _) = cut_talk(Talk::new(Format::Anthropic)).await;
    damage(&desk, r#"replace(CAST(record AS TEXT), '"version":1', '"version":2')"#);
    desk.reopen().await;
    talk.turn();
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (503, "none", 0));
    damage(&desk, r#"replace(CAST(record AS TEXT), '"version":2', '"version":1')"#);
    desk.reopen().await;
    assert_eq!(desk.ask(&talk).await.outcome(), "kept");
}

#[tokio::test]
async fn a_record_that_cannot_be_applied_makes_room_for_a_new_one() {
    let (mut desk, mut talk, _) = cut_talk(Talk::new(Format::Anthropic)).await;
    damage(&desk, r#"replace(CAST(record AS TEXT), '"texts":"', '"texts":"x')"#);
    desk.reopen().await;
    talk.turn();
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.outcome(), "cut");
    let cut = Cut::of(&talk, &asked);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
}
