//! Stands between a client and its provider and keeps every conversation inside the window.
//!
//! The *data path* moves bytes: it routes, reads request bodies within bounds, passes answers on as they come, reads along
//! what they say about themselves, and sends a refused request once more if told to. What goes out is decided by a
//! [`Brain`]; the data path knows no conversations.

mod access;
mod answer_body;
mod answers;
mod archive;
mod bind_error;
mod brain;
mod client_io;
mod clock;
mod closing;
mod coding;
mod config;
mod connector;
mod conversation;
mod ending;
mod examine;
mod exchange;
mod headers;
mod keeper;
mod left_out;
mod limits;
mod mcp;
mod model_request;
mod outcome;
mod own_error;
mod page;
mod pages;
mod percent;
mod proxy;
mod received;
mod reloader;
mod request_body;
mod request_headers;
mod route;
mod service;
mod tee;
mod upstream;

pub use access::AccessToken;
pub use archive::{Archive, UnknownArchive};
pub use bind_error::BindError;
pub use brain::{
    AfterRefusal, Brain, Conversation, Decided, Decision, OwnRefusal, OwnRefusalKind, PageBody, Passing, Refused,
    Tokens,
};
pub use config::{BadUrl, ProxyConfig, Upstream, UpstreamUrl};
pub use connector::{TlsError, Unreachable, reach};
pub use conversation::{AppliedView, ApplyError, Chain, Item, ViewRecord};
pub use ending::{AnswerUsage, Answered, End, ErrorSaid, Said};
pub use keeper::{Keeper, KeeperSettings, Ticket};
pub use left_out::{NOTHING_ARCHIVED, left_out_at};
pub use limits::Limits;
pub use mcp::McpServer;
pub use model_request::{Mode, ModelRequest, Purpose, Reader, UnknownMode, UpstreamName};
pub use outcome::Outcome;
pub use proxy::Proxy;
pub use reloader::Reloader;
pub use request_headers::RequestHeaders;
