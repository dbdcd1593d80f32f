use serde::{Deserialize, Serialize};

/// Something that goes wrong with one request. It happens once; the next request goes on with the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fault {
    /// 429, with a `retry-after` in seconds or without.
    RateLimit {
        /// What the `retry-after` header says, if it is there.
        #[serde(default)]
        retry_after_seconds: Option<u64>,
    },
    /// 500.
    ServerError,
    /// 529 from Anthropic, 503 from the others.
    Overloaded,
    /// The answer starts and the connection breaks off in the middle.
    Reset,
    /// The answer starts and then nothing more comes.
    Stall,
    /// The stream ends within the JSON of an event; an answer in one piece ends within its JSON.
    Truncate,
    /// The stream ends with the provider's error event; an answer in one piece is a 500.
    StreamError,
    /// A whole answer, but the arguments of its calls are no JSON. Where the wire format cannot say that, because
    /// arguments are an object, they are an empty one.
    MalformedArguments,
}
