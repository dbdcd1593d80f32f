//! What was said, for whoever said it.

use crate::account::{ConversationInfo, Queued, Whose};
use crate::bounds::bounded;
use crate::chain::{ChainHash, ChainTag};
use crate::error::{Error, Kind};
use crate::name::{ConversationId, ReaderId};
use crate::page::{Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use louver::address::Address;
use louver::search::{Found, passages};
use louver::{Format, Message};
use std::ops::Range;
use std::sync::Arc;

/// The most bytes of a message.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// How many bytes of messages a page may have before it ends.
pub const MAX_PAGE_BYTES: usize = 16 << 20;

/// A message at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The hash of the history up to and with it.
    pub chain: ChainHash,
    /// The message as it came.
    pub raw: Arc<str>,
}

/// Messages that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewContent {
    /// Where they were said, and by whom.
    pub conversation: ConversationInfo,
    /// When.
    pub at: UnixMillis,
    /// The index of the first.
    pub index: u32,
    /// The hash of the history before the first; nothing at the start of a conversation.
    pub previous: Option<ChainHash>,
    /// The messages. Those that are there already are left as they are.
    pub messages: Vec<NewMessage>,
}

/// How many bytes of messages are written in one transaction, so that decisions get in between.
const CHUNK_BYTES: usize = 256 << 10;

impl NewContent {
    /// Refuses names that nobody gives and messages that are too large.
    pub(crate) fn check(&self) -> Result<(), Error> {
        bounded("the conversation's name", self.conversation.id.as_str())?;
        bounded("the reader's name", self.conversation.reader.as_str())?;
        match self.messages.iter().map(|message| message.raw.len()).find(|bytes| *bytes > MAX_MESSAGE_BYTES) {
            Some(bytes) => Err(Error::new(
                Kind::TooLarge,
                format!("a message of {bytes} bytes is larger than {MAX_MESSAGE_BYTES}"),
            )),
            None => Ok(()),
        }
    }

    /// The same content in pieces, one behind the other.
    pub(crate) fn into_chunks(self) -> Vec<Self> {
        let Self { conversation, at, mut index, mut previous, messages } = self;
        let mut chunks: Vec<Self> = Vec::new();
        let mut bytes = 0;
        for message in messages {
            let (chain, length) = (message.chain, message.raw.len());
            match chunks.last_mut() {
                Some(chunk) if bytes < CHUNK_BYTES => chunk.messages.push(message),
                _ => {
                    let messages = vec![message];
                    chunks.push(Self { conversation: conversation.clone(), at, index, previous, messages });
                    bytes = 0;
                }
            }
            (bytes, index, previous) = (bytes + length, index.saturating_add(1), Some(chain));
        }
        chunks
    }
}

/// The hash of a message, another one for each reader.
pub(crate) fn content_hash(reader: &str, format: Format, raw: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("louver-store 1 message of a reader");
    for part in [reader, format.name(), raw] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Where a message stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePlace {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its index there.
    pub index: u32,
    /// The hash of the history up to and with it.
    pub chain: ChainHash,
    /// The hash of the history before it, where that is kept, too. Where two messages have one index, this tells which
    /// branch they are on.
    pub previous: Option<ChainHash>,
    /// The wire format.
    pub format: Format,
}

/// A message as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedMessage {
    /// Where it stands.
    pub place: MessagePlace,
    /// The message as it came.
    pub raw: Arc<str>,
}

/// A point of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainPoint {
    /// The one that the tag names.
    Tag(ChainTag),
    /// Where a conversation was last heard.
    Newest(ConversationId),
}

/// Where a message of a chain stands, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPlace {
    /// Its index in the conversation.
    pub index: u32,
    /// The hash of the history up to and with it.
    pub chain: ChainHash,
}

/// Which messages of a chain are wanted back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallRequest {
    /// Who asks.
    pub reader: ReaderId,
    /// A point of the chain at or behind the messages.
    pub point: ChainPoint,
    /// The messages.
    pub address: Address,
    /// How many bytes of messages to return at most; the first is always whole.
    pub max_bytes: usize,
}

