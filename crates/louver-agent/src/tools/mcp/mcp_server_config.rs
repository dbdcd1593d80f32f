use std::time::Duration;

use super::McpTransport;

/// What an MCP server is called, how it is talked to, and how long it may take.
#[derive(Clone, Debug)]
pub struct McpServerConfig {
    /// What its tools are prefixed with: letters, digits, `-` and single `_`.
    pub name: String,
    /// How it is talked to.
    pub transport: McpTransport,
    /// How long it may take to get ready, and how long one call may take.
    pub timeout: Duration,
}

impl McpServerConfig {
    /// Whether a name can stand before the name of a tool without being mistaken for a part of it.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        let is_bordered = name.starts_with('_') || name.ends_with('_') || name.contains("__");
        (1..=32).contains(&name.len()) && name.chars().all(is_allowed) && !is_bordered
    }
}
