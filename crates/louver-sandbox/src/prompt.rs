//! What every format's request comes down to: blocks in cache order, tools, and a few facts about its end.

use std::time::Duration;

use serde_json::Value;

use crate::fingerprint::Fingerprint;

/// A tool that the client declares.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredTool {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// One cacheable piece of a prompt.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// The hash of everything up to and including this block.
    pub(crate) prefix: Fingerprint,
    /// The tokens of everything up to and including this block.
    pub(crate) prefix_tokens: u64,
    /// How long the client wants the prefix that ends here to be kept, if it asked for that.
    pub(crate) mark: Option<Duration>,
}

/// How prefixes get into the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Only at the client's marks, and found by looking back from marks.
    Marked,
    /// At the end of every block, on its own.
    Automatic {
        /// Instead of the model's own time to live.
        ttl: Option<Duration>,
        /// Whether only marked blocks are written.
        marks_only: bool,
    },
}

/// A request as the scripted model and the cache books see it.
#[derive(Clone)]
pub(crate) struct Prompt {
    pub(crate) messages: usize,
    pub(crate) blocks: Vec<Block>,
    pub(crate) caching: Caching,
    pub(crate) tools: Vec<DeclaredTool>,
    /// What the user last said.
    pub(crate) last_said: String,
    /// Whether the history ends with results of tool calls.
    pub(crate) ends_with_results: bool,
    /// Whether the history is a single message of the user.
    pub(crate) is_fresh: bool,
}

impl Prompt {
    /// Tokens of the whole prompt.
    pub(crate) fn tokens(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.prefix_tokens)
    }
}

/// Builds the blocks of a prompt, one after the other.
pub(crate) struct BlockList {
    prefix: Fingerprint,
    tokens: u64,
    blocks: Vec<Block>,
}

impl BlockList {
    /// No blocks yet. Prompts of different scopes (key, model) share nothing.
    pub(crate) fn new(scope: Fingerprint) -> Self {
        Self { prefix: scope, tokens: 0, blocks: Vec::new() }
    }

    /// Adds a block.
    pub(crate) fn push(&mut self, label: &str, value: &Value, tokens: u64, mark: Option<Duration>) {
        self.prefix = self.prefix.then(label, value);
        self.tokens += tokens;
        self.blocks.push(Block { prefix: self.prefix, prefix_tokens: self.tokens, mark });
    }

    /// Adds something that separates caches but costs no tokens.
    pub(crate) fn separate(&mut self, label: &str, value: &Value) {
        self.prefix = self.prefix.then(label, value);
    }

    pub(crate) fn finish(self) -> Vec<Block> {
        self.blocks
    }
}
