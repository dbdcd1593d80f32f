//! The bounds of everything.

use std::time::Duration;

/// How much of everything the proxy takes, and how long it waits. Every bound has a test that reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest body of a model request, as it comes and decoded. A larger one is a 413.
    pub max_body_bytes: usize,
    /// What the bodies of all model requests may take together until their answers begin. A request waits for room as
    /// long as for its next bytes, then it is a 503.
    pub max_buffered_bytes: usize,
    /// Connections of clients at a time. Further ones wait to be accepted.
    pub max_connections: usize,
    /// How long a client's connection may be silent between requests and within a request's head.
    pub client_idle: Duration,
    /// How long a client may take for the next piece of a body. Then the request is a 408.
    pub upload_idle: Duration,
    /// How long a client may take for the whole body of a model request.
    pub upload_total: Duration,
    /// How long a client may refuse to take the next piece of an answer before its connection is dropped.
    pub client_stall: Duration,
    /// How long connecting to an upstream may take, its TLS included.
    pub connect: Duration,
    /// How long an upstream may take for the head of its answer. A client that says in `x-stainless-timeout` that it waits
    /// longer is believed.
    pub first_byte: Duration,
    /// How long an upstream may be silent within its answer.
    pub upstream_idle: Duration,
    /// How long leading events of a stream are held back when a refusal may follow.
    pub held: Duration,
    /// How many bytes of them.
    pub max_held_bytes: usize,
    /// How much of a refusal is read before it is passed on. A longer one is not understood.
    pub max_refusal_bytes: usize,
    /// How long running answers may take to end once the proxy stops.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 64 << 20,
            max_buffered_bytes: 1 << 30,
            max_connections: 4096,
            client_idle: Duration::from_secs(120),
            upload_idle: Duration::from_secs(30),
            upload_total: Duration::from_secs(600),
            client_stall: Duration::from_secs(300),
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(900),
            upstream_idle: Duration::from_secs(600),
            held: Duration::from_secs(30),
            max_held_bytes: 256 << 10,
            max_refusal_bytes: 64 << 10,
            shutdown_grace: Duration::from_secs(30),
        }
    }
}
