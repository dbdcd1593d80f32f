//! Bending the arguments of a scripted call to the schema that the client declares.

use serde_json::{Map, Value, json};

use crate::body::{items, text};

/// Names that clients give to one and the same argument.
const SYNONYMS: [&[&str]; 5] = [
    &["path", "file_path", "filepath", "file", "filename", "dir", "directory", "dir_path", "absolute_path"],
    &["pattern", "query", "regex", "search", "needle", "text"],
    &["command", "cmd", "script"],
    &["content", "contents", "text", "data", "new_content"],
    &["summary", "message", "result", "reason", "text"],
];

/// Arguments fitted to a JSON schema: what is not declared goes, what is required and missing is taken from a synonym
/// or made up.
pub(crate) fn fit(arguments: &Value, schema: &Value) -> Value {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty())
    else {
        return arguments.clone();
    };
    let given = arguments.as_object().cloned().unwrap_or_default();
    let mut fitted = Map::new();
    for (name, property) in properties {
        let is_required = items(schema, "required").iter().any(|required| required == name);
        let value = given.get(name).or_else(|| synonym(&given, properties, name));
        match value {
            Some(value) => drop(fitted.insert(name.clone(), shaped(value, property))),
            None if is_required => drop(fitted.insert(name.clone(), made_up(name, property))),
            None => {}
        }
    }
    Value::Object(fitted)
}

/// The value that was given under another name, unless the schema declares that name, too.
fn synonym<'a>(given: &'a Map<String, Value>, declared: &Map<String, Value>, name: &str) -> Option<&'a Value> {
    SYNONYMS
        .iter()
        .filter(|group| group.contains(&name))
        .flat_map(|group| group.iter())
        .filter(|other| !declared.contains_key(**other))
        .find_map(|other| given.get(*other))
}

/// A command may be declared as a list of words.
fn shaped(value: &Value, property: &Value) -> Value {
    match value {
        Value::String(line) if text(property, "type") == "array" => line.split_whitespace().map(Value::from).collect(),
        other => other.clone(),
    }
}

fn made_up(name: &str, property: &Value) -> Value {
    if let Some(first) = items(property, "enum").first() {
        return first.clone();
    }
    match text(property, "type").to_ascii_lowercase().as_str() {
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        "array" => json!([]),
        "object" => json!({}),
        _ if SYNONYMS[0].contains(&name) => json!("README.md"),
        _ if SYNONYMS[2].contains(&name) => json!("ls"),
        _ => json!("step"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synonym_stands_in_for_what_is_required() {
        let schema = json!({"properties": {"file_path": {"type": "string"}}, "required": ["file_path"]});
        assert_eq!(fit(&json!({"path": "a.txt"}), &schema), json!({"file_path": "a.txt"}));
    }

    #[test]
    fn what_is_not_declared_goes_and_what_is_missing_is_made_up() {
        let schema = json!({
            "properties": {"command": {"type": "array"}, "limit": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["command", "limit"],
        });
        let fitted = fit(&json!({"command": "wc -l a", "extra": 1}), &schema);
        assert_eq!(fitted, json!({"command": ["wc", "-l", "a"], "limit": 1}));
    }

    #[test]
    fn without_properties_nothing_changes() {
        assert_eq!(fit(&json!({"x": 1}), &json!({"type": "object"})), json!({"x": 1}));
    }
}
