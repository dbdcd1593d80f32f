use louver::display::shortened;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolDefinition;
use super::refusal::Refusal;

/// Reads the arguments of a call into the tool's own type.
///
/// No arguments at all count as an empty object. An error names what is wrong and lists what the tool takes.
pub(crate) fn parse<T: DeserializeOwned>(definition: &ToolDefinition, arguments: Value) -> Result<T, Refusal> {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    if !arguments.is_object() {
        let reason = format!("the arguments must be a JSON object; {}", expected(&definition.schema));
        return Err(Refusal::new(reason));
    }
    serde_json::from_value(arguments).map_err(|error| {
        // The library quotes a wrong value in full.
        let problem = error.to_string();
        let problem = shortened(&problem, 300);
        Refusal::new(format!("{problem}; {}", expected(&definition.schema)))
    })
}

/// The properties of a schema, in words.
fn expected(schema: &Value) -> String {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |(name, property): (&String, &Value)| {
        let kind = property["type"].as_str().unwrap_or("value");
        let need = if required.iter().any(|known| known == name) { "required" } else { "optional" };
        format!("{name} ({kind}, {need})")
    };
    let properties: Vec<String> = schema["properties"].as_object().into_iter().flatten().map(one).collect();
    format!("this tool takes: {}", properties.join(", "))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Request {
        path: String,
        line: Option<u64>,
    }

    fn read(arguments: Value) -> Result<Request, String> {
        let properties = json!({"path": {"type": "string"}, "line": {"type": "integer"}});
        let definition = ToolDefinition::new("tool", "", &properties, &["path"]);
        parse(&definition, arguments).map_err(|refusal| refusal.of("tool").text)
    }

    #[test]
    fn an_error_names_the_problem_and_what_the_tool_takes() {
        let takes = "this tool takes: line (integer, optional), path (string, required)";
        assert_eq!(read(json!({})), Err(format!("tool: missing field `path`; {takes}")));
        assert_eq!(read(json!(null)), Err(format!("tool: missing field `path`; {takes}")));
        assert_eq!(read(json!([1])), Err(format!("tool: the arguments must be a JSON object; {takes}")));
        let unknown = read(json!({"path": "a", "lines": 1}));
        assert_eq!(unknown, Err(format!("tool: unknown field `lines`, expected `path` or `line`; {takes}")));
    }

    #[test]
    fn an_absurd_value_is_not_echoed_in_full() {
        let error = read(json!({"path": "a", "line": "9".repeat(1_000_000)}));
        assert!(error.is_err_and(|text| text.len() < 1_000));
    }

    #[test]
    fn null_stands_for_an_optional_argument_that_is_not_given() {
        assert_eq!(read(json!({"path": "a", "line": null})), Ok(Request { path: "a".into(), line: None }));
    }
}
