//! Finds again what was left out of a conversation.
