use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use super::prompt;
use crate::body::{items, text};
use crate::refusal::Refusal;

/// The conversations behind `previous_response_id`: what was said up to and including each answer.
pub(crate) struct Memory {
    histories: HashMap<String, Vec<Value>>,
    order: VecDeque<String>,
    capacity: usize,
}

impl Memory {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { histories: HashMap::new(), order: VecDeque::new(), capacity: capacity.max(1) }
    }

    /// Puts the remembered history before the input of a request that points to it.
    pub(crate) fn expand(&self, body: &mut Value) -> Result<(), Refusal> {
        let id = text(body, "previous_response_id").to_owned();
        if id.is_empty() {
            return Ok(());
        }
        let Some(history) = self.histories.get(&id) else { return Err(Refusal::UnknownResponse { id }) };
        let mut input = history.clone();
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
        if self.order.len() >= self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.histories.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.histories.insert(id, history);
    }
}
