//! Louver for Node: the engine as a native addon.
//!
//! Everything is decided by the engine, and what faces have in common is in `louver_face`. Objects stay on the other side:
//! V8 writes JSON faster than it lets anybody look into an object. So texts come in, and what goes out says which of them
//! stay ([`View`]); the package in `ts/` gives the same objects back. Structured values cross as JSON, errors as well.

mod conversations;
mod errors;
mod functions;
mod replay;
mod view;
mod window;
