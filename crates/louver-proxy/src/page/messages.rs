//! A message that was left out, whole.

use super::asked::Query;
use super::{Fault, Page};
use crate::mcp::written;
use louver::Message;
use louver::address::Address;
use louver_store::{ArchivedMessage, ChainPoint, ChainTag, RecallRequest, Recalled};
use serde_json::{Value, json};

/// How many bytes of a message come at a time.
const PIECE_BYTES: usize = 64 << 10;

impl Page {
    /// A message by its index, on the chain that is named, else on the one that the conversation was last heard on.
    pub(super) async fn message(&self, id: &str, index: &str, query: &Query) -> Result<Value, Fault> {
        let index: u32 = index.parse().map_err(|_| Fault::Missing)?;
        let account = self.account(id).await?;
        if !self.may_read(&account) {
            return Err(Fault::Missing);
        }
        let point = match query.get("chain") {
            Some(tag) => ChainPoint::Tag(tag.parse::<ChainTag>()?),
            None => ChainPoint::Newest(id.into()),
        };
        let address = Address::of(index as usize);
        let request = RecallRequest { reader: self.reader.clone(), point, address, max_bytes: PIECE_BYTES };
        let Recalled::Messages { messages, .. } = self.store.recall(request).await? else { return Err(Fault::Missing) };
        let message = messages.first().ok_or(Fault::Missing)?;
        Ok(told(message, query.number("offset")?.unwrap_or(0)))
    }
}

fn told(archived: &ArchivedMessage, offset: usize) -> Value {
    let parsed = Message::parse(archived.place.format, &archived.raw).ok();
    let text = parsed.as_ref().map_or_else(|| archived.raw.to_string(), written);
    let (start, end) = (floor(&text, offset), floor(&text, offset.saturating_add(PIECE_BYTES)));
    json!({
        "index": archived.place.index,
        "role": parsed.as_ref().map(|message| message.shape().role.name()),
        "text": text[start..end],
        "next_offset": Some(end).filter(|end| *end < text.len()),
        "bytes": text.len(),
    })
}

/// The last place at or before this one at which a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}
