//! Why a request is not answered, and how the answer to that is carried.

use serde_json::Value;

use crate::Violation;

/// What no provider says: the stand-in serves this machine, whatever name leads to it.
pub(crate) const FOREIGN_HOST: &str =
    "the sandbox answers requests to this machine only (Host: localhost or 127.0.0.1)";

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
    /// The body did not arrive in time.
    TooSlow,
    /// The request is meant for another machine.
    ForeignHost,
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

impl Refusal {
    /// Refuses what breaks a rule.
    pub(crate) fn if_any(violation: Option<Violation>) -> Result<(), Self> {
        violation.map_or(Ok(()), |violation| Err(Self::Illegal(violation)))
    }
}

/// An error as it goes over the wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    pub(crate) retry_after_seconds: Option<u64>,
    pub(crate) body: Value,
}

impl ErrorReply {
    /// The answer to a refusal; some say when to come back.
    pub(crate) fn new(refusal: &Refusal, status: u16, body: Value) -> Self {
        let retry_after_seconds = match refusal {
            Refusal::RateLimited { retry_after_seconds } => *retry_after_seconds,
            _ => None,
        };
        Self { status, retry_after_seconds, body }
    }
}
