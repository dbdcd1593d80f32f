//! What a hostile model, a hostile provider and an unlucky moment can do to a run: nothing.
//!
//! `cargo test -p louver-cli --test attacks` runs it as any user. What the kernel or the machine lacks is left out, and said
//! on standard error. `LOUVER_KILLS=100` makes the number of kills whole.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "what is left out has to be said")]

mod approval;
mod commands;
mod keys;
mod kills;
mod signals;
mod state;
mod time_of_use;
mod world;