/// Messages that were asked for by their address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recalled {
    /// Here they are.
    Messages {
        /// Ascending, as many as fit. What is nothing but thinking is not kept and left out.
        messages: Vec<ArchivedMessage>,
        /// The index of the first that did not.
        next: Option<u32>,
    },
    /// No chain of this reader has the tag or is of the conversation.
    UnknownTag,
    /// Several chains have it.
    AmbiguousTag,
    /// A message is not kept: it stands behind the tag, or was never archived.
    Missing {
        /// The first index that is not there.
        index: usize,
    },
}

/// Where to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchScope {
    /// What one chain holds, up to the point that the tag names.
    Chain {
        /// The point.
        tag: ChainTag,
        /// Only these messages, say those that were left out; nothing for all. Others have no influence on what is found.
        within: Option<Address>,
    },
    /// Some of what one chain holds, up to the point that the tag names.
    Counted {
        /// The point.
        tag: ChainTag,
        /// Only these messages, counted along the chain, on which nothing has a place that is thinking alone.
        within: Address,
    },
    /// What a conversation last held.
    Conversation(ConversationId),
    /// Everything that the reader's conversations hold, each message once.
    Everything,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// Who asks.
    pub reader: ReaderId,
    /// Where.
    pub scope: SearchScope,
    /// Words; see [`louver::search`].
    pub query: String,
    /// How many hits at most; never more than [`MAX_PAGE_ROWS`](crate::MAX_PAGE_ROWS).
    pub limit: usize,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveHit {
    /// The message it stands in.
    pub place: MessagePlace,
    /// Which of the message's [passages](louver::search::passages()) it is.
    pub passage: usize,
    /// The passage.
    pub text: String,
    /// Where the words that decided stand in it: byte ranges, ascending and apart.
    pub marks: Vec<Range<usize>>,
}

impl ArchiveHit {
    /// Of a message that was found, and which of its passages.
    pub(crate) fn new(message: ArchivedMessage, found: &Found, passage: usize) -> Self {
        let texts =
            Message::parse(message.place.format, &message.raw).map(|message| passages(&message)).unwrap_or_default();
        let text = texts.into_iter().nth(passage).unwrap_or_default();
        Self { marks: found.marks(&text), place: message.place, passage, text }
    }
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchAnswer {
    /// The best passages, best first.
    Hits(Vec<ArchiveHit>),
    /// Nothing of this reader has the tag or is the conversation.
    UnknownScope,
    /// Several chains have the tag.
    AmbiguousTag,
}

/// Messages: kept by reader, found by place and by words.
#[async_trait]
pub trait Content: Send + Sync {
    /// Keeps messages; they are durable when it returns. Says how many were not there before.
    async fn put_content(&self, content: NewContent) -> Result<usize, Error>;

    /// Keeps messages soon. Never waits.
    fn put_content_behind(&self, content: NewContent) -> Queued;

    /// Messages of a chain by their address.
    async fn recall(&self, request: RecallRequest) -> Result<Recalled, Error>;

    /// Where the messages of a chain stand, from its start to a point, as far back as they are known; nothing where no
    /// chain of the reader has that point, or several have.
    async fn chain_places(&self, reader: ReaderId, point: ChainPoint) -> Result<Vec<ChainPlace>, Error>;

    /// Messages of a chain by the words in them: the same hits as a [`SearchIndex`](louver::search::SearchIndex) of the
    /// chain gives.
    async fn search(&self, request: SearchRequest) -> Result<SearchAnswer, Error>;

    /// Whether any message of a reader is kept.
    async fn has_content(&self, reader: ReaderId) -> Result<bool, Error>;

    /// All messages of a conversation by index, those of abandoned branches included. A page ends early behind
    /// [`MAX_PAGE_BYTES`].
    async fn content(
        &self,
        whose: Whose,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<ArchivedMessage>, Error>;
}
