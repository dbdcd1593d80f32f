//! Louver for Python: the engine as an extension module.
//!
//! Everything is decided by the engine. What is here turns Python values into JSON text ([`walk`]), remembers which object
//! a message came from, and gives the same objects back ([`input`], [`window`]). What is not Python's own is in
//! `louver_face`. Heavy calls run without the interpreter's lock.

mod columns;
mod conversations;
mod errors;
mod fit;
mod functions;
mod input;
mod memory;
mod replay;
mod walk;
mod window;

use pyo3::prelude::*;

/// The compiled half of the package `louver`.
#[pymodule(gil_used = false)]
mod _louver {
    #[pymodule_export]
    use crate::conversations::{Conversations, Turn};
    #[pymodule_export]
    use crate::fit::{Fit, Job};
    #[pymodule_export]
    use crate::functions::{check, inspect, recall, repair, repair_report, trim, trim_report};
    #[pymodule_export]
    use crate::replay::{Replay, replay_all};
    #[pymodule_export]
    use crate::window::Window;
}
