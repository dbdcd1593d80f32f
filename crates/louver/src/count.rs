//! What a message costs.

use crate::tokens::{Counter, Factor, Image, Millitokens};
use crate::wire::{Body, MediaKind, Message, Part, PartKind};

/// Counts everything of a message that the model reads. O(its bytes) the first time; the last count of a counter of
/// Louver's own stays with the message.
///
/// ```
/// use louver::count::count_message;
/// use louver::tokens::Chars4;
/// use louver::wire::{Format, Message};
///
/// let message = Message::parse(Format::OpenAiChat, r#"{"role":"user","content":"Hello world"}"#).unwrap();
/// assert_eq!(count_message(&Chars4, &message).ceil_tokens(), 3);
/// ```
#[must_use]
pub fn count_message(counter: &dyn Counter, message: &Message) -> Millitokens {
    let parts = &message.shape().parts;
    // What an image counts depends on more than the counter's name.
    let has_media = || parts.iter().any(|part| matches!(part.kind, PartKind::Media(_)));
    let id = counter.id().filter(|_| !has_media());
    if let Some(known) = id.and_then(|id| message.last_count().get(id)) {
        return known;
    }
    let amount = parts.iter().map(|part| count_part(counter, message, part)).sum();
    if let Some(id) = id {
        message.last_count().set(id, amount);
    }
    amount
}

/// Counts one part; the parts nested in it count for themselves.
#[must_use]
pub fn count_part(counter: &dyn Counter, message: &Message, part: &Part) -> Millitokens {
    if let PartKind::Media(kind) = part.kind {
        return count_media(counter, message, part, kind);
    }
    if part.chars == 0 {
        return Millitokens::ZERO;
    }
    if let Some(amount) = counter.by_length(u64::from(part.chars)) {
        return amount;
    }
    let text = counter.text(&message.text_of(part));
    if part.name.is_empty() { text } else { text + counter.text(&message.name_of(part)) }
}

/// System prompt and tool definitions, which every request pays.
#[must_use]
pub fn count_overhead(counter: &dyn Counter, body: &Body) -> Millitokens {
    let system: Millitokens = body.system_texts().iter().map(|text| counter.text(text)).sum();
    let tools = body.tools_json().map_or(Millitokens::ZERO, |json| counter.text(&json));
    system + tools
}

/// What a count comes to at its place in the log: a caller's own figure scales the messages that it covers, and what stands
/// before a provider's compaction costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scale {
    factor: Factor,
    /// The messages before this one are scaled.
    covered: usize,
    /// The messages before this one are not seen by the model.
    pub(crate) unseen: usize,
}

impl Scale {
    /// Scales the messages before `covered` from what was counted to what was reported, upward by no more than the
    /// counter's stated error.
    pub(crate) fn set(&mut self, covered: usize, counted: Millitokens, reported: Millitokens, counter: &dyn Counter) {
        let most = Factor::from_millionths(1_000_000 + (counter.stated_error() * 1e6) as u64);
        let quotient = Factor::ratio(reported.thousandths(), counted.thousandths()).unwrap_or(Factor::ONE);
        (self.factor, self.covered) = (quotient.min(most), covered);
    }

    /// What a message costs.
    pub(crate) fn of(self, index: usize, counted: Millitokens) -> Millitokens {
        match index {
            _ if index < self.unseen => Millitokens::ZERO,
            _ if index < self.covered => self.of_frame(counted),
            _ => counted,
        }
    }

    /// What system and tools cost.
    pub(crate) fn of_frame(self, counted: Millitokens) -> Millitokens {
        counted.scaled_down(self.factor)
    }
}

/// Base64 is never counted as text.
fn count_media(counter: &dyn Counter, message: &Message, part: &Part, kind: MediaKind) -> Millitokens {
    let data = message.media_of(part);
    let media_type = message.name_of(part);
    let media_type = (!media_type.is_empty()).then_some(&*media_type);
    let base64 = match data.split_once("base64,") {
        Some((_, base64)) => base64,
        None if data.contains("://") => "",
        None => data,
    };
    if base64.is_empty() && kind != MediaKind::Image {
        return Millitokens::ZERO;
    }
    counter.image(&Image { base64, url: base64.is_empty(), detail: None, media_type })
}
