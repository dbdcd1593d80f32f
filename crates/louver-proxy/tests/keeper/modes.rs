//! Which new cuts are made; recorded ones hold in every mode.

use crate::desk::{Cut, Desk, small, well};
use crate::talk::Talk;
use crate::world::json_answer;
use louver::Format;
use louver_proxy::{KeeperSettings, ViewRecord};

fn in_mode(mode: &str, talk: &Talk) -> Talk {
    Talk { headers: format!("x-louver-mode: {mode}\r\n"), ..talk.clone() }
}

#[tokio::test]
async fn off_and_observe_cut_nothing_and_a_recorded_cut_holds_in_all_modes() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic).turns(25);
    for mode in ["off", "observe"] {
        let asked = desk.ask(&in_mode(mode, &talk)).await;
        assert_eq!((asked.outcome(), asked.body()), ("passed", talk.body().as_str()));
        assert!(asked.sent[0].header("x-louver-mode").is_none());
    }
    let cut = Cut::of(&talk, &desk.ask(&in_mode("rescue", &talk)).await);
    for mode in ["off", "observe", "rescue", "keep"] {
        talk.turn();
        cut.holds(&talk, &desk.ask(&in_mode(mode, &talk)).await);
    }
}

#[tokio::test]
async fn a_window_smaller_than_the_usual_reply_is_kept_too() {
    for format in Format::ALL {
        let desk = Desk::open(KeeperSettings { context_window: Some(8_000), ..small() }).await;
        let mut talk = Talk::new(format);
        while talk.turns < 30 && desk.decisions(&talk).await.is_empty() {
            talk.turn();
            let asked = desk.ask(&talk).await;
            assert_eq!(asked.answer.status(), 200, "{format:?}: {}", asked.answer.text());
        }
        assert!(talk.turns < 30, "{format:?}: {} bytes passed", talk.body().len());
    }
}

#[tokio::test]
async fn rescue_cuts_what_would_be_refused_and_nothing_before() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk { headers: "x-louver-mode: rescue\r\n".to_owned(), ..Talk::new(Format::Anthropic) };
    desk.until_cut(&mut talk).await;
    // With the last turn it would not have fitted.
    let tokens = talk.body().len() / 5;
    assert!(tokens > 15_000, "{tokens}");
}

#[tokio::test]
async fn observe_and_off_leave_refusals_alone() {
    const OVERFLOW: &str = r#"{"error":{"message":"prompt is too long: 50000 tokens > 20000 maximum"}}"#;
    let desk = Desk::with(KeeperSettings::default(), |_, _| json_answer(400, OVERFLOW)).await;
    let talk = Talk::new(Format::Anthropic).turns(25);
    for mode in ["observe", "off"] {
        let asked = desk.ask(&in_mode(mode, &talk)).await;
        assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (400, "refused", 1), "{mode}");
    }
    assert!(desk.decisions(&talk).await.is_empty());
    assert!(desk.ask(&talk).await.sent.len() > 1, "elsewhere it is tried");
}

#[tokio::test]
async fn what_is_observed_is_accounted_apart() {
    let token = louver_proxy::AccessToken::new("alice", "token-a");
    let upstream = std::sync::Arc::new(crate::world::Upstream::start(|_, request| well(request)).await);
    let config = crate::world::config_to(upstream.address);
    let config = louver_proxy::ProxyConfig { access_tokens: vec![token], ..config };
    let desk = Desk::configured(small(), upstream, config).await;
    let talk = Talk::new(Format::Anthropic).turns(25);
    let asked = desk.ask(&in_mode("observe", &talk)).await;
    let path = format!("/louver/api/conversations/{}", asked.conversation());
    let account = desk.get(&path, "x-louver-token: token-a\r\n").await;
    // Without a token the request was the local user's.
    assert_eq!(account.status(), 404);
    let mut talk = in_mode("observe", &talk);
    talk.headers.push_str("x-louver-token: token-a\r\n");
    let asked = desk.ask(&talk).await;
    let path = format!("/louver/api/conversations/{}", asked.conversation());
    let account = desk.get(&path, "x-louver-token: token-a\r\n").await;
    let account: serde_json::Value = serde_json::from_slice(&account.body).unwrap();
    let request = &account["request_list"][0];
    assert!(request["observed"]["sent"].as_u64().unwrap() < request["tokens"]["sent"].as_u64().unwrap(), "{account}");
    assert_eq!((request["outcome"].as_str(), account["cuts"].as_u64()), (Some("passed"), Some(0)));
}

