//! Why a request is not answered, and how the answer to that is carried.

use serde_json::Value;

use crate::Violation;

/// Why a request gets an error instead of an answer. Each format has its own words for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    MissingKey,
    /// With as much of the key as may be shown.
    BadKey {
        shown: String,
    },
    UnknownPath {
        method: String,
        path: String,
    },
    Malformed {
        reason: String,
    },
    TooLarge {
        limit: usize,
    },
    MissingField {
        field: &'static str,
    },
    Illegal(Violation),
    Overflow {
        input: u64,
        window: u64,
        is_new_model: bool,
    },
    /// Input and the room for the reply together do not fit.
    NoReplyRoom {
        input: u64,
        reply: u64,
        window: u64,
    },
    UnknownModel {
        model: String,
    },
    UnknownResponse {
        id: String,
    },
    RateLimited {
        retry_after_seconds: Option<u64>,
    },
    ServerError,
    Overloaded,
}

/// An error as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    pub(crate) retry_after_seconds: Option<u64>,
    pub(crate) body: Value,
}

impl ErrorReply {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self { status, retry_after_seconds: None, body }
    }
}
