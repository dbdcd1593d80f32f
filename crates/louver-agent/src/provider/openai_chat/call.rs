//! One call of a streamed answer, in parts.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

/// A call so far.
#[derive(Debug, Default)]
pub(super) struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What else it has, such as a signature that has to come back with it.
    fields: Map<String, Value>,
}

/// A part of a call.
#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    /// Not every server numbers its calls, and some number all of them 0.
    #[serde(default)]
    index: Value,
    id: Option<String>,
    function: Option<Function>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

impl CallDelta {
    /// The call that it goes on with: of those with its index the one with its id, or the newest. None if it begins one.
    pub(super) fn belongs_to(&self, calls: &[Call]) -> Option<usize> {
        let index = self.index.as_u64();
        let could_be = |call: &Call| index.is_none() || call.index.is_none() || call.index == index;
        let candidates = || calls.iter().enumerate().rev().filter(|(_, call)| could_be(call));
        let (at, call) = match self.id() {
            "" => candidates().next(),
            id => candidates()
                .find(|(_, call)| call.id == id)
                .or(candidates().next().filter(|(_, call)| call.id.is_empty())),
        }?;
        (!self.begins_another(call)).then_some(at)
    }

    /// Whether it names a function and can have nothing to do with the one that the call names.
    fn begins_another(&self, call: &Call) -> bool {
        let (name, arguments) = self.function();
        let is_other = name != call.name && self.index.is_null() && self.id().is_empty();
        let is_done = !arguments.is_empty() && serde_json::from_str::<IgnoredAny>(&call.arguments).is_ok();
        !name.is_empty() && !call.name.is_empty() && (is_other || is_done)
    }

    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    fn function(&self) -> (&str, &str) {
        let Some(Function { name, arguments }) = &self.function else {
            return ("", "");
        };
        (name.as_deref().unwrap_or_default(), arguments.as_deref().unwrap_or_default())
    }
}

impl Call {
    pub(super) fn index(&self) -> u64 {
        self.index.unwrap_or_default()
    }

    pub(super) fn extend(&mut self, part: CallDelta) {
        let (name, arguments) = part.function();
        self.index = self.index.or(part.index.as_u64());
        if self.id.is_empty() {
            part.id().clone_into(&mut self.id);
        }
        // Some servers repeat it with every part.
        if name != self.name {
            self.name.push_str(name);
        }
        self.arguments.push_str(arguments);
        for (name, value) in part.fields {
            merge(&mut self.fields, name, value);
        }
    }

    pub(super) fn into_value(self) -> Value {
        let mut fields = self.fields;
        fields.insert("id".to_owned(), json!(self.id));
        fields.insert("type".to_owned(), json!("function"));
        fields.insert("function".to_owned(), json!({"name": self.name, "arguments": self.arguments}));
        Value::Object(fields)
    }
}

/// Adds what a part says of a field: texts and lists go on, anything else is said anew.
pub(super) fn merge(fields: &mut Map<String, Value>, name: String, value: Value) {
    match (fields.get_mut(&name), value) {
        (_, Value::Null) => {}
        (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (_, value) => {
            fields.insert(name, value);
        }
    }
}
