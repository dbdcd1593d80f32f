//! What is counted, and how often.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver::count::{count_message, count_overhead};
use louver::policy::{MessagesConfig, PolicyKind};
use louver::tokens::{Chars4, Counter, Image, Millitokens};
use louver::window::{Window, WindowConfig};
use louver::wire::{Body, Format, Message};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the characters it is asked about.
#[derive(Debug, Default)]
struct Watched {
    chars: AtomicU64,
}

impl Counter for Watched {
    fn name(&self) -> &str {
        "watched"
    }

    fn stated_error(&self) -> f64 {
        0.0
    }

    fn text(&self, text: &str) -> Millitokens {
        let chars = text.chars().count() as u64;
        self.chars.fetch_add(chars, Ordering::Relaxed);
        Millitokens::new(chars * 250)
    }

    fn by_length(&self, _: u64) -> Option<Millitokens> {
        None
    }

    fn image(&self, _: &Image<'_>) -> Millitokens {
        Millitokens::ZERO
    }
}

#[test]
fn no_character_is_counted_twice_however_often_the_window_is_fitted() {
    let counter = Arc::new(Watched::default());
    let cap = MessagesConfig { max_messages: 30, ..MessagesConfig::default() };
    let mut config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap));
    config.counter = Arc::clone(&counter) as Arc<dyn Counter>;
    let mut window = Window::new(config).unwrap();
    let before = counter.chars.load(Ordering::Relaxed);
    let mut pushed = 0;
    for number in 0..500 {
        let text = format!("Message {number}");
        pushed += text.chars().count() as u64;
        window
            .push(Message::parse(Format::OpenAiChat, &json!({ "role": "user", "content": text }).to_string()).unwrap());
        for _ in 0..3 {
            window.fit().unwrap();
            assert!(window.tokens() > 0);
            window.view().iter().count();
        }
    }
    assert_eq!(counter.chars.load(Ordering::Relaxed) - before, pushed);
}

fn chars4(format: Format, value: &serde_json::Value) -> u64 {
    count_message(&Chars4, &Message::parse(format, &value.to_string()).unwrap()).ceil_tokens()
}

#[test]
fn names_arguments_and_outputs_count_signatures_and_base64_do_not() {
    let call = json!({ "role": "assistant", "content": [
        { "type": "thinking", "thinking": "12345678", "signature": "x".repeat(4_000) },
        { "type": "tool_use", "id": "toolu_1", "name": "read", "input": { "path": "a" } },
    ] });
    assert_eq!(chars4(Format::Anthropic, &call), (8 + 4 + 12u64).div_ceil(4));
    let result = json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "toolu_1", "content": [
            { "type": "text", "text": "12345678" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "A".repeat(1_000_000) } },
        ] },
    ] });
    assert_eq!(chars4(Format::Anthropic, &result), 2 + 1_500);
}

#[test]
fn a_lone_surrogate_counts_as_one_character_and_passes_unchanged() {
    let raw = r#"{"role":"user","content":"\ud83dabc"}"#;
    let message = Message::parse(Format::OpenAiChat, raw).unwrap();
    assert_eq!(count_message(&Chars4, &message).ceil_tokens(), 1);
    assert_eq!(message.raw(), raw);
}

#[test]
fn system_prompt_and_tool_definitions_count() {
    let body = |around: &str| Body::parse(&format!(r#"{{{around}"messages":[]}}"#), Some(Format::Anthropic)).unwrap();
    let overhead = |around: &str| count_overhead(&Chars4, &body(around)).ceil_tokens();
    assert_eq!(overhead(""), 0);
    assert_eq!(overhead(r#""system":"12345678","#), 2);
    assert_eq!(overhead(r#""system":[{"type":"text","text":"12345678"}],"#), 2);
    assert_eq!(overhead(r#""tools":[ {"name": "ls"} ],"#), 4);
}
