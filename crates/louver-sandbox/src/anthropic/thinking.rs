//! Signing thinking blocks, and knowing them again.
//!
//! A signature is `sbx1.THOUGHT` or, on models that bind thinking to its prefix, `sbx1.THOUGHT.PREFIX.BEFORE`: hashes of
//! the thought, of the conversation before it without its thinking, and of the thinking block before it. Signatures
//! that the sandbox did not issue are accepted as they are.

use serde_json::{Value, json};

use super::judge::is_thinking;
use super::prompt::as_blocks;
use crate::Violation;
use crate::body::{items, text};
use crate::fingerprint::Fingerprint;
use crate::models::{self, Thinking};
use crate::provider::Request;

const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";
const MARK: &str = "sbx1";
const NONE_BEFORE: &str = "none";

/// Whether an answer to this request may think aloud: only if the request asks for it.
pub(super) fn is_shown(request: &Request) -> bool {
    matches!(text(&request.body["thinking"], "type"), "enabled" | "adaptive")
}

fn is_bound(request: &Request) -> bool {
    models::find(&request.model).thinking == Some(Thinking::Bound)
}

/// Whether the request may say what happens to blocks that are bound to something else.
pub(super) fn may_control_binding(request: &Request) -> bool {
    request.header_lists("anthropic-beta", BINDING_BETA)
}

fn drops_mismatches(request: &Request) -> bool {
    let behaviour = &request.body["thinking"]["block_binding"]["prefix_mismatch_behavior"];
    may_control_binding(request) && behaviour == "drop_block"
}

/// The signature of a thought that answers a request.
pub(super) fn sign(request: &Request, thought: &str) -> String {
    let thought = Fingerprint::EMPTY.then_text(thought).hex();
    if !is_bound(request) {
        return format!("{MARK}.{thought}");
    }
    let mut history = History::new(&request.body);
    for message in items(&request.body, "messages") {
        as_blocks(message, "content").iter().for_each(|block| history.pass(text(message, "role"), block));
    }
    format!("{MARK}.{thought}.{}.{}", history.prefix.hex(), history.before())
}

/// Names the thinking blocks that were issued here and came back changed, or behind a changed prefix.
pub(super) fn verify(request: &Request) -> Vec<Violation> {
    let drops = drops_mismatches(request);
    findings(request)
        .into_iter()
        .filter(|finding| !(drops && finding.is_mismatch))
        .map(|finding| if finding.is_mismatch { mismatch(&finding.path) } else { modified(&finding.path) })
        .collect()
}

/// The blocks that were dropped because they are bound to another conversation.
pub(super) fn transformations(request: &Request) -> Vec<Value> {
    if !drops_mismatches(request) {
        return Vec::new();
    }
    let dropped = findings(request).into_iter().filter(|finding| finding.is_mismatch);
    dropped
        .map(|finding| json!({"type": "thinking_dropped", "path": finding.path, "reason": "prefix_binding_mismatch"}))
        .collect()
}

struct Finding {
    path: String,
    is_mismatch: bool,
}

fn findings(request: &Request) -> Vec<Finding> {
    let mut found = Vec::new();
    let is_bound = is_bound(request);
    let mut history = History::new(&request.body);
    for (index, message) in items(&request.body, "messages").iter().enumerate() {
        for (position, block) in as_blocks(message, "content").iter().enumerate() {
            if let Some(is_mismatch) = history.wrong(block, is_bound) {
                found.push(Finding { path: format!("messages.{index}.content.{position}"), is_mismatch });
            }
            history.pass(text(message, "role"), block);
        }
    }
    found
}

fn modified(path: &str) -> Violation {
    let message = format!(
        "{path}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These \
         blocks must remain as they were in the original response."
    );
    Violation::new("thinking-modified", path, message)
}

fn mismatch(path: &str) -> Violation {
    let message = format!(
        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
         block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the \
         `{BINDING_BETA}` value in the `anthropic-beta` header."
    );
    Violation::new("thinking-bound-elsewhere", path, message)
}

/// A conversation as far as it has been read.
struct History {
    prefix: Fingerprint,
    last_signature: Option<String>,
}

impl History {
    fn new(body: &Value) -> Self {
        let prefix = Fingerprint::EMPTY.then("tools", &body["tools"]);
        Self { prefix: prefix.then("system", &json!(as_blocks(body, "system"))), last_signature: None }
    }

    fn pass(&mut self, role: &str, block: &Value) {
        if is_thinking(block) {
            self.last_signature = Some(text(block, "signature").to_owned());
        } else {
            self.prefix = self.prefix.then(role, block);
        }
    }

    fn before(&self) -> String {
        self.last_signature.as_deref().map_or_else(|| NONE_BEFORE.to_owned(), short)
    }

    /// Nothing if a block may stand here; otherwise whether it is bound elsewhere, rather than changed.
    fn wrong(&self, block: &Value, is_bound: bool) -> Option<bool> {
        let mut fields = text(block, "signature").split('.');
        if text(block, "type") != "thinking" || fields.next() != Some(MARK) {
            return None;
        }
        if fields.next() != Some(&Fingerprint::EMPTY.then_text(text(block, "thinking")).hex()) {
            return Some(false);
        }
        let (prefix, before) = (fields.next()?, fields.next()?);
        if !is_bound {
            return None;
        }
        let same_before = self.last_signature.is_none() || self.before() == before;
        (prefix != self.prefix.hex() || !same_before).then_some(true)
    }
}

fn short(signature: &str) -> String {
    Fingerprint::EMPTY.then_text(signature).hex()
}
