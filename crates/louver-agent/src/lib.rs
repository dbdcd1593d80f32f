//! Runs tasks with a model inside a bounded context window: provider clients, the tool loop and the tools.
//!
//! | to do this | use |
//! |---|---|
//! | run a task to its end, watch it, go on after a kill | [`Executor`] |
//! | one call of the tool loop | [`execute`] |
//! | one request to a model | [`provider::Provider`] |
//! | offer something to the model | [`tools::Tool`] |
//! | keep what a command starts within bounds | [`launch::Launcher`] |
//!
//! The engine decides what is sent; this crate sends it. The loop pushes every message to a
//! [`Window`](louver::window::Window), fits it before every request, and sends its view.
//!
//! # How do I run a task without a key?
//!
//! Against the sandbox:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use louver_agent::provider::{Connection, HttpProvider};
//! use louver_agent::tools::ToolSet;
//! use louver_agent::{ApiKey, ExecuteOptions, Executor, ExecutorConfig, RunOutcome};
//! use louver_sandbox::{Sandbox, Scenario, Turn};
//! use std::sync::Arc;
//!
//! let scenario = Scenario::new("short").turn(Turn::text("There is nothing to do."));
//! let sandbox = Sandbox::builder().scenario(scenario).start("127.0.0.1:0").await?;
//! let provider = HttpProvider::anthropic(Connection::to(&sandbox.url()), ApiKey::sandbox())?;
//!
//! let mut options = ExecuteOptions::new("claude-sonnet-4-5");
//! options.window.policy.ladder_mut().expect("the default where the window is known").keep_recent_tokens = 20_000;
//! let tools = ToolSet::default();
//! let executor = Executor::new(Arc::new(provider), Arc::new(tools), ExecutorConfig::new(options));
//! let summary = executor.run("Look around.").await?;
//! assert_eq!(summary.outcome, RunOutcome::Completed("There is nothing to do.".to_owned()));
//! assert_eq!(summary.conversation_metrics.message_count, 1);
//! # Ok(()) }
//! ```
//!
//! # What is told to whoever watches?
//!
//! [`RunEvent`]s, through an [`Observer`], with the lines that a person reads; a [`LiveState`] that can be looked at any
//! time; a [`RunSummary`] at the end; and through `tracing` every decision of the window as one event of the target
//! `louver::decision`.
//!
//! # What does a kill cost?
//!
//! Nothing that was finished: see [`StateFile`].

mod api_key;
mod condensing;
mod conversation;
mod execute_options;
mod execution_result;
mod executor;
mod http_client;
pub mod launch;
mod metrics;
mod observer;
pub mod overhead;
pub mod provider;
mod run_summary;
mod secrets;
pub mod seeds;
mod telemetry;
mod tool_loop;
mod tool_results;
pub mod tools;
mod totals;
mod usage;
mod window_options;

pub use api_key::{ApiKey, KeyError};
pub use condensing::{CondenseHandler, CondenseOptions, CondenseTiming};
pub use conversation::{Conversation, Existing, StateError, StateFile};
pub use execute_options::{ExecuteOptions, Interrupted};
pub use execution_result::{ExecutionError, ExecutionResult, Stop};
pub use executor::{Executor, ExecutorConfig, LiveState, RunError};
pub use metrics::{CondensingMetrics, ConversationMetrics};
pub use observer::{Observer, RunEvent};
pub use run_summary::{RunOutcome, RunSummary};
pub use secrets::redact;
pub use telemetry::Decision;
pub use tool_loop::execute;
pub use usage::Usage;
pub use window_options::WindowOptions;

/// What [`ExecuteOptions::cancel`] is made of.
pub use tokio_util::sync::CancellationToken;
