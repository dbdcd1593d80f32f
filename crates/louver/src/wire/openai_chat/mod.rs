//! OpenAI Chat Completions: `messages` with roles, calls beside the content, results as messages of their own.
//!
//! What the API refuses:
//!
//! | rule | what it means |
//! |---|---|
//! | `no-messages` | the list is empty |
//! | `calls-without-results` | not every call of an assistant message is answered before the next other role |
//! | `result-without-call` | a result that answers no open call of the assistant message before it |
//!
//! Results belong to the assistant message that they directly follow. Ids repeat in real histories, so no id is ever
//! looked up further away. The older `function_call` and role `function` pair in the same way, without ids.

mod pairing;
mod rules;
mod shape;
mod write;

use super::Wire;

/// The rules of OpenAI Chat Completions.
pub(super) static WIRE: Wire = Wire {
    shape: shape::shape,
    pairing: &pairing::PAIRING,
    rules: &rules::RULES,
    advice: &[],
    write: write::message,
    write_result: |_, text| crate::json::text::encode(text),
    write_part: write::part,
    // Any two messages may stand together, and any may be the first or the last.
    bridge: |_, _| None,
};
