//! The tool `recall`.

use super::McpServer;
use super::page::{fitting, has_room};
use crate::left_out::{NOTHING_ARCHIVED, left_out_at};
use louver::Message;
use louver::address::Address;
use louver::wire::PartKind;
use louver_store::{
    ArchiveHit, ArchivedMessage, ChainPoint, ChainTag, PageRequest, RecallRequest, Recalled, SearchAnswer,
    SearchRequest, SearchScope, Whose,
};
use serde_json::Value;
use std::fmt::Write;

/// How many passages a search shows.
const HITS: usize = 8;
/// How many bytes of messages are read for a page; the first is always whole.
const READ_BYTES: usize = 256 << 10;
/// How much of a chain's hash names it: as much as in ledgers.
const TAG_BYTES: usize = 6;

/// Where a page of messages goes on: at a message, and behind so many bytes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    index: usize,
    offset: usize,
}

impl Cursor {
    fn parse(text: &str) -> Option<Self> {
        let (index, offset) = text.split_once('.')?;
        Some(Self { index: index.parse().ok()?, offset: offset.parse().ok()? })
    }
}

impl McpServer {
    pub(super) async fn recall(&self, arguments: &Value) -> Result<String, String> {
        let what = arguments.get("what").and_then(Value::as_str).map(str::trim).filter(|what| !what.is_empty());
        let what = what.ok_or("`what` is missing: an address from a ledger such as TAG:12, or words")?;
        let cursor = match arguments.get("cursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()) {
            Some(text) => {
                Cursor::parse(text).ok_or("this is no cursor: take the one that the page before ended with")?
            }
            None => Cursor::default(),
        };
        let (tag, rest) = tagged(what);
        match rest.parse::<Address>() {
            Ok(address) => self.messages(tag, &address, cursor).await,
            Err(error) if Address::is_meant_by(rest) => Err(error.to_string()),
            Err(_) => self.words(tag, rest).await,
        }
    }

    async fn messages(&self, tag: Option<ChainTag>, address: &Address, cursor: Cursor) -> Result<String, String> {
        let (point, unknown) = match tag {
            Some(tag) => (ChainPoint::Tag(tag), UNKNOWN.to_owned()),
            None => {
                let id = self.latest().await?;
                let unknown = format!(
                    "no message of your latest conversation ({id}) is archived; another is named by the tag in its \
                     ledger's first line: TAG:{address}"
                );
                (ChainPoint::Newest(id), unknown)
            }
        };
        let Some(left) = address.starting_at(cursor.index) else {
            return Err("nothing is left behind this cursor".to_owned());
        };
        let request = RecallRequest { reader: self.reader.clone(), point, address: left, max_bytes: READ_BYTES };
        match self.store.recall(request).await.map_err(|error| error.to_string())? {
            Recalled::Messages { messages, .. } if messages.is_empty() => {
                Err("nothing but thinking stands there, which is not kept".to_owned())
            }
            Recalled::Messages { messages, next } => Ok(paged(&messages, next, cursor)),
            Recalled::UnknownTag => Err(self.or_nothing_archived(unknown).await),
            Recalled::AmbiguousTag => Err(AMBIGUOUS.to_owned()),
            Recalled::Missing { index } => Err(format!("message {index} is not kept there")),
        }
    }

    async fn words(&self, tag: Option<ChainTag>, query: &str) -> Result<String, String> {
        let scope = match &tag {
            Some(tag) => left_out_at(&*self.store, tag).await.map_err(|error| error.to_string())?,
            None => SearchScope::Everything,
        };
        let request = SearchRequest { reader: self.reader.clone(), scope, query: query.to_owned(), limit: HITS };
        match self.store.search(request).await.map_err(|error| error.to_string())? {
            SearchAnswer::Hits(hits) if hits.is_empty() => {
                Err(self.or_nothing_archived("none of these words stands in what was left out".to_owned()).await)
            }
            SearchAnswer::Hits(hits) => Ok(found(&hits)),
            SearchAnswer::UnknownScope => Err(self.or_nothing_archived(UNKNOWN.to_owned()).await),
            SearchAnswer::AmbiguousTag => Err(AMBIGUOUS.to_owned()),
        }
    }

    /// Why nothing was found: nothing of this reader is there, or what is said.
    async fn or_nothing_archived(&self, reason: String) -> String {
        match self.store.has_content(self.reader.clone()).await {
            Ok(false) => NOTHING_ARCHIVED.to_owned(),
            _ => reason,
        }
    }

