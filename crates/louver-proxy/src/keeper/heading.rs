//! What a ledger says in its first line: where it was written, and how to have back what it stands for.

use super::asked::Asked;
use super::settings::KeeperSettings;
use crate::archive::Archive;
use crate::mcp::INSTRUCTIONS;
use louver::json::{Cursor, JsonError, Kind};

/// How much of the chain's hash names the place. Readers have far fewer messages than these bytes tell apart.
const TAG_BYTES: usize = 6;

/// The first line of a ledger that is written at this request.
pub(super) fn of(asked: &Asked, settings: &KeeperSettings) -> String {
    let tag = asked.history.chain.end().tag(TAG_BYTES);
    // Some clients hand their tools over as the first message.
    let first = asked.history.messages.first().map(|first| first.raw()).filter(|raw| raw.contains("additional_tools"));
    let tools = asked.body.tools_raw().into_iter().chain(first);
    let asking = match tools.filter_map(recall_tool).next() {
        Some(tool) => format!("the tool {tool}: {tag}:12"),
        None if settings.archive == Archive::Full => format!("{} '{tag}:12'", settings.recall_command),
        None => return tag.to_string(),
    };
    format!("{tag} To have message 12 back: {asking} (words in place of 12 are searched for)")
}

/// The tool by which a model can ask for itself, as its client calls it: `mcp__louver__recall`, say, or `mcp__louver.recall`
/// where tools stand in a namespace.
fn recall_tool(tools: &str) -> Option<String> {
    // Most have none, and looking for a word is cheaper than reading everything.
    memchr::memmem::find(tools.as_bytes(), b"louver")?;
    let mut found = None;
    // What is no JSON names no tool.
    let _ = names(&mut Cursor::new(tools), "", &mut |name| {
        let is_recall = name.contains("louver") && name.ends_with("recall") && !name.contains(char::is_whitespace);
        if is_recall && found.is_none() {
            found = Some(name.to_owned());
        }
    });
    // Some clients show a server's tools to a model that has searched for them, and before that what the server says of itself.
    found.or_else(|| tools.contains(INSTRUCTIONS).then(|| "recall, once you have searched for it".to_owned()))
}

/// Calls `each` with what is called `name` in tool definitions, behind its namespace if it has one, however deep their format has
/// it, but not in schemas.
fn names(cursor: &mut Cursor<'_>, namespace: &str, each: &mut impl FnMut(&str)) -> Result<(), JsonError> {
    match cursor.kind()? {
        Kind::Array => cursor.array(|_, cursor| names(cursor, namespace, each)),
        Kind::Object => {
            let mut own = namespace.to_owned();
            cursor.object(|key, cursor| match (key, cursor.kind()?) {
                ("name", Kind::String) => {
                    let name = cursor.text()?;
                    own = if namespace.is_empty() { name.into_owned() } else { format!("{namespace}.{name}") };
                    each(&own);
                    Ok(())
                }
                ("function" | "functionDeclarations" | "function_declarations", _) => names(cursor, namespace, each),
                ("tools", _) => names(cursor, &own, each),
                _ => cursor.skip().map(drop),
            })
        }
        _ => cursor.skip().map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::{INSTRUCTIONS, recall_tool};

    #[test]
    fn the_tool_is_found_in_every_format() {
        let found = |tools: &str| recall_tool(tools);
        let expected = Some("mcp__louver__recall".to_owned());
        assert_eq!(found(r#"[{"name":"read"},{"name":"mcp__louver__recall","input_schema":{}}]"#), expected);
        assert_eq!(found(r#"[{"type":"function","function":{"name":"mcp__louver__recall"}}]"#), expected);
        assert_eq!(found(r#"[{"type":"function","name":"mcp__louver__recall"}]"#), expected);
        assert_eq!(found(r#"[{"functionDeclarations":[{"name":"mcp__louver__recall"}]}]"#), expected);
        assert_eq!(found(r#"[{"type":"namespace","tools":[{"name":"mcp__louver__recall"}]}]"#), expected);
        let in_namespace =
            r#"[{"type":"namespace","name":"mcp__louver","tools":[{"name":"inspect"},{"name":"recall"}]}]"#;
        assert_eq!(found(in_namespace).as_deref(), Some("mcp__louver.recall"));
        let searched = format!(r#"[{{"type":"tool_search","description":"Sources:\n- louver: {INSTRUCTIONS}"}}]"#);
        assert_eq!(found(&searched).as_deref(), Some("recall, once you have searched for it"));
    }

    #[test]
    fn other_tools_are_not() {
        for tools in [
            r#"[{"name":"recall"}]"#,
            r#"[{"name":"mcp__louver__inspect"}]"#,
            r#"[{"name":"read","description":"as louver recall"}]"#,
            r#"[{"name":"read","input_schema":{"properties":{"name":"louver recall"}}}]"#,
            r#"{"louver"#,
            "",
        ] {
            assert_eq!(recall_tool(tools), None, "{tools}");
        }
    }
}
