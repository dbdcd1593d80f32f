//! `run_command` and what it rests on.

mod allow_list;
mod argument_paths;
mod command_line;
mod run_command;

pub use allow_list::{AllowList, AllowListError};
pub use argument_paths::ArgumentPaths;
pub use run_command::RunCommand;