    /// The conversation of this reader that was heard last.
    pub(super) async fn latest(&self) -> Result<louver_store::ConversationId, String> {
        let whose = Whose::Only(self.reader.clone());
        let page = self.store.conversations(whose, PageRequest::first(1)).await.map_err(|error| error.to_string())?;
        let first = page.rows.into_iter().next().map(|row| row.info.id);
        first.ok_or_else(|| "no conversation of yours is kept yet".to_owned())
    }
}

const UNKNOWN: &str = "no conversation of yours in this archive is known by this tag";
const AMBIGUOUS: &str = "several conversations have this tag; more of its digits tell them apart";

/// A ledger's tag, if there is one, and what is behind it.
fn tagged(what: &str) -> (Option<ChainTag>, &str) {
    let tag = what.split_once(':').and_then(|(tag, rest)| Some((tag.trim().parse().ok()?, rest.trim())));
    tag.map_or((None, what), |(tag, rest)| (Some(tag), rest))
}

/// As many messages as fit, and how to have the next.
fn paged(messages: &[ArchivedMessage], next: Option<u32>, cursor: Cursor) -> String {
    let (mut page, mut offset) = (String::new(), cursor.offset);
    for message in messages {
        let index = message.place.index as usize;
        let text = with_role(message);
        let start = (0..=offset.min(text.len())).rev().find(|start| text.is_char_boundary(*start)).unwrap_or_default();
        let heading = format!("[louver:{index}]{}\n", if start > 0 { " (continued)" } else { "" });
        if !page.is_empty() && !has_room(&page) {
            return goes_on(page, Cursor { index, offset: start });
        }
        page.push_str(&heading);
        let part = fitting(&page, &text[start..]);
        page.push_str(part);
        if start + part.len() < text.len() {
            return goes_on(page, Cursor { index, offset: start + part.len() });
        }
        page.push('\n');
        offset = 0;
    }
    match next {
        Some(next) => goes_on(page, Cursor { index: next as usize, offset: 0 }),
        None => page,
    }
}

fn goes_on(mut page: String, cursor: Cursor) -> String {
    let _ = write!(page, "\n(more: the same with \"cursor\": \"{}.{}\")", cursor.index, cursor.offset);
    page
}

/// Everything that is written in a message, and who wrote it.
fn with_role(archived: &ArchivedMessage) -> String {
    let Ok(message) = Message::parse(archived.place.format, &archived.raw) else { return archived.raw.to_string() };
    format!("{}:\n{}", message.shape().role.name(), written(&message))
}

/// Everything that is written in a message.
pub(crate) fn written(message: &Message) -> String {
    let mut text = String::new();
    for part in message.shape().parts.iter().filter(|part| part.chars > 0) {
        match part.kind {
            PartKind::Media(_) => {
                let _ = writeln!(text, "({} characters of media)", part.chars);
            }
            PartKind::ToolCall | PartKind::ServerToolCall => {
                let _ = writeln!(text, "{} {}", message.name_of(part), message.text_of(part));
            }
            _ => {
                let _ = writeln!(text, "{}", message.text_of(part));
            }
        }
    }
    text
}

/// Passages, the best first, each with where it stands.
fn found(hits: &[ArchiveHit]) -> String {
    let mut page = String::new();
    for hit in hits {
        if !has_room(&page) {
            break;
        }
        let _ = writeln!(page, "[{}:{}]", hit.place.chain.tag(TAG_BYTES), hit.place.index);
        let text = fitting(&page, &hit.text).to_owned();
        let _ = writeln!(page, "{text}\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::{Cursor, tagged};

    #[test]
    fn a_tag_is_told_from_words() {
        let (tag, rest) = tagged("0a1b2c3d4e5f:12");
        assert_eq!((tag.unwrap().to_string().as_str(), rest), ("0a1b2c3d4e5f", "12"));
        assert_eq!(tagged("[louver:12]"), (None, "[louver:12]"));
        assert_eq!(tagged("error: not found"), (None, "error: not found"));
    }

    #[test]
    fn cursors_are_read_back() {
        assert_eq!(Cursor::parse("12.345"), Some(Cursor { index: 12, offset: 345 }));
        assert_eq!(Cursor::parse("12"), None);
    }
}
