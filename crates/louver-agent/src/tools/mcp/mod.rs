//! Tools of MCP servers, which run as child processes and speak over their standard streams.

mod connection;
mod content;
mod diagnostics;
mod mcp_error;
mod mcp_server;
mod mcp_server_config;
mod mcp_tool;

pub use mcp_error::McpError;
pub use mcp_server::McpServer;
pub use mcp_server_config::McpServerConfig;
