//! What the model may do: the tools, and the bounds they keep.
//!
//! File tools work inside one folder, the [`Root`], through a handle to it: `..`, absolute paths and symbolic links
//! that lead out are refused by the kernel's own path resolution, not by comparing strings, so a link that appears
//! between two calls, or during one, opens nothing either. Commands run without a shell, and only those that an
//! [`AllowList`] names. Tools of MCP servers come with an [`McpServer`]. Everything is bounded by [`Limits`].
//!
//! Nothing here ends a run. What the model got wrong comes back as an output with `is_error` and a sentence that says
//! what to do instead.
//!
//! # How do I offer the file tools for a folder?
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use louver_agent::tools::{Limits, Root, ToolSet};
//! use serde_json::json;
//!
//! let folder = tempfile::tempdir()?;
//! let tools = ToolSet::for_root(&Root::open(folder.path())?, Limits::default());
//!
//! let written = tools.call("write_file", json!({"path": "notes/a.txt", "content": "hello\n"})).await;
//! assert!(!written.is_error);
//! let read = tools.call("read_file", json!({"path": "notes/a.txt"})).await;
//! assert_eq!(read.text, "hello\n");
//! let refused = tools.call("read_file", json!({"path": "../secret"})).await;
//! assert!(refused.is_error);
//! # Ok(()) }
//! ```

mod approver;
mod arguments;
mod command;
mod environment;
mod excerpt;
mod limits;
mod lines;
mod list_files;
mod mcp;
mod off_thread;
mod process_group;
mod read_file;
mod refusal;
mod root;
mod root_path;
mod search_files;
mod task_end;
mod tool;
mod tool_output;
mod tool_set;
mod walk;
mod write_file;

pub use approver::Approver;
pub use command::{AllowList, AllowListError, ArgumentPaths, RunCommand};
pub use environment::Environment;
pub use limits::Limits;
pub use list_files::ListFiles;
pub use mcp::{McpError, McpServer, McpServerConfig, McpTransport};
pub use read_file::ReadFile;
pub use root::Root;
pub use search_files::SearchFiles;
pub use task_end::{TaskBlocked, TaskComplete};
pub use tool::{Tool, ToolDefinition};
pub use tool_output::{Signal, ToolOutput};
pub use tool_set::{DuplicateTool, ToolSet};
pub use write_file::WriteFile;
