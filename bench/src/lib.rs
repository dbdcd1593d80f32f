//! Conversations to measure with, and the measuring itself.
//!
//! Everything is generated from a seed, so that two runs, and the peers' run beside ours, see the same bytes. The
//! machine is assumed to be noisy: a figure is the median of several runs, and what is compared is measured in turns.

mod conversation;
mod measure;
mod new_names;
mod random;
mod text;

pub use conversation::{Conversation, body_of_bytes};
pub use measure::{Median, Pair, gigabytes_per_second, measure_pair, median_ns, nanoseconds, resident_bytes};
pub use new_names::turn_of_new_names;
pub use random::Random;
pub use text::{arguments, prose, tool_output};
