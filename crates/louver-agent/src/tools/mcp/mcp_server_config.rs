use std::fmt;
use std::time::Duration;

/// How to start an MCP server, and what it may do.
///
/// `Debug` leaves the arguments out: some servers take their keys there.
#[derive(Clone, PartialEq, Eq)]
pub struct McpServerConfig {
    /// What its tools are prefixed with: letters, digits, `-` and single `_`.
    pub name: String,
    /// The program, found in `PATH` unless it is a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The environment variables it gets to see besides the usual harmless ones.
    pub env_allow: Vec<String>,
    /// How long it may take to start, and how long one call may take.
    pub timeout: Duration,
}

impl fmt::Debug for McpServerConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("McpServerConfig")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &format_args!("({} not shown)", self.args.len()))
            .field("env_allow", &self.env_allow)
            .field("timeout", &self.timeout)
            .finish()
    }
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
