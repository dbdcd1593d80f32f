use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::prompt;
use crate::body::{items, text};
use crate::refusal::Refusal;

/// The conversations behind `previous_response_id`: what was said up to and including each answer, as JSON text.
///
/// Bounded in number and in bytes; the oldest go first, and a conversation over the bound is not kept at all.
pub(crate) struct Memory {
    histories: HashMap<String, String>,
    order: VecDeque<String>,
    bytes: usize,
    max_count: usize,
    max_bytes: usize,
}

impl Memory {
    pub(crate) fn new(max_count: usize, max_bytes: usize) -> Self {
        Self { histories: HashMap::new(), order: VecDeque::new(), bytes: 0, max_count, max_bytes }
    }

    /// Puts the remembered history before the input of a request that points to it.
    pub(crate) fn expand(&self, body: &mut Value) -> Result<(), Refusal> {
        let id = text(body, "previous_response_id").to_owned();
        if id.is_empty() {
            return Ok(());
        }
        let remembered = self.histories.get(&id).and_then(|history| serde_json::from_str::<Vec<Value>>(history).ok());
        let Some(mut input) = remembered else { return Err(Refusal::UnknownResponse { id }) };
        input.extend(prompt::list(body));
        body["input"] = json!(input);
        body["previous_response_id"] = Value::Null;
        Ok(())
    }

    /// Remembers an answer together with what led to it, unless the client does not want that.
    pub(crate) fn remember(&mut self, body: &Value, response: &Value) {
        if body.get("store") == Some(&Value::Bool(false)) {
            return;
        }
        let mut history = prompt::list(body);
        history.extend(items(response, "output").iter().cloned());
        let id = text(response, "id").to_owned();
        let history = Value::from(history).to_string();
        self.bytes += history.len();
        self.order.push_back(id.clone());
        self.histories.insert(id, history);
        while self.order.len() > self.max_count || self.bytes > self.max_bytes {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        self.bytes -= self.histories.remove(&oldest).map_or(0, |history| history.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_never_holds_more_bytes_than_it_may() {
        let mut memory = Memory::new(100, 1_000);
        for number in 0..20 {
            let body = json!({"input": "x".repeat(number * 80)});
            memory.remember(&body, &json!({"id": format!("resp_{number}"), "output": []}));
            let held: usize = memory.histories.values().map(String::len).sum();
            assert!(held <= 1_000 && held == memory.bytes && memory.order.len() == memory.histories.len());
        }
    }
}
