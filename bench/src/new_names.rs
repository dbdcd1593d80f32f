//! Turns that never name anything twice.

use crate::Random;
use std::fmt::Write as _;

/// The bytes of a turn, roughly.
const TURN_BYTES: usize = 9_000;

/// A turn of 9 KB whose names never come again, in Anthropic's format: some words and a call, then its result.
#[must_use]
pub fn turn_of_new_names(random: &mut Random, number: usize) -> Vec<String> {
    let mut output = String::with_capacity(TURN_BYTES);
    let mut line = 0;
    while output.len() < TURN_BYTES - 600 {
        let salt = random.below(9_000);
        let _ = match line % 4 {
            0 => write!(output, "    let value_{number}_{line} = self.field_{salt}_{number}.get(index);\\n"),
            1 => write!(
                output,
                "src/part_{number}/file_{line}.rs:{salt}: see module_{number}.item_{line} for the rest\\n"
            ),
            2 => write!(
                output,
                "  the reader returns an error with the path of the value so that tests can compare them\\n"
            ),
            _ => write!(output, "  \\\"key_{salt}_{line}\\\": {salt}{number},\\n"),
        };
        line += 1;
    }
    vec![
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"Looking at part_{number}."}},{{"type":"tool_use","id":"toolu_{number}","name":"read_file","input":{{"path":"src/part_{number}/mod.rs"}}}}]}}"#
        ),
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number}","content":"{output}"}}]}}"#
        ),
    ]
}
