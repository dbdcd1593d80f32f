//! What the model may use besides the built-in tools.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// What the model may use besides the built-in tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Tools {
    /// MCP servers by name: letters, digits, `-` and single `_`, at most 32. A tool of theirs is offered as `NAME__tool`.
    pub mcp_servers: BTreeMap<String, McpServer>,
}

/// An MCP server that is started for a run and ended after it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct McpServer {
    /// The program, found in `PATH` unless it is a path.
    pub command: String,
    /// Its arguments.
    #[schemars(default)]
    pub args: Vec<String>,
    /// The names of the environment variables that it gets to see besides harmless ones such as `PATH` and `HOME`.
    #[schemars(default, inner(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$")))]
    pub env: Vec<String>,
    /// How long it may take to start, and how long one call may take.
    #[schemars(default = "McpServer::default_timeout_seconds", range(min = 1, max = 3600))]
    pub timeout_seconds: u64,
}

impl McpServer {
    pub(super) fn default_timeout_seconds() -> u64 {
        60
    }
}
