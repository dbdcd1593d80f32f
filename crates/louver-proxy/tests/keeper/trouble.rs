//! A store that is away.

use crate::desk::{DISK, Desk, small};
use crate::talk::Talk;
use crate::world::{Answer, ask, within};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use louver::Format;
use louver_proxy::KeeperSettings;
use louver_store::Maintenance;
use rusqlite::Connection;
use std::time::Duration;

/// Nobody else can write as long as this lives.
fn lock(desk: &Desk) -> Connection {
    let connection = Connection::open(desk.file()).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

/// Takes the store away: its file is gone, and another one, no store at all, stands there.
fn remove(desk: &Desk) {
    for end in ["", "-wal", "-shm"] {
        let mut path = desk.file().into_os_string();
        path.push(end);
        let _ = std::fs::remove_file(path);
    }
}

/// Conversations of which none is another's.
fn strangers(count: usize) -> impl Iterator<Item = Talk> {
    (0..count).map(|number| {
        let mut talk = Talk::new(Format::Anthropic).turns(25);
        talk.messages[0] = talk.user(&format!("Task {number}."));
        talk
    })
}

#[tokio::test]
async fn with_a_store_that_is_gone_small_histories_pass_and_large_ones_are_asked_to_wait() {
    let desk = Desk::open(small()).await;
    let large = Talk::new(Format::Anthropic).turns(25);
    desk.ask(&Talk::new(Format::Anthropic).turns(2)).await;
    remove(&desk);
    let little = Talk { words: 20, ..Talk::new(Format::Anthropic) }.turns(2);
    let asked = desk.ask(&little).await;
    assert_eq!((asked.answer.status(), asked.body()), (200, little.body().as_str()));
    let asked = desk.ask(&large).await;
    assert_eq!((asked.answer.status(), asked.outcome()), (503, "none"));
    assert_eq!(asked.answer.header("retry-after"), Some("20"));
    assert!(asked.sent.is_empty());
}

#[tokio::test]
async fn a_forced_cut_waits_for_a_locked_store_and_is_then_turned_away() {
    let desk = Desk::open(small()).await;
    let talk = Talk::new(Format::Anthropic).turns(25);
    let locked = lock(&desk);
    let asked = within(desk.ask(&talk)).await;
    assert_eq!((asked.answer.status(), asked.outcome()), (503, "none"));
    assert_eq!(asked.answer.header("retry-after"), Some("20"));
    drop(locked);
    assert_eq!(desk.ask(&talk).await.outcome(), "cut");
}

#[tokio::test]
async fn a_forced_cut_goes_out_once_the_store_is_back() {
    let desk = Desk::open(KeeperSettings { store_wait: Duration::from_secs(25), ..small() }).await;
    let talk = Talk::new(Format::Anthropic).turns(25);
    let locked = lock(&desk);
    let (path, body, address) = (talk.path(), talk.body(), desk.address());
    let waiting = tokio::spawn(async move { ask(address, &path, "", &body).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waiting.is_finished());
    drop(locked);
    assert_eq!(waiting.await.unwrap().header("x-louver-outcome"), Some("cut"));
}

#[tokio::test]
async fn a_recorded_view_holds_while_the_store_cannot_be_written() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    let _locked = lock(&desk);
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
    // Also where it is taken over.
    let last = talk.messages.len() - 1;
    talk.messages[last] = talk.user("Never mind.");
    talk.messages[cut.held.len() - 1] = talk.user("Something else.");
    cut.holds(&talk, &desk.ask(&talk).await);
}

#[tokio::test]
async fn a_cut_that_only_pays_is_put_off() {
    // Far from its window, but large enough for a cut to pay.
    let settings = KeeperSettings { policy: "ladder-lean".parse().unwrap(), context_window: None, ..small() };
    let desk = Desk::open(settings.clone()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    assert!(cut.held.len() < 200, "it was not forced");
    let other = Desk::open(settings).await;
    let locked = lock(&other);
    let asked = other.ask(&talk).await;
    assert_eq!((asked.answer.status(), asked.outcome(), asked.body()), (200, "passed", talk.body().as_str()));
    drop(locked);
    talk.turn();
    assert_eq!(other.ask(&talk).await.outcome(), "cut");
}

/// One after the other they would take longer than the client has patience.
#[tokio::test]
async fn many_that_wait_for_the_store_do_not_wait_for_each_other() {
    let desk = Desk::open(KeeperSettings { store_wait: Duration::from_secs(6), ..small() }).await;
    let talk = Talk::new(Format::Anthropic).turns(25);
    let _locked = lock(&desk);
    let waiting: Vec<_> = (0..6)
        .map(|_| {
            let (path, body, address) = (talk.path(), talk.body(), desk.address());
            tokio::spawn(async move { ask(address, &path, "", &body).await })
        })
        .collect();
    for waiting in waiting {
        assert_eq!(waiting.await.unwrap().status(), 503);
    }
}

#[tokio::test]
async fn memory_is_bounded_while_the_store_is_away() {
    let desk = Desk::open(KeeperSettings { max_conversations: 3, ..small() }).await;
    remove(&desk);
    for talk in strangers(8) {
        assert_eq!(desk.ask(&talk).await.answer.status(), 503);
    }
    assert!(desk.metric("louver_live_conversations").await <= 3.0);
}

#[tokio::test]
async fn a_small_window_makes_no_history_too_small_to_have_been_cut() {
    let desk = Desk::open(KeeperSettings { context_window: Some(4_000), ..small() }).await;
    let mut talk = Talk { words: 150, ..Talk::new(Format::Anthropic) };
    let cut = desk.until_cut(&mut talk).await;
    assert!(talk.body().len() < 50_000);
    remove(&desk);
    talk.turn();
    let asked = desk.ask(&talk).await;
    match asked.answer.status() {
        503 => {}
        _ => cut.holds(&talk, &asked),
    }
}

#[tokio::test]
async fn only_so_many_wait_for_the_store_and_the_rest_is_turned_away_at_once() {
    let settings = KeeperSettings { store_wait: Duration::from_secs(25), max_waiting: 2, ..small() };
    let desk = Desk::open(settings).await;
    let locked = lock(&desk);
    let address = desk.address();
    let mut asked: FuturesUnordered<_> =
        strangers(6).map(|talk| async move { ask(address, &talk.path(), "", talk.body()).await }).collect();
    for _ in 0..4 {
        let turned_away = asked.next().await.unwrap();
        assert_eq!((turned_away.status(), turned_away.header("retry-after")), (503, Some("20")));
        assert!(turned_away.text().contains("too many requests wait"), "{}", turned_away.text());
    }
    drop(locked);
    let waited: Vec<Answer> = asked.collect().await;
    let outcomes: Vec<_> = waited.iter().map(|answer| answer.header("x-louver-outcome")).collect();
    assert_eq!(outcomes, [Some("cut"); 2]);
    // Whoever has waited gives its place back.
    let _locked = lock(&desk);
    let mut third = Talk::new(Format::Anthropic).turns(25);
    third.messages[0] = third.user("A third.");
    let asking = tokio::spawn(async move { ask(address, &third.path(), "", third.body()).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!asking.is_finished());
    asking.abort();
}

#[tokio::test]
async fn a_full_disk_turns_new_cuts_away_and_lets_everything_else_go_on() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    let ballast = Connection::open(desk.file()).unwrap();
    ballast.execute_batch(&format!("CREATE TABLE ballast AS SELECT zeroblob({DISK}) AS bytes")).unwrap();
    talk.turn();
    cut.holds(&talk, &desk.ask(&talk).await);
    let little = Talk { words: 20, ..Talk::new(Format::Anthropic) }.turns(2);
    assert_eq!(desk.ask(&little).await.body(), little.body());
    // What is left of the last pages takes a few more.
    let mut others = strangers(20);
    let (other, asked) = loop {
        let other = others.next().expect("the disk is full some time");
        let asked = within(desk.ask(&other)).await;
        if asked.outcome() != "cut" {
            break (other, asked);
        }
    };
    assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (503, "none", 0));
    assert_eq!(asked.answer.header("retry-after"), Some("20"));
    ballast.execute_batch("DROP TABLE ballast").unwrap();
    assert_eq!(desk.ask(&other).await.outcome(), "cut", "there is room again");
}

/// Times in the store lie ahead of the clock, or so far behind that everything in it is old.
#[tokio::test]
async fn a_clock_that_steps_changes_no_view() {
    for at in ["4102444800000", "0"] {
        let mut desk = Desk::open(small()).await;
        let mut talk = Talk::new(Format::Anthropic);
        let cut = desk.until_cut(&mut talk).await;
        desk.store.flush().await.unwrap();
        let step = format!(
            "UPDATE decisions SET at_ms = {at}; UPDATE conversations SET first_ms = {at}, last_ms = {at}; \
             UPDATE requests SET at_ms = {at}; UPDATE context_limits SET learned_ms = {at}"
        );
        Connection::open(desk.file()).unwrap().execute_batch(&step).unwrap();
        talk.turn();
        cut.holds(&talk, &desk.ask(&talk).await);
        desk.reopen().await;
        talk.turn();
        cut.holds(&talk, &desk.ask(&talk).await);
        assert_eq!(desk.get("/louver/readyz", "").await.status(), 200);
    }
}
