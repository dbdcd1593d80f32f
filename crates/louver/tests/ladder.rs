//! The ladder: when it cuts, and what it keeps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::Fit;
use louver::budget::Budget;
use louver::economy::Economy;
use louver::plan::Trigger;
use louver::policy::{CutWhen, LadderConfig, PolicyKind};
use louver::tokens::Factor;
use louver::window::{SyntheticKind, Window, WindowConfig};
use louver::wire::{Format, Message};
use serde_json::{Value, json};

/// A window that is cut when it is full and not before, because reading costs nothing.
fn config(context_window: u64) -> WindowConfig {
    let ladder = LadderConfig { keep_recent_tokens: 100, ..LadderConfig::default() };
    WindowConfig::new(Format::OpenAiChat, PolicyKind::Ladder(ladder))
        .with_budget(Budget::new(context_window, Some(1)).unwrap())
        .with_economy(Economy { read: Factor::from_thousandths(0), ..Economy::default() })
}

/// The same with other settings of the ladder.
fn with(mut config: WindowConfig, change: impl FnOnce(&mut LadderConfig)) -> WindowConfig {
    change(config.policy.ladder_mut().unwrap());
    config
}

/// Usual prices and marks.
fn usual() -> WindowConfig {
    with(config(200_000).with_economy(Economy::default()), |ladder| *ladder = LadderConfig::default())
}

fn push(window: &mut Window, message: &Value) {
    window.push(Message::parse(Format::OpenAiChat, &message.to_string()).unwrap());
}

/// A file is read.
fn turn(window: &mut Window, number: usize, path: &str, result: &str) {
    call(window, number, "read_file", &json!({ "path": path }), result);
}

