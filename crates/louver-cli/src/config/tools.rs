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

/// An MCP server: a program that is started for a run and ended after it, or an address.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct McpServer {
    /// The program to start, found in `PATH` unless it is a path.
    pub command: Option<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The names of the environment variables that it gets to see besides harmless ones such as `PATH` and `HOME`.
    #[schemars(inner(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$")))]
    pub env: Vec<String>,
    /// The address of a server that is there already and speaks streamable HTTP; instead of `command`.
    #[schemars(url)]
    pub url: Option<String>,
    /// The environment variable that holds the bearer token for that address.
    #[schemars(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub token_env: Option<String>,
    /// Whether the program is confined to the run's folder as commands are.
    pub confine: bool,
    /// How long it may take to get ready, and how long one call may take.
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: u64,
}

impl Default for McpServer {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: Vec::new(),
            url: None,
            token_env: None,
            confine: false,
            timeout_seconds: 60,
        }
    }
}