#[tokio::test]
async fn a_count_of_tokens_gets_the_recorded_view_and_records_nothing() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic).turns(25);
    let count = async |talk: &Talk| desk.post("/v1/messages/count_tokens", "", &talk.body()).await;
    assert_eq!(count(&talk).await.body(), talk.body());
    assert!(desk.decisions(&talk).await.is_empty());
    let cut = Cut::of(&talk, &desk.ask(&talk).await);
    let asked = count(&talk).await;
    assert_eq!(asked.body(), cut.view_of(&talk));
    let last = talk.messages.len() - 1;
    talk.messages[last] = talk.user("Something else.");
    assert_eq!(count(&talk).await.body(), cut.view_of(&talk));
    (0..30).for_each(|_| talk.turn());
    assert_eq!(count(&talk).await.body(), cut.view_of(&talk));
    assert_eq!(desk.decisions(&talk).await.len(), 1);
}

#[tokio::test]
async fn a_summary_gets_the_recorded_view_and_is_cut_only_if_it_would_not_fit() {
    let desk = Desk::open(small()).await;
    let mut talk = Talk::new(Format::Anthropic);
    let cut = desk.until_cut(&mut talk).await;
    let headers = "x-claude-code-request-class: compaction\r\n";
    let mut summary = Talk { headers: headers.to_owned(), ..talk.clone() };
    summary.messages.push(summary.user("Summarise the conversation so far."));
    cut.holds(&summary, &desk.ask(&summary).await);

    (0..20).for_each(|_| talk.turn());
    let mut summary = Talk { headers: headers.to_owned(), ..talk.clone() };
    summary.messages.push(summary.user("Summarise the conversation so far."));
    let asked = desk.ask(&summary).await;
    assert_eq!(asked.outcome(), "cut");
    assert_eq!(asked.messages(talk.format).last(), summary.messages.last());
}

#[tokio::test]
async fn a_request_that_went_out_uncut_is_not_cut_when_it_comes_again() {
    let settings = KeeperSettings { context_window: Some(400_000), ..small() };
    let long = || Talk { words: 3_000, ..Talk::new(Format::Anthropic) };
    // Where a cut pays, but nothing forces it.
    let mut talk = long();
    let cut = Desk::open(settings.clone()).await.until_cut(&mut talk).await;

    let mut desk = Desk::open(settings).await;
    let uncut = Talk { headers: "x-louver-mode: off\r\n".to_owned(), ..talk.clone() };
    assert_eq!(desk.ask(&uncut).await.outcome(), "passed");
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.outcome(), asked.body()), ("passed", talk.body().as_str()));
    let decisions = desk.decisions(&talk).await;
    assert_eq!((decisions.len(), decisions[0].is_shown), (1, true));
    assert!(ViewRecord::parse(&decisions[0].decision.record).unwrap().is_everything());
    // The same for everybody, and only for this request.
    desk.reopen().await;
    assert_eq!(desk.ask(&talk).await.body(), talk.body());
    talk.turn();
    let later = desk.ask(&talk).await;
    assert_eq!((later.outcome(), cut.held.len() < talk.messages.len()), ("cut", true));
}

#[tokio::test]
async fn what_is_small_is_cut_only_where_it_has_to_be() {
    let settings = KeeperSettings { context_window: None, ..small() }.with_policy("ladder-lean".parse().unwrap());
    assert_eq!(settings.policy.ladder().unwrap().leave_below_tokens, 30_000);
    let mut talk = Talk::new(Format::Anthropic);
    Desk::open(settings.clone()).await.until_cut(&mut talk).await;
    let mut later = settings;
    later.policy.ladder_mut().unwrap().leave_below_tokens = 120_000;
    assert_eq!(Desk::open(later).await.ask(&talk).await.outcome(), "passed");
}
