//! The store as a whole.

use crate::{Account, Content, Decisions, Facts, Maintenance};

/// Everything a proxy keeps. Configuration picks which, so it is used as `Arc<dyn Store>`.
pub trait Store: Decisions + Facts + Account + Content + Maintenance + std::fmt::Debug {}

impl<S: Decisions + Facts + Account + Content + Maintenance + std::fmt::Debug> Store for S {}
