//! The command line of Louver, in three steps, each a file.
//!
//! | step | file | what it does |
//! |---|---|---|
//! | 1 | `args.rs` | the arguments, as they were typed |
//! | 2 | `settings.rs` | what they come to: validated, put together with the configuration, nothing has happened yet |
//! | 3 | `run/` | does it, a file per command |
//!
//! Only `printer.rs` prints, only `input.rs` and `output.rs` touch conversations on disk. The whole program is a
//! function of its arguments and streams, so tests run it in their own process.

mod args;
pub mod config;
mod input;
mod inspect;
mod output;
mod printer;
mod recall;
mod run;
mod settings;
mod window;

pub use printer::Colors;
pub use run::{Exit, Keys, Streams, run};
