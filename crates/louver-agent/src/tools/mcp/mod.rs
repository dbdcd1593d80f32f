//! Tools of MCP servers: child processes that speak over their standard streams, or servers at an address.

mod connection;
mod content;
mod diagnostics;
mod http;
mod mcp_error;
mod mcp_server;
mod mcp_server_config;
mod mcp_tool;
mod mcp_transport;
mod process;
mod running;

pub use mcp_error::McpError;
pub use mcp_server::McpServer;
pub use mcp_server_config::McpServerConfig;
pub use mcp_transport::McpTransport;
