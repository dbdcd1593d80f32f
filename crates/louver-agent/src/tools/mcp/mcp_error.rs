use louver::display::shortened;
use thiserror::Error;

/// An MCP server could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the MCP server `{server}` {problem}")]
pub struct McpError {
    /// The name of the server in the configuration.
    pub server: String,
    problem: String,
}

/// A server may answer with anything, of any length.
const MAX_CHARACTERS: usize = 1_000;

impl McpError {
    pub(super) fn new(server: &str, problem: impl Into<String>) -> Self {
        Self { server: server.to_owned(), problem: shortened(&problem.into(), MAX_CHARACTERS).into_owned() }
    }
}
