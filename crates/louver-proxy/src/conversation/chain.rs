//! A history as a chain of hashes.

use louver::json::{Cursor, JsonError, Kind};
use louver::wire::{Format, Message, PartKind};
use louver_store::ChainHash;

fn start(format: Format) -> ChainHash {
    ChainHash(*blake3::hash(format!("louver chain 1 {format}").as_bytes()).as_bytes())
}

fn then(before: ChainHash, link: ChainHash) -> ChainHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before.0).update(&link.0);
    ChainHash(*hasher.finalize().as_bytes())
}

/// The hashes of a history at each of its ends: after no message, after the first, and so on.
///
/// What clients change without saying anything else does not count: cache marks, thinking and its signatures, a string in
/// place of its single text block, white space between tokens, how a character is escaped. Messages that are nothing but
/// thinking are not counted at all. Another order of keys is another history.
///
/// ```
/// use louver::Format;
/// use louver::wire::Message;
/// use louver_proxy::Chain;
///
/// let chain = |raw: &str| Chain::of(Format::Anthropic, &[Message::parse(Format::Anthropic, raw).unwrap()]);
/// let plain = chain(r#"{"role":"user","content":"Hi"}"#);
/// let marked = chain(r#"{"role": "user", "content": [{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}"#);
/// assert_eq!(plain.end(), marked.end());
/// assert_ne!(plain.end(), chain(r#"{"role":"user","content":"Ho"}"#).end());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    format: Format,
    /// After so many counted messages.
    ends: Vec<ChainHash>,
    /// The place in the history of each counted message.
    counted: Vec<usize>,
    len: usize,
}

impl Chain {
    /// The chain of no messages.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, ends: vec![start(format)], counted: Vec::new(), len: 0 }
    }

    /// The chain of a history. O(its bytes).
    #[must_use]
    pub fn of<'m>(format: Format, messages: impl IntoIterator<Item = &'m Message>) -> Self {
        let mut chain = Self::new(format);
        messages.into_iter().for_each(|message| chain.push(link(format, message)));
        chain
    }

    /// The chain of the first so many messages.
    pub(crate) fn first(&self, len: usize) -> Self {
        let counted = self.count_before(len);
        let (ends, numbers) = (self.ends[..=counted].to_vec(), self.counted[..counted].to_vec());
        Self { format: self.format, ends, counted: numbers, len: len.min(self.len) }
    }

    /// Appends a message by what it is known by: nothing where it is thinking alone.
    pub fn push(&mut self, link: Option<ChainHash>) {
        if let Some(link) = link {
            self.counted.push(self.len);
            self.ends.push(then(self.end(), link));
        }
        self.len += 1;
    }

    /// What the whole history is known by.
    #[must_use]
    pub fn end(&self) -> ChainHash {
        self.ends[self.ends.len() - 1]
    }

    /// The hash after so many counted messages.
    #[must_use]
    pub fn at(&self, counted: usize) -> Option<ChainHash> {
        self.ends.get(counted).copied()
    }

    /// After how many counted messages the history was known by this hash.
    #[must_use]
    pub fn position(&self, hash: ChainHash) -> Option<usize> {
        self.ends.iter().rposition(|end| *end == hash)
    }

    /// All hashes, the shortest history's first.
    #[must_use]
    pub fn ends(&self) -> &[ChainHash] {
        &self.ends
    }

    /// The place in the history of each counted message.
    #[must_use]
    pub fn counted(&self) -> &[usize] {
        &self.counted
    }

    /// Whether a message counts; thinking alone does not.
    #[must_use]
    pub fn is_counted(&self, index: usize) -> bool {
        self.counted.binary_search(&index).is_ok()
    }

    /// How many of the first `len` messages count.
    #[must_use]
    pub fn count_before(&self, len: usize) -> usize {
        self.counted.partition_point(|index| *index < len)
    }
}

/// What one message is known by; nothing where it is thinking alone. O(its bytes).
#[must_use]
pub(crate) fn link(format: Format, message: &Message) -> Option<ChainHash> {
    let parts = &message.shape().parts;
    let is_thinking = |kind: PartKind| kind == PartKind::Thinking;
    if !parts.is_empty() && parts.iter().all(|part| is_thinking(part.kind)) {
        return None;
    }
    let thinking = parts.iter().filter(|part| is_thinking(part.kind)).map(|part| part.span.start as usize).collect();
    let mut walk = Walk { format, thinking, hasher: blake3::Hasher::new() };
    // What is no JSON never became a message.
    let _ = walk.value(&mut Cursor::new(message.raw()), false);
    Some(ChainHash(*walk.hasher.finalize().as_bytes()))
}

/// Keys that say nothing but how to cache or to sign.
const MARKS: [&str; 4] = ["cache_control", "prompt_cache_breakpoint", "thoughtSignature", "thought_signature"];
/// Keys behind which everything is somebody's data, whatever it is called.
const DATA: [&str; 4] = ["input", "args", "arguments", "response"];

/// Feeds a message to a hasher, so that what does not count leaves no trace.
struct Walk {
    format: Format,
    /// Where thinking stands.
    thinking: Vec<usize>,
    hasher: blake3::Hasher,
}

impl Walk {
    fn value(&mut self, cursor: &mut Cursor<'_>, is_data: bool) -> Result<(), JsonError> {
        match cursor.kind()? {
            Kind::String => {
                let text = cursor.text()?;
                self.text(b's', &text);
            }
            Kind::Object => {
                self.hasher.update(b"{");
                cursor.object(|key, cursor| self.member(key, cursor, is_data))?;
                self.hasher.update(b"}");
            }
            Kind::Array => {
                self.hasher.update(b"[");
                cursor.array(|_, cursor| match self.is_thinking(cursor)? {
                    true => cursor.skip().map(drop),
                    false => self.value(cursor, is_data),
                })?;
                self.hasher.update(b"]");
            }
            Kind::Null | Kind::Bool | Kind::Number => {
                let span = cursor.skip()?;
                let raw = cursor.raw(span).to_owned();
                self.text(b'w', &raw);
            }
        }
        Ok(())
    }

    fn member(&mut self, key: &str, cursor: &mut Cursor<'_>, is_data: bool) -> Result<(), JsonError> {
        let is_mark = !is_data && MARKS.contains(&key);
        if is_mark || self.is_thinking(cursor)? {
            return cursor.skip().map(drop);
        }
        self.text(b'k', key);
        let is_bare = key == "content" && !is_data && cursor.kind()? == Kind::String;
        if is_bare && matches!(self.format, Format::Anthropic | Format::OpenAiChat) {
            return self.bare_text(cursor);
        }
        self.value(cursor, is_data || DATA.contains(&key))
    }

    /// A string is known by what its single text block is known by.
    fn bare_text(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        self.hasher.update(b"[{");
        self.text(b'k', "type");
        self.text(b's', "text");
        self.text(b'k', "text");
        let text = cursor.text()?;
        self.text(b's', &text);
        self.hasher.update(b"}]");
        Ok(())
    }

    fn is_thinking(&self, cursor: &mut Cursor<'_>) -> Result<bool, JsonError> {
        cursor.kind()?;
        Ok(self.thinking.contains(&cursor.offset()))
    }

    /// A text with its length before it, so that no two texts run into each other.
    fn text(&mut self, kind: u8, text: &str) {
        self.hasher.update(&[kind]).update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
}
