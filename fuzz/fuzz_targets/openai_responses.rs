//! Any bytes as a history of this format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use louver::wire::Format;

fuzz_target!(|bytes: &[u8]| louver_fuzz::body(Format::OpenAiResponses, bytes));
