//! Masking one result of a message leaves the others where they can be found.

use louver::policy::{ObservationsConfig, PolicyKind};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, Message};

const CALLS: &str = r#"{"role":"assistant","content":[
    {"type":"tool_use","id":"a","name":"read","input":{}},
    {"type":"tool_use","id":"b","name":"read","input":{}},
    {"type":"tool_use","id":"c","name":"read","input":{}}]}"#;

fn results() -> String {
    let block = |id: &str| {
        let text = format!(
            r#"{{"type":"text","text":"a long result of {id} that is worth a placeholder because it says a lot more than that"}}"#
        );
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{text},{text}]}}"#)
    };
    format!(r#"{{"role":"user","content":[{},{},{}]}}"#, block("a"), block("b"), block("c"))
}

#[test]
fn results_of_one_message_are_masked_one_after_the_other() {
    let mask = ObservationsConfig { keep: 2, ..ObservationsConfig::MASK };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Mask(mask));
    let mut window = Window::new(config).unwrap();
    for raw in [r#"{"role":"user","content":"go"}"#, CALLS, &results()] {
        window.push(Message::parse(Format::Anthropic, raw).unwrap());
    }
    window.fit().unwrap();
    for raw in [
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"d","name":"read","input":{}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"the newest"}]}"#,
    ] {
        window.push(Message::parse(Format::Anthropic, raw).unwrap());
    }
    window.fit().unwrap();
    let sent: Vec<_> = window.view().iter().map(|sent| sent.message.raw().to_owned()).collect();
    assert_eq!(sent[2].matches("[Old tool result cleared]").count(), 2);
    assert!(!sent[2].contains("result of a ") && !sent[2].contains("result of b "));
    assert_eq!(sent[2].matches("result of c ").count(), 2);
    assert!(sent[4].contains("the newest"));
}
