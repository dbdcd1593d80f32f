//! A strict local stand-in for the Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini APIs.

mod anthropic;
mod body;
mod clock;
mod counter;
mod fingerprint;
mod format;
mod gemini;
mod judge;
mod models;
mod openai_chat;
mod openai_responses;
mod violation;

pub use clock::{Clock, ManualClock, SystemClock};
pub use counter::Counter;
pub use format::{Format, UnknownFormat};
pub use judge::judge;
pub use violation::Violation;
