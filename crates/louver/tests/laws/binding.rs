//! What a provider checks that binds thinking to its prefix, written without a look at the engine.

use louver::window::Window;
use serde_json::Value;
use std::collections::BTreeMap;

/// What stood before each thinking message when the model wrote it.
#[derive(Debug, Default)]
pub(crate) struct Binding {
    written: BTreeMap<usize, Written>,
}

#[derive(Debug)]
struct Written {
    /// The history before it, thinking left out.
    prefix: Vec<Value>,
    /// The thinking message before it.
    before: Option<usize>,
}

impl Binding {
    /// The model is about to write a thinking message at this log index.
    pub(crate) fn note(&mut self, index: usize, window: &Window) {
        let sent: Vec<Value> = window.view().iter().map(|sent| without_thinking(sent.message.raw())).collect();
        let thinking = window.view().iter().filter(|sent| has_thinking(sent.message.raw()));
        let before = thinking.filter_map(|sent| sent.origin.index()).last();
        self.written.insert(index, Written { prefix: sent, before });
    }

    /// Every thinking block that is sent stands behind what it was written behind: the same history, and the same
    /// thinking before it or none at all.
    pub(crate) fn check(&self, window: &Window) {
        let mut prefix = Vec::new();
        let mut before = None;
        for sent in window.view().iter() {
            let raw = sent.message.raw();
            let written = sent.origin.index().and_then(|index| self.written.get(&index));
            if let Some(written) = written.filter(|_| has_thinking(raw)) {
                assert_eq!(prefix, written.prefix, "law 4: thinking behind another prefix");
                assert!(before.is_none() || before == written.before, "law 4: thinking left from the middle");
                before = sent.origin.index();
            }
            prefix.push(without_thinking(raw));
        }
    }
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn has_thinking(raw: &str) -> bool {
    let message: Value = serde_json::from_str(raw).unwrap();
    message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_thinking))
}

fn without_thinking(raw: &str) -> Value {
    let mut message: Value = serde_json::from_str(raw).unwrap();
    if let Some(blocks) = message["content"].as_array_mut() {
        blocks.retain(|block| !is_thinking(block));
    }
    message
}
