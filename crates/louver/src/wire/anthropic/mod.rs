//! Anthropic Messages.
//!
//! A message is a role and its `content`: a string, or an array of blocks. What the API calls a tool turn is two
//! neighbours: an assistant message with `tool_use` blocks and, directly behind it, a user message whose content starts
//! with their `tool_result` blocks. Tools that Anthropic runs itself keep call and result in one assistant message.

mod pairing;
mod rules;
mod shape;
mod write;

use super::Wire;

/// The rules of Anthropic Messages.
pub(super) static WIRE: Wire = Wire {
    shape: shape::shape,
    pairing: &pairing::PAIRING,
    rules: &rules::RULES,
    advice: &rules::ADVICE,
    write: write::message,
    write_result: |_, text| write::result(text),
    write_part: write::part,
    bridge: write::bridge,
};