/// A call and its result.
fn call(window: &mut Window, number: usize, name: &str, arguments: &Value, result: &str) {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": format!("c{number}"), "type": "function", "function": function });
    push(window, &json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    push(window, &json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": result }));
}

fn started(config: WindowConfig) -> Window {
    let mut window = Window::new(config).unwrap();
    push(&mut window, &json!({ "role": "system", "content": "Be brief." }));
    push(&mut window, &json!({ "role": "user", "content": "Mend src/lib.rs." }));
    window
}

fn sent(window: &Window) -> Vec<String> {
    window.view().iter().map(|sent| sent.message.raw().to_owned()).collect()
}

fn ledger(window: &Window) -> Option<String> {
    let mut ours =
        window.view().iter().filter(|sent| sent.origin == louver::window::Origin::Synthetic(SyntheticKind::Ledger));
    ours.next().map(|sent| sent.message.raw().to_owned())
}

/// Turns until the window was cut.
fn until_cut(window: &mut Window, result: &str) -> (usize, Fit) {
    for number in 0..1_000 {
        turn(window, number, &format!("src/file_{number}.rs"), result);
        let fit = window.fit().unwrap();
        if fit.is_cut() {
            return (number, fit);
        }
    }
    panic!("never cut");
}

#[test]
fn what_leaves_is_written_down_and_can_be_had_back() {
    let mut window = started(config(4_000));
    let (last, fit) = until_cut(&mut window, &"some output of the tool\n".repeat(20));
    assert_eq!(fit.trigger, Some(Trigger::TokenLimit));
    let ledger = ledger(&window).unwrap();
    assert!(ledger.contains("[Conversation Ledger]") && ledger.contains("[louver:2-"), "{ledger}");
    assert!(ledger.contains("src/file_3.rs"), "{ledger}");
    assert!(!ledger.contains(&format!("src/file_{last}.rs")), "what still stands needs no place: {ledger}");
    let texts = sent(&window);
    assert!(texts[0].contains("Be brief.") && texts[1].contains("Mend src/lib.rs."));
    assert!(window.evicted().any(|(index, message)| index == 3 && message.raw().contains("some output")));
}

#[test]
fn an_edit_leaves_what_was_read_of_its_file_quoted_and_a_new_version_does_not() {
    let quotes_it = |arguments: &Value| {
        let mut window = started(config(4_000));
        turn(&mut window, 0, "src/server.rs", "fn start() {\n    listen_on(DEFAULT_PORT)\n}\n");
        call(&mut window, 1, "edit", arguments, "ok");
        for number in 2.. {
            turn(&mut window, number, "src/other.rs", &"some output of the tool\n".repeat(20));
            if window.fit().unwrap().is_cut() {
                break;
            }
        }
        ledger(&window).unwrap().contains("listen_on(DEFAULT_PORT)")
    };
    assert!(quotes_it(&json!({ "path": "src/server.rs", "oldText": "fn stop()", "newText": "fn halt()" })));
    assert!(quotes_it(&json!({ "path": "src/server.rs", "search": "fn stop()", "replace": "fn halt()" })));
    assert!(!quotes_it(&json!({ "path": "src/server.rs", "content": "fn run() {}" })));
}

/// The ledger of the first cut behind a file that was read.
fn ledger_after_reading(window: &mut Window, file: &str) -> String {
    turn(window, 0, "src/server.rs", file);
    for number in 1.. {
        turn(window, number, "src/other.rs", &"some output of the tool\n".repeat(20));
        if window.fit().unwrap().is_cut() {
            break;
        }
    }
    ledger(window).unwrap()
}

#[test]
fn what_was_said_last_of_a_name_is_quoted_though_something_older_that_stays_names_it() {
    let mut window = started(config(4_000));
    push(&mut window, &json!({ "role": "user", "content": "Notes: listen_on is slow." }));
    let ledger = ledger_after_reading(&mut window, "fn start() {\n    listen_on(80)\n}\n");
    assert!(ledger.contains("listen_on(80)"), "{ledger}");
}

#[test]
fn of_what_the_task_itself_names_nothing_is_quoted() {
    let mut window = started(config(4_000));
    let ledger = ledger_after_reading(&mut window, "This is all in src/lib.rs.\n");
    assert!(!ledger.contains("This is all in"), "{ledger}");
}

#[test]
fn a_line_is_quoted_alone_where_what_stands_beside_it_is_not_worth_its_place() {
    let quoted = |beside: &str| {
        let ledger = ledger_after_reading(&mut started(config(4_000)), &format!("{beside}\nlisten_on(80)\n{beside}\n"));
        (ledger.contains("listen_on(80)"), ledger.contains("and so on"))
    };
    assert_eq!(quoted("and so on"), (true, true));
    assert_eq!(quoted(&"and so on ".repeat(38)), (true, false));
}

#[test]
fn what_was_concluded_stands_there_once_on_a_line_of_its_own() {
    let mut window = started(config(8_000));
    let concluded = "The root cause is parse_header because it drops blank_line before read_body is called.";
    push(&mut window, &json!({ "role": "assistant", "content": "So be it." }));
    push(&mut window, &json!({ "role": "user", "content": "Go on." }));
    push(&mut window, &json!({ "role": "assistant", "content": format!("{concluded}\n\nMore of it follows.") }));
    until_cut(&mut window, &"some output of the tool\n".repeat(20));
    let ledger = ledger(&window).unwrap();
    assert_eq!(ledger.matches("parse_header").count(), 1, "{ledger}");
    assert!(ledger.split("\\n").any(|line| line == concluded), "{ledger}");
}

#[test]
fn a_file_that_a_patch_changes_is_named() {
    let mut config = config(4_000);
    config.format = Format::OpenAiResponses;
    let mut window = Window::new(config).unwrap();
    let push = |window: &mut Window, item: &Value| {
        window.push(Message::parse(Format::OpenAiResponses, &item.to_string()).unwrap());
    };
    let patch = "*** Begin Patch\n*** Update File: src/server.rs\n@@\n-a\n+b\n*** End Patch";
    push(&mut window, &json!({ "role": "user", "content": "Mend it." }));
    push(&mut window, &json!({ "type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": patch }));
    push(&mut window, &json!({ "type": "custom_tool_call_output", "call_id": "p", "output": "Done!" }));
    for number in 0.. {
        let (id, arguments) = (format!("c{number}"), r#"{"cmd":"make"}"#);
        let output = "some output of the tool\n".repeat(20);
        push(&mut window, &json!({ "type": "function_call", "call_id": id, "name": "exec", "arguments": arguments }));
        push(&mut window, &json!({ "type": "function_call_output", "call_id": id, "output": output }));
        if window.fit().unwrap().is_cut() {
            break;
        }
    }
    let ledger = ledger(&window).unwrap();
    assert!(ledger.contains(r"Files written:\n[louver:1] src/server.rs\n"), "{ledger}");
}

#[test]
fn a_heading_stands_in_the_first_line_of_the_ledgers_to_come() {
    let first_line = |window: &Window| ledger(window).unwrap().split("\\n").next().unwrap().to_owned();
    let mut window = started(config(4_000));
    window.head_ledgers(Some("a1b2 Ask for one.".to_owned()));
    until_cut(&mut window, &"some output of the tool\n".repeat(20));
    assert!(first_line(&window).ends_with("[Conversation Ledger] a1b2 Ask for one."), "{}", first_line(&window));
    assert!(!window.is_over());
    window.head_ledgers(Some("c3d4".to_owned()));
    assert!(first_line(&window).contains("a1b2"), "what was sent stays as it is");
    until_cut(&mut window, &"some output of the tool\n".repeat(20));
    assert!(first_line(&window).ends_with("[Conversation Ledger] c3d4"), "{}", first_line(&window));
}

#[test]
fn the_ledger_keeps_its_bound_from_cut_to_cut() {
    let mut window = started(with(config(6_000), |ladder| ladder.ledger_tokens = 200));
    for number in 0..300 {
        turn(
            &mut window,
            number,
            &format!("src/module_{number}/name_{number}.rs"),
            &format!("value_{number} = 1\n").repeat(9),
        );
        window.fit().unwrap();
        if let Some(ledger) = ledger(&window) {
            assert!(ledger.len() / 4 < 230, "{}", ledger.len());
        }
    }
    assert!(ledger(&window).is_some());
}

#[test]
fn the_latest_request_and_pinned_texts_stay() {
    let mut window = started(with(config(4_000), |ladder| ladder.pin = vec!["KEEP THIS".to_owned()]));
    push(&mut window, &json!({ "role": "assistant", "content": "KEEP THIS in mind." }));
    push(&mut window, &json!({ "role": "user", "content": "And mend src/main.rs, too." }));
    until_cut(&mut window, &"some output of the tool\n".repeat(20));
    let texts = sent(&window).join("\n");
    assert!(texts.contains("KEEP THIS in mind.") && texts.contains("And mend src/main.rs, too."), "{texts}");
}

#[test]
fn thinking_is_quoted_only_where_that_is_wanted() {
    for quote_thinking in [true, false] {
        let mut config = with(config(4_000), |ladder| ladder.quote_thinking = quote_thinking);
        config.format = Format::Anthropic;
        let mut window = Window::new(config).unwrap();
        let mut say = |role: &str, content: Value| {
            window.push_json(&json!({ "role": role, "content": content })).unwrap();
        };
        say("user", json!("Mend src/lib.rs."));
        let thinking = json!({ "type": "thinking", "thinking": "secret_plan in src/hidden.rs", "signature": "s" });
        say("assistant", json!([thinking, { "type": "text", "text": "Done." }]));
        for number in 0..40 {
            say("user", json!(format!("And file_{number}.rs? {}", "some more words ".repeat(30))));
            say("assistant", json!(format!("Looked at file_{number}.rs.")));
        }
        window.fit().unwrap();
        let texts = sent(&window).join("\n");
        assert_eq!(texts.contains("secret_plan"), quote_thinking, "{texts}");
    }
}

#[test]
fn calls_of_pinned_tools_stay_with_their_results() {
    let mut window = started(with(config(4_000), |ladder| ladder.pin_tools = vec!["plan".to_owned()]));
    let function = json!({ "name": "plan", "arguments": "{}" });
    let call = json!({ "id": "c900", "type": "function", "function": function });
    push(&mut window, &json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    push(&mut window, &json!({ "role": "tool", "tool_call_id": "c900", "content": "first the tests, then the code" }));
    until_cut(&mut window, &"some output of the tool\n".repeat(20));
    let texts = sent(&window).join("\n");
    assert!(texts.contains("first the tests, then the code"), "{texts}");
}

#[test]
fn large_results_are_clipped_as_they_arrive_and_errors_stay_readable() {
    let mut window = started(with(config(100_000), |ladder| ladder.shrink_on_arrival_tokens = 500));
    let output = format!("start\n{}error: no such table\n{}end", "ok\n".repeat(1_000), "ok\n".repeat(1_000));
    turn(&mut window, 0, "log", &output);
    window.fit().unwrap();
    let first = sent(&window);
    assert!(first[3].contains("characters left out") && first[3].contains("error: no such table"), "{}", first[3]);
    assert!(first[3].len() < 2_000);
    turn(&mut window, 1, "log", "fine");
    assert!(!window.fit().unwrap().is_cut(), "once sent it stays as it is");
    assert_eq!(sent(&window)[..4], first[..4]);
}

/// A conversation that grows by about 500 tokens a request, at usual prices.
fn grown(turns: usize, cold_at: Option<usize>) -> (Window, Vec<(usize, Trigger)>) {
    grown_with(usual(), turns, cold_at)
}

fn grown_with(config: WindowConfig, turns: usize, cold_at: Option<usize>) -> (Window, Vec<(usize, Trigger)>) {
    let mut window = started(config);
    let mut cuts = Vec::new();
    for number in 0..turns {
        turn(&mut window, number, &format!("src/file_{number}.rs"), &format!("line_{number} of output\n").repeat(100));
        if cold_at == Some(number) {
            window.cache_expired();
        }
        let fit = window.fit().unwrap();
        cuts.extend(fit.trigger.map(|trigger| (number, trigger)));
    }
    (window, cuts)
}

#[test]
fn it_cuts_when_it_pays_off_long_before_the_window_is_full() {
    let (window, cuts) = grown(120, None);
    assert!(cuts.iter().all(|(_, trigger)| *trigger == Trigger::PaysOff), "{cuts:?}");
    assert!(cuts.len() > 1 && window.tokens() < 40_000, "{cuts:?}");
    let account = window.account().unwrap();
    assert!(account.spent < account.everything, "{account:?}");
    assert_eq!(account.cuts as usize, cuts.len());
}

#[test]
fn when_full_it_cuts_only_what_does_not_fit() {
    let full = |context_window| {
        let own = with(usual(), |ladder| ladder.when = CutWhen::Full);
        own.with_budget(Budget::new(context_window, Some(1)).unwrap())
            .with_economy(Economy { price_steps: vec![20_000], ..Economy::default() })
    };
    let (window, cuts) = grown_with(full(200_000), 120, Some(60));
    assert!(cuts.is_empty() && window.tokens() > 50_000 && window.account().is_none(), "{cuts:?}");
    let (window, cuts) = grown_with(full(50_000), 120, None);
    assert!(!cuts.is_empty() && cuts.iter().all(|(_, trigger)| *trigger == Trigger::TokenLimit), "{cuts:?}");
    assert!(window.tokens() <= 45_000);
}

#[test]
fn a_setting_of_old_is_recorded_as_it_was() {
    let written = |when| serde_json::to_value(LadderConfig { when, ..LadderConfig::default() }).unwrap();
    assert!(written(CutWhen::Pays).get("when").is_none(), "records of earlier versions have the same bytes");
    assert_eq!(written(CutWhen::Full)["when"], "full");
}

#[test]
fn a_cold_cache_is_a_free_cut() {
    let first = grown(120, None).1[0].0;
    let early = first - 10;
    assert_eq!(grown(120, Some(early)).1[0], (early, Trigger::ColdCache));
}

#[test]
fn a_window_rebuilt_from_its_log_is_the_same() {
    let (window, _) = grown(90, Some(40));
    let (rebuilt, _) = Window::rebuild(usual(), window.log()).unwrap();
    assert_eq!(sent(&rebuilt), sent(&window));
    assert_eq!(rebuilt.account(), window.account());
}

#[test]
fn the_bill_never_exceeds_that_of_sending_everything_by_more_than_one_rewrite() {
    for turns in 1..140 {
        let (window, _) = grown(turns, None);
        let account = window.account().unwrap();
        let excess = account.spent.saturating_sub(account.everything).ceil_tokens();
        // What stays: the recent tail, a result that straddles it, and the ledger.
        assert!(excess <= (8_500 + 1_000 + 3_000) * 115 / 100, "{turns} turns: {excess}");
    }
}

#[test]
fn a_summary_is_asked_for_where_condensing_is_on() {
    let mut window = started(with(config(4_000), |ladder| ladder.summarize_on_trim = true));
    push(&mut window, &json!({ "role": "assistant", "content": "I looked at src/lib.rs and found the fault." }));
    let (_, fit) = until_cut(&mut window, &"some output of the tool\n".repeat(20));
    assert!(fit.job.is_some());
}
