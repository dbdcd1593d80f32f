//! Gemini `generateContent`.
//!
//! A content is a role and its `parts`. A call turn is a model content with `functionCall` parts; the content directly
//! behind it holds as many `functionResponse` parts, in the same order. Ids are optional, so nothing is paired by them.

mod pairing;
mod rules;
mod shape;
mod write;

use super::Wire;

/// The rules of Gemini contents.
pub(super) static WIRE: Wire = Wire {
    shape: shape::shape,
    pairing: &pairing::PAIRING,
    rules: &rules::RULES,
    advice: &[],
    write: write::message,
    write_result: |_, text| write::result(text),
    write_part: write::part,
    bridge: write::bridge,
};
