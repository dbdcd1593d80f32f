//! What stands around a history, as far as it decides something.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::legality::check;
use louver::policy::{LadderConfig, MessagesConfig, PolicyKind};
use louver::trim::trim;
use louver::window::WindowConfig;
use louver::wire::{Body, Format};
use louver::{Window, budget::Budget};
use serde_json::json;

#[test]
fn a_frame_may_have_tools_whose_parameters_are_called_like_a_history() {
    for (format, key) in [
        (Format::Anthropic, "messages"),
        (Format::OpenAiChat, "messages"),
        (Format::OpenAiResponses, "input"),
        (Format::Gemini, "contents"),
    ] {
        let frame =
            json!({ "model": "gpt-5.5", "tools": [{ "parameters": { "properties": { key: { "type": "string" } } } }] });
        let mut window = Window::for_model(format, "gpt-5.5").frame(&frame).build().unwrap();
        window.push_raw(r#"{"role":"user","content":"Hi","parts":[{"text":"Hi"}]}"#).unwrap();
        let request = Body::parse(&window.request().unwrap().json(), Some(format)).unwrap();
        assert_eq!(request.messages().len(), 1, "{format}");
        let with_history = json!({ key: [{ "role": "user", "content": "Hi", "parts": [{ "text": "Hi" }] }] });
        assert!(Window::for_model(format, "gpt-5.5").frame(&with_history).build().is_err(), "{format}");
    }
}

#[test]
fn whoever_asks_for_manual_thinking_keeps_the_opening_of_the_turn_whatever_the_model() {
    let mut messages = vec![
        json!({ "role": "user", "content": "Fix the test." }),
        json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": "Hm.", "signature": "c2ln" },
            { "type": "tool_use", "id": "toolu_0", "name": "read", "input": {} },
        ] }),
    ];
    for number in 0..12 {
        let result =
            json!({ "type": "tool_result", "tool_use_id": format!("toolu_{number}"), "content": "word ".repeat(200) });
        messages.push(json!({ "role": "user", "content": [result] }));
        let call = json!({ "type": "tool_use", "id": format!("toolu_{}", number + 1), "name": "read", "input": {} });
        messages.push(json!({ "role": "assistant", "content": [call] }));
    }
    messages.pop();
    let thinking = json!({ "type": "enabled", "budget_tokens": 1_024 });
    let body = json!({ "model": "nobody-knows", "max_tokens": 2_000, "thinking": thinking, "messages": messages });
    let body = Body::parse(&body.to_string(), None).unwrap();
    assert_eq!(check(&body), []);
    let cap = MessagesConfig { max_messages: 6, preserve_last_n: 2, ..MessagesConfig::default() };
    let ladder = LadderConfig { keep_recent_tokens: 100, ..LadderConfig::default() };
    for policy in [PolicyKind::Messages(cap), PolicyKind::Ladder(ladder), PolicyKind::Newest] {
        let mut config = WindowConfig::new(Format::Anthropic, policy);
        config.budget = Some(Budget::new(1_800, Some(100)).unwrap());
        let name = config.policy.name().to_owned();
        let trimmed = trim(&body, config).unwrap();
        assert!(!trimmed.report.evicted.is_empty(), "{name}");
        assert_eq!(check(&Body::parse(&trimmed.json, None).unwrap()), [], "{name}");
    }
}
