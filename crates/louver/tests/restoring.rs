//! A window that is opened again sends what the one that was killed would have sent, and goes on as that would have.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::Error;
use louver::budget::Budget;
use louver::economy::Economy;
use louver::policy::{LadderConfig, MessagesConfig, ObservationsConfig, PolicyKind};
use louver::tokens::Factor;
use louver::window::{Event, Origin, Record, Usage, Window, WindowConfig};
use louver::wire::{Format, History, Message, Role};
use serde_json::{Value, json};

fn lines(window: &Window) -> Vec<String> {
    window.records_since(0).map(|record| serde_json::to_string(&record).unwrap()).collect()
}

fn opened(config: &WindowConfig, lines: &[String]) -> Result<Window, Error> {
    Window::open(config.clone(), lines.iter().map(|line| serde_json::from_str::<Record>(line).unwrap()))
}

/// The same window after its process was killed.
fn killed(window: &Window) -> Window {
    opened(window.config(), &lines(window)).unwrap()
}

fn sent(window: &Window) -> Vec<String> {
    window.view().iter().map(|sent| sent.message.raw().to_owned()).collect()
}

fn say(window: &mut Window, role: Role, text: &str) {
    window.push(Message::synthetic(window.format(), role, text).unwrap());
}

fn push(window: &mut Window, message: &Value) {
    window.push_json(message).unwrap();
}

fn call(window: &mut Window, id: &str) {
    push(window, &json!({ "type": "function_call", "call_id": id, "name": "run", "arguments": "{}" }));
}

fn output(window: &mut Window, id: &str, text: &str) {
    push(window, &json!({ "type": "function_call_output", "call_id": id, "output": text }));
}

fn is_legal(window: &Window) -> bool {
    let history = History::of(window.view().iter().map(|sent| sent.message));
    window.format().wire().check(&history).is_empty()
}

fn capped(format: Format, max_messages: usize, preserve_last_n: usize) -> WindowConfig {
    let cap = MessagesConfig { max_messages, preserve_last_n, ..MessagesConfig::default() };
    WindowConfig::new(format, PolicyKind::Messages(cap))
}

#[test]
fn an_output_that_left_as_it_arrived_is_not_sent_again() {
    let after = [
        |_: &mut Window| {},
        Window::cache_expired,
        |window: &mut Window| {
            window.report_usage(Usage::of_input(5));
        },
    ];
    for happens in after {
        let mut window = Window::new(capped(Format::OpenAiResponses, 4, 1)).unwrap();
        say(&mut window, Role::User, "Go.");
        call(&mut window, "a");
        for _ in 0..4 {
            say(&mut window, Role::User, "Wait.");
        }
        window.fit().unwrap();
        assert!(!window.view().iter().any(|sent| sent.origin.index() == Some(1)), "the call has left");
        output(&mut window, "a", "done");
        happens(&mut window);
        let mut again = killed(&window);
        assert_eq!(sent(&again), sent(&window));
        for window in [&mut window, &mut again] {
            say(window, Role::User, "Well?");
            window.fit().unwrap();
        }
        assert!(is_legal(&again), "{:#?}", sent(&again));
        assert_eq!(sent(&again), sent(&window));
        assert_eq!(lines(&again), lines(&window), "nothing is recorded twice");
    }
}

#[test]
fn a_marker_that_came_with_a_message_stands_again() {
    let cap = MessagesConfig { max_messages: 2, preserve_first_n: 2, preserve_last_n: 0, summarize_on_trim: false };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let mut window = Window::new(config).unwrap();
    say(&mut window, Role::User, "Go.");
    say(&mut window, Role::Assistant, "Done.");
    say(&mut window, Role::User, "Thanks.");
    window.fit().unwrap();
    assert_eq!(window.view().len(), 2);
    say(&mut window, Role::Assistant, "You are welcome.");
    assert!(window.view().iter().any(|sent| matches!(sent.origin, Origin::Synthetic(_))), "{:#?}", sent(&window));
    window.cache_expired();
    assert_eq!(sent(&killed(&window)), sent(&window));
}

fn ladder(format: Format) -> WindowConfig {
    let config = LadderConfig { keep_recent_tokens: 200, ..LadderConfig::default() };
    let economy = Economy { read: Factor::from_thousandths(100), ..Economy::default() };
    let budget = Budget::new(2_000, Some(1)).unwrap();
    WindowConfig::new(format, PolicyKind::Ladder(config)).with_budget(budget).with_economy(economy)
}

#[test]
fn what_left_on_arrival_is_no_cut_in_the_books() {
    let mut window = Window::new(ladder(Format::OpenAiResponses)).unwrap();
    say(&mut window, Role::User, "Go.");
    say(&mut window, Role::Assistant, "Yes.");
    call(&mut window, "a");
    for _ in 0..30 {
        say(&mut window, Role::User, &"word ".repeat(80));
        window.fit().unwrap();
    }
    output(&mut window, "a", &"word ".repeat(40));
    window.fit().unwrap();
    assert!(window.view().iter().all(|sent| !sent.message.raw().contains("\"a\"")), "the call has left");
    let again = killed(&window);
    assert_eq!(again.account(), window.account());
    assert_eq!(sent(&again), sent(&window));
}

