//! A request body, a wrapper, or a bare list of messages.

use super::ReadError;
use crate::conversation::Conversation;
use louver::Body;

pub(super) fn read(name: &str, text: &str) -> Result<Conversation, ReadError> {
    Ok(Conversation::of_body(name, &Body::parse(text, None)?))
}
