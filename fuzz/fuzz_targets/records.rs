//! Any lines as the records of a window.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| louver_fuzz::records(bytes));
