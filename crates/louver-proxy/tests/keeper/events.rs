//! What happens, told to pages that are open.

use crate::api::{ALICE, BOB, OWNER, shared};
use crate::desk::{Desk, small, well};
use crate::talk::{SECRET, Talk};
use crate::world::{Client, Upstream, config_to, with_limits};
use louver::Format;
use louver_proxy::{AccessToken, ProxyConfig};
use std::sync::Arc;
use std::time::Duration;

async fn listening(desk: &Desk, headers: &str) -> Client {
    let mut client = Client::connect(desk.address()).await;
    client.send(format!("GET /louver/api/events HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")).await;
    client
}

fn talk_of(headers: &str) -> Talk {
    Talk { headers: headers.to_owned(), ..Talk::new(Format::Anthropic) }
}

fn last_id(text: &str) -> &str {
    text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

#[tokio::test]
async fn everybody_hears_of_their_own_requests_and_of_nothing_else() {
    let desk = shared(small()).await;
    let (mut alice, mut bob, mut owner) =
        (listening(&desk, ALICE).await, listening(&desk, BOB).await, listening(&desk, OWNER).await);
    let head = alice.read_until("event: ready").await;
    assert!(head.to_lowercase().contains("content-type: text/event-stream"), "{head}");
    bob.read_until("event: ready").await;
    owner.read_until("event: ready").await;
    let first = desk.ask(&talk_of(ALICE).turns(30)).await;
    let second = desk.ask(&talk_of(BOB).turns(2)).await;
    // What is heard of bob's came after what could have been heard of alice's.
    let heard = bob.read_until(second.conversation()).await;
    assert!(!heard.contains(first.conversation()) && heard.matches("event: request").count() == 1, "{heard}");
    let own = alice.read_until(first.conversation()).await;
    assert!(own.contains(r#""outcome":"cut""#) && own.contains(r#""held":"#), "{own}");
    let both = owner.read_until(second.conversation()).await;
    assert!(both.contains(first.conversation()));
    for text in [heard, own, both] {
        assert!(
            !text.contains(SECRET)
                && !text.contains("copper")
                && !text.contains("token-a")
                && !text.contains("token-b"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn whoever_comes_back_hears_what_was_missed() {
    let desk = shared(small()).await;
    let mut alice = listening(&desk, ALICE).await;
    alice.read_until("event: ready").await;
    let first = desk.ask(&talk_of(ALICE).turns(1)).await;
    let heard = alice.read_until(first.conversation()).await;
    drop(alice);
    let missed = desk.ask(&Talk { headers: ALICE.to_owned(), ..Talk::new(Format::Gemini).turns(1) }).await;
    assert_ne!(missed.conversation(), first.conversation());
    let mut alice = listening(&desk, &format!("{ALICE}last-event-id: {}\r\n", last_id(&heard))).await;
    let heard = alice.read_until(missed.conversation()).await;
    assert!(heard.contains("event: ready") && !heard.contains(first.conversation()), "{heard}");
    let mut lost = listening(&desk, &format!("{ALICE}last-event-id: of-another-process\r\n")).await;
    lost.read_until("event: reset").await;
}

#[tokio::test]
async fn listeners_need_a_token_a_host_and_a_free_place() {
    let desk = shared(small()).await;
    for (headers, status) in
        [("", 401), ("x-louver-token: guess\r\n", 401), (&*format!("{ALICE}origin: https://evil.example\r\n"), 403)]
    {
        assert_eq!(listening(&desk, headers).await.answer().await.status(), status, "{headers}");
    }
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut client = listening(&desk, ALICE).await;
        client.read_until("event: ready").await;
        open.push(client);
    }
    let refused = listening(&desk, ALICE).await.answer().await;
    assert_eq!((refused.status(), refused.header("retry-after")), (503, Some("20")));
    listening(&desk, BOB).await.read_until("event: ready").await;
    drop(open);
    // A place is free again once the proxy has noticed.
    for _ in 0..500 {
        let mut client = listening(&desk, ALICE).await;
        if client.read_until("HTTP/1.1 ").await.len() > 12 && client.read_until("\r\n").await.contains(" 200 ") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no place became free");
}

#[tokio::test]
async fn an_open_page_does_not_keep_the_proxy_from_stopping() {
    let upstream = Arc::new(Upstream::start(|_, request| well(request)).await);
    let config = ProxyConfig { access_tokens: vec![AccessToken::of_owner("token-o")], ..config_to(upstream.address) };
    // Longer than any test waits.
    let config = with_limits(config, |limits| limits.shutdown_grace = Duration::from_secs(3_600));
    let mut desk = Desk::configured(small(), upstream, config).await;
    let mut page = listening(&desk, OWNER).await;
    page.read_until("event: ready").await;
    desk.stop().await;
    assert!(!page.answer().await.is_cut_off, "the stream has an end");
}