#[test]
fn results_that_another_policy_kept_are_replaced_when_masking_begins() {
    let mut window = Window::new(WindowConfig::new(Format::OpenAiResponses, PolicyKind::Everything)).unwrap();
    say(&mut window, Role::User, "Go.");
    for number in 0..8 {
        call(&mut window, &format!("c{number}"));
        output(&mut window, &format!("c{number}"), &"word ".repeat(80));
        window.fit().unwrap();
    }
    let mask = PolicyKind::Mask(ObservationsConfig { trigger_tokens: 0, keep: 1 });
    let mut masked = opened(&WindowConfig::new(Format::OpenAiResponses, mask), &lines(&window)).unwrap();
    assert_eq!(sent(&masked), sent(&window));
    assert_eq!(masked.fit().unwrap().edited.len(), 0, "nothing was appended");
    say(&mut masked, Role::User, "Go on.");
    assert_eq!(masked.fit().unwrap().edited.len(), 7);
    let mut again = killed(&masked);
    say(&mut again, Role::User, "Go on.");
    assert_eq!(again.fit().unwrap().edited.len(), 0);
}

/// A window that has cut and waits for a summary, as lines.
fn with_a_job() -> (WindowConfig, Vec<String>) {
    let cap = MessagesConfig { max_messages: 4, preserve_last_n: 2, summarize_on_trim: true, preserve_first_n: 1 };
    let config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap));
    let mut window = Window::new(config.clone()).unwrap();
    for number in 0..20 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, "Something is said.");
    }
    assert!(window.fit().unwrap().job.is_some());
    (config, lines(&window))
}

#[test]
fn records_that_say_what_cannot_be_are_an_error() {
    let (config, lines) = with_a_job();
    assert!(opened(&config, &lines).is_ok());
    let decision = |change: &dyn Fn(&mut Value)| {
        let mut changed = lines.clone();
        let mut record: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
        change(&mut record["event"]["fitted"]);
        *changed.last_mut().unwrap() = record.to_string();
        opened(&config, &changed).map(drop).unwrap_err()
    };
    let range = |start: u64, end: u64| json!({ "start": start, "end": end });
    let errors = [
        decision(&|fitted| fitted["job"]["covers"] = json!([range(1, 99)])),
        decision(&|fitted| fitted["job"]["covers"] = json!([range(20, 20)])),
        decision(&|fitted| fitted["job"]["covers"] = json!([range(u64::MAX - 1, u64::MAX)])),
        decision(&|fitted| fitted["evicted"] = json!([range(1, 21)])),
        decision(&|fitted| fitted["evicted"] = json!([range(9, 4)])),
        decision(&|fitted| fitted["edited"] = json!([{ "index": 20, "raw": "{}" }])),
        decision(&|fitted| fitted["edited"] = json!([{ "index": 1, "raw": "no JSON" }])),
        decision(&|fitted| fitted["synthetics"] = json!([{ "before": 21, "kind": "marker", "raw": "{}" }])),
        decision(&|fitted| fitted["synthetics"] = json!([{ "before": 1, "kind": "marker", "raw": "{}" }])),
    ];
    for error in errors {
        assert!(matches!(error, Error::Record(_)), "{error:?}");
    }
}

#[test]
fn the_last_number_a_job_can_have_is_no_reason_to_panic() {
    let (config, mut lines) = with_a_job();
    let mut record: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    record["event"]["fitted"]["job"]["id"] = json!(u64::MAX);
    *lines.last_mut().unwrap() = record.to_string();
    let mut window = opened(&config, &lines).unwrap();
    window.answer(u64::MAX, Err("no".to_owned()));
    for number in 0..30 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, "Something is said.");
    }
    assert!(window.fit().unwrap().job.is_some());
}

#[test]
fn a_record_says_with_what_its_decisions_were_made() {
    let (config, written) = with_a_job();
    assert!(written.iter().any(|line| line.contains(env!("CARGO_PKG_VERSION")) && line.contains("\"max_messages\":4")));
    assert_eq!(killed(&opened(&config, &written).unwrap()).records_since(written.len()).count(), 0);
    let mut others = vec![config.clone(); 8];
    others[0].policy.messages_mut().unwrap().max_messages = 5;
    others[1].policy = PolicyKind::Everything;
    others[2].budget = Some(Budget::new(2_000, Some(1)).unwrap());
    others[3].economy.price_steps.push(7);
    others[4].custom_condensing_prompt = Some("Be brief.".to_owned());
    others[5].thinking = louver::catalog::ThinkingBinding::OpenTurn;
    others[6].overhead = louver::tokens::Millitokens::from_tokens(3);
    others[7].ledger_heading = Some("Ask.".to_owned());
    for other in others {
        let elsewhere = opened(&other, &written).unwrap();
        let new: Vec<Record> = elsewhere.records_since(written.len()).collect();
        assert!(matches!(&new[..], [Record::Event(Event::Configured(_))]), "{other:?}: {new:?}");
        let all = lines(&elsewhere);
        assert_eq!(opened(&other, &all).unwrap().records_since(all.len()).count(), 0, "it is said once");
        assert_eq!(
            opened(&config, &all).unwrap().records_since(all.len()).count(),
            1,
            "and again when it changes back"
        );
    }
}

#[test]
fn a_record_of_an_earlier_version_opens_and_one_of_a_later_does_not() {
    let config = capped(Format::OpenAiChat, 4, 1);
    let mut lines = vec![
        r#"{"louver":{"engine":"0.1.0","format":"openai-chat","policy":"messages"}}"#.to_owned(),
        r#"{"message":"{\"role\":\"user\",\"content\":\"Hi\"}"}"#.to_owned(),
        r#"{"event":{"fitted":null}}"#.to_owned(),
    ];
    let window = opened(&config, &lines).unwrap();
    assert_eq!(window.view().len(), 1);
    assert_eq!(window.records_since(3).count(), 1, "what wrote it is not known");
    lines[0] = lines[0].replace("\"engine\"", "\"version\":99,\"engine\"");
    assert!(matches!(opened(&config, &lines), Err(Error::Record(_))));
    lines[0] = lines[0].replace("openai-chat", "gemini");
    assert!(matches!(opened(&config, &lines), Err(Error::Record(_))));
}
