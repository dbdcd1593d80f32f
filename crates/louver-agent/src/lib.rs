//! Runs tasks with a model inside a bounded context window: provider clients, the tool loop and the tools.

mod api_key;
mod condensing;
mod conversation;
mod execute_options;
mod execution_result;
mod executor;
mod observer;
pub mod overhead;
pub mod provider;
mod run_summary;
pub mod seeds;
pub mod sse;
mod telemetry;
mod tool_loop;
mod tool_results;
pub mod tools;
mod usage;
mod window_options;

pub use api_key::{ApiKey, KeyError};
pub use condensing::{CondenseHandler, CondenseOptions, CondenseTiming};
pub use conversation::{CondensingMetrics, Conversation, ConversationMetrics, StateError, StateFile};
pub use execute_options::{ExecuteOptions, Interrupted};
pub use execution_result::{ExecutionError, ExecutionResult, Stop};
pub use executor::{Executor, ExecutorConfig, LiveState, RunError};
pub use observer::{Observer, RunEvent};
pub use run_summary::{RunOutcome, RunSummary};
pub use tool_loop::execute;
pub use usage::Usage;
pub use window_options::{WindowError, WindowOptions};
