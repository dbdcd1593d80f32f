//! Responses lets an output come long after its call.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

#[allow(dead_code, reason = "each test uses a part of the laws")]
mod laws;

use laws::{Observed, floor_is_named};
use louver::budget::Budget;
use louver::policy::{MessagesConfig, PolicyKind, TokensConfig};
use louver::unit::units_of;
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, History, Message};
use serde_json::{Value, json};

fn item(value: &Value) -> Message {
    Message::parse(Format::OpenAiResponses, &value.to_string()).unwrap()
}

fn call(id: &str) -> Message {
    item(&json!({ "type": "function_call", "call_id": id, "name": "run", "arguments": "{}" }))
}

fn output(id: &str) -> Message {
    item(&json!({ "type": "function_call_output", "call_id": id, "output": "done" }))
}

fn user(text: &str) -> Message {
    item(&json!({ "role": "user", "content": text }))
}

fn window(preserve_first_n: usize) -> Window {
    let cap = MessagesConfig { max_messages: 4, preserve_first_n, preserve_last_n: 1, summarize_on_trim: false };
    Window::new(WindowConfig::new(Format::OpenAiResponses, PolicyKind::Messages(cap))).unwrap()
}

fn kept(window: &Window) -> Vec<usize> {
    window.view().iter().filter_map(|sent| sent.origin.index()).collect()
}

fn is_legal(window: &Window) -> bool {
    let history = History::of(window.view().iter().map(|sent| sent.message));
    Format::OpenAiResponses.wire().check(&history).is_empty()
}

#[test]
fn a_late_answer_glues_everything_back_to_its_call() {
    let messages = [user("Go."), call("a"), user("Wait."), output("a"), user("Well?")];
    let units: Vec<_> = units_of(Format::OpenAiResponses, &messages).collect();
    assert_eq!(units, [0..1, 1..4, 4..5]);
}

#[test]
fn an_aborted_call_glues_nothing() {
    let messages = [user("Go."), call("a"), user("No, stop."), call("a"), output("a")];
    let units: Vec<_> = units_of(Format::OpenAiResponses, &messages).collect();
    assert_eq!(units, [0..1, 1..2, 2..3, 3..5]);
}

#[test]
fn the_answer_to_a_call_that_has_left_leaves_too() {
    let mut window = window(1);
    for message in [user("Go."), call("a"), user("1"), user("2"), user("3"), user("4"), user("5")] {
        window.push(message);
    }
    window.fit().unwrap();
    assert_eq!(kept(&window), [0, 4, 5, 6]);
    window.push(output("a"));
    window.push(user("6"));
    window.fit().unwrap();
    assert!(is_legal(&window));
    assert!(!kept(&window).contains(&7));
    assert!(window.evicted().any(|(index, _)| index == 7), "it can be had back");
}

#[test]
fn a_token_window_behind_the_cap_counts_without_the_answer_that_leaves_with_its_call() {
    let cap = MessagesConfig { max_messages: 5, preserve_first_n: 1, preserve_last_n: 3, summarize_on_trim: false };
    let policy = PolicyKind::Both(cap, TokensConfig::default());
    let config = WindowConfig::new(Format::OpenAiResponses, policy);
    let mut window = Window::new(config.with_budget(Budget::new(60, Some(1)).unwrap())).unwrap();
    for message in [user("Go."), call("a"), user("1"), call("b"), user("2"), user("3")] {
        window.push(message);
    }
    window.fit().unwrap();
    assert_eq!(kept(&window), [0, 2, 3, 4, 5]);
    // The first leaves as it comes, so the second cannot be one run with its call.
    window.push(output("a"));
    window.push(output("b"));
    let fit = window.fit().unwrap();
    assert_eq!(fit.evicted, [2..4, 7..8]);
    assert_eq!(fit.tokens_expected, Some(fit.tokens_after));
}

#[test]
fn the_answer_to_a_call_in_the_head_stays_with_it() {
    let mut window = window(2);
    for message in [user("Go."), call("a"), user("1"), user("2"), user("3"), user("4"), user("5")] {
        window.push(message);
    }
    window.fit().unwrap();
    window.push(output("a"));
    for number in 6..12 {
        window.push(user(&number.to_string()));
        window.fit().unwrap();
    }
    assert!(is_legal(&window));
    assert!(kept(&window).starts_with(&[0, 1, 7]), "{:?}", kept(&window));
}

#[test]
fn where_an_answer_came_last_its_call_is_the_last_turn() {
    let cap = MessagesConfig { max_messages: 5, preserve_first_n: 2, preserve_last_n: 1, summarize_on_trim: false };
    let policy = PolicyKind::Both(cap, TokensConfig::default());
    let config = WindowConfig::new(Format::OpenAiResponses, policy);
    let mut window = Window::new(config.with_budget(Budget::new(200, Some(1)).unwrap())).unwrap();
    for message in [user("Go."), call("a"), user("1"), user("2"), user("3"), user("4")] {
        window.push(message);
    }
    window.fit().unwrap();
    window.push(user(&"long ".repeat(200)));
    window.push(output("a"));
    window.fit().unwrap();
    assert_eq!(kept(&window), [0, 1, 7]);
    assert!(is_legal(&window));
}

#[test]
fn an_overflow_names_the_last_turn_that_the_cap_leaves() {
    let cap = MessagesConfig { max_messages: 1, preserve_first_n: 0, preserve_last_n: 3, summarize_on_trim: false };
    let config = WindowConfig::new(Format::OpenAiResponses, PolicyKind::Both(cap, TokensConfig::default()))
        .with_budget(Budget::new(100, Some(1)).unwrap());
    let mut window = Window::new(config.clone()).unwrap();
    for message in [user("Go."), call("x"), user("1"), user("2"), user("3")] {
        window.push(message);
    }
    window.fit().unwrap();
    // The answer to what has left leaves as it comes, so the last cannot be one run with its call.
    for message in [call("a"), output("x"), user("4"), user(&"long ".repeat(200)), output("a")] {
        window.push(message);
    }
    let overflow = window.fit().unwrap_err();
    // It leaves with its call, so the message before it is the last.
    assert_eq!(overflow.largest.map(|largest| largest.index), Some(8));
    floor_is_named(&overflow, &Observed::of(&window), &config);
}
