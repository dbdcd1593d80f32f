//! What can go wrong with a replay.

use crate::assumptions::AssumptionsError;
use louver::policy::SettingsError;

/// Why nothing could be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Settings that a policy cannot work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A model or window that cannot be used.
    #[error(transparent)]
    Assumptions(#[from] AssumptionsError),
    /// A request that is not there.
    #[error("{file} has {requests} requests, so there is no request {turn}")]
    NoSuchRequest {
        /// The file.
        file: String,
        /// The request asked for, counted from 1.
        turn: usize,
        /// How many there are.
        requests: usize,
    },
    /// The threads could not be started.
    #[error("cannot start the threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
}
