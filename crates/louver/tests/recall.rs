//! What `ladder` leaves out is named where it stood, and the name leads back to it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::address::Address;
use louver::budget::Budget;
use louver::policy::{LadderConfig, PolicyKind};
use louver::window::{Origin, Window, WindowConfig};
use louver::wire::{Format, Message};

/// A task and its tool calls, each with a result of 3,000 characters, in a window of 12,000 tokens.
fn window(shrink_on_arrival_tokens: u64) -> Window {
    let ladder = LadderConfig { keep_recent_tokens: 3_000, shrink_on_arrival_tokens, ..LadderConfig::default() };
    let config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Ladder(ladder));
    let config = config.with_budget(Budget::new(12_000, Some(1_000)).unwrap());
    let mut window = Window::new(config).unwrap();
    let mut push = |raw: &str| {
        window.push(Message::parse(Format::OpenAiChat, raw).unwrap());
        window.fit().unwrap();
    };
    push(r#"{"role":"user","content":"Read everything."}"#);
    for i in 0..40 {
        push(&format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{i}","type":"function","function":{{"name":"read","arguments":"{{\"path\":\"file_{i}.rs\"}}"}}}}]}}"#
        ));
        push(&format!(r#"{{"role":"tool","tool_call_id":"c{i}","content":"{}"}}"#, format!("line {i}\\n").repeat(330)));
    }
    window
}

/// The addresses that stand in a text.
fn addresses(text: &str) -> Vec<Address> {
    let tags = text.split("[louver:").skip(1).filter_map(|rest| rest.split_once(']'));
    tags.map(|(inner, _)| inner.parse().unwrap()).collect()
}

#[test]
fn every_address_in_the_view_leads_to_what_was_left_out() {
    let window = window(0);
    let left_out: Vec<usize> = window.left_out().map(|(index, _)| index).collect();
    let mut named: Vec<usize> = Vec::new();
    for sent in window.view().iter() {
        for address in addresses(sent.message.raw()) {
            named.extend(window.recall(&address).unwrap().into_iter().map(|(index, _)| index));
        }
    }
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, left_out);
    assert!(left_out.len() > 20, "{left_out:?}");
}

#[test]
fn what_was_shortened_comes_back_whole() {
    let window = window(400);
    let view = window.view();
    let edited = view.iter().find(|sent| matches!(sent.origin, Origin::Edited(_))).unwrap();
    let index = edited.origin.index().unwrap();
    let [(_, original)] = window.recall(&Address::of(index)).unwrap()[..] else { panic!("not one message") };
    assert!(original.raw().len() > 2_000 && edited.message.raw().len() < 2_000);
    assert!(window.left_out().any(|(found, message)| found == index && message.raw() == original.raw()));
}
