//! Why a state file cannot be used.

use std::path::{Path, PathBuf};

/// A state file that could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The file could not be read or written.
    #[error("cannot use the state file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line that is no record, or not the one that was written.
    #[error("line {line} of the state file is no record: {reason}")]
    Corrupt {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of another program, format or version.
    #[error("this state file cannot be continued: {0}")]
    Foreign(String),
    /// Something else is there, and stays.
    #[error("{path} is {what} and is left as it is: name another file for the state")]
    Occupied {
        /// The place.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// Another run has it.
    #[error("{0} is in use: another run goes on with it")]
    InUse(PathBuf),
    /// A new run would lose one that can still go on.
    #[error("{0} holds a run that is not finished")]
    Unfinished(PathBuf),
    /// The task is not the one that the run began with.
    #[error("the task is not the one that the run in {0} began with")]
    OtherTask(PathBuf),
    /// Somebody else wrote to it or moved it while the run went on.
    #[error("{0} was changed by somebody else while the run went on")]
    Changed(PathBuf),
}

impl StateError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn occupied(path: &Path, what: &'static str) -> Self {
        Self::Occupied { path: path.to_owned(), what }
    }
}
