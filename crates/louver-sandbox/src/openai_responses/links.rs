//! Reasoning items and the items that belong to them.
//!
//! Ids that the sandbox issues say whether their answer began with reasoning: `fc_sbxSERIALr00` needs `rs_sbxSERIAL`
//! before it. Ids that it did not issue are accepted as they are.

use std::collections::HashSet;

use crate::Violation;
use crate::body::{items, text};
use crate::provider::{Reply, Request};

const MARK: &str = "sbx";
const WITH_REASONING: char = 'r';
const ALONE: char = 'x';
const SERIAL_DIGITS: usize = 16;

pub(super) fn reasoning_id(serial: u64) -> String {
    format!("rs_{MARK}{serial:016}")
}

/// The id of an output item: its prefix, the answer's serial, and whether it needs reasoning before it.
pub(super) fn item_id(prefix: &str, reply: &Reply<'_>, index: usize) -> String {
    let tie = if reply.answer.thinking.is_some() { WITH_REASONING } else { ALONE };
    format!("{prefix}_{MARK}{:016}{tie}{index:02}", reply.serial)
}

/// Names the items that were issued with reasoning and came back without it.
pub(super) fn verify(request: &Request) -> Vec<Violation> {
    let input = items(&request.body, "input");
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (index, item) in input.iter().enumerate() {
        let id = text(item, "id");
        seen.insert(id);
        let Some(needed) = needed_reasoning(id) else { continue };
        if !seen.contains(needed.as_str()) {
            let message = format!(
                "Item '{id}' of type '{}' was provided without its required 'reasoning' item: '{needed}'.",
                text(item, "type")
            );
            found.push(Violation::new("item-without-reasoning", format!("input.{index}"), message));
        }
    }
    found
}

fn needed_reasoning(id: &str) -> Option<String> {
    let (prefix, rest) = id.split_once('_')?;
    let digits = rest.strip_prefix(MARK)?;
    let serial = digits.get(..SERIAL_DIGITS)?;
    let is_tied = digits[SERIAL_DIGITS..].starts_with(WITH_REASONING);
    (is_tied && prefix != "rs").then(|| format!("rs_{MARK}{serial}"))
}
