//! What has to hold for any bytes at all. The targets in `fuzz_targets` hand bytes to these functions; the property
//! test `crates/louver/tests/fuzz_harness.rs` does the same under plain `cargo test`.

mod harness;

pub use harness::{body, json, records};
