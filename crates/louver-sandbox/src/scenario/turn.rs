use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Fault;

/// Which tool a call goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// The one with this name.
    Name(String),
    /// The n-th of those that the client declares, counted around; those that end a task are left out.
    Nth(usize),
}

/// One tool call of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "CallForm")]
pub struct Call {
    /// Where it goes.
    pub tool: Tool,
    /// What it says. With [`Tool::Nth`] the rest is made up from the tool's schema.
    pub arguments: Value,
}

/// `{"name": "read_file", "arguments": {...}}`, or `{"nth": 3}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallForm {
    name: Option<String>,
    #[serde(default)]
    nth: usize,
    #[serde(default)]
    arguments: Option<Value>,
}

impl From<CallForm> for Call {
    fn from(form: CallForm) -> Self {
        let tool = form.name.map_or(Tool::Nth(form.nth), Tool::Name);
        Self { tool, arguments: form.arguments.unwrap_or_else(|| Value::Object(Map::new())) }
    }
}

impl Call {
    /// A call to a named tool.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { tool: Tool::Name(name.into()), arguments }
    }

    /// A call to the n-th declared tool.
    pub fn nth(n: usize) -> Self {
        Self { tool: Tool::Nth(n), arguments: Value::Object(Map::new()) }
    }
}

/// One answer of the scripted model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
pub struct Turn {
    /// What it thinks first. Shown where the API shows thinking and the request asks for it.
    pub thinking: Option<String>,
    /// What it says.
    pub text: Option<String>,
    /// The tools it calls, all in this one answer.
    pub calls: Vec<Call>,
    /// What goes wrong before the answer arrives whole: one request each, in this order.
    pub faults: Vec<Fault>,
}

impl Turn {
    /// A turn that only says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A turn that calls tools.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// The same turn, with thinking before it.
    pub fn thinking(mut self, thinking: impl Into<String>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    /// The same turn, with something said before its calls.
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// The same turn, after one more request that fails.
    pub fn after(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }
}
