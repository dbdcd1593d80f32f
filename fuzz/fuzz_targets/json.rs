//! Any bytes as JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| louver_fuzz::json(bytes));
