//! Bodies that stream, and that break the way a fault says.

use std::collections::VecDeque;
use std::io;

use axum::body::Body;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::Fault;
use crate::connection::ResetSwitch;

/// How a body ends.
#[derive(Debug)]
enum Ending {
    /// As it should.
    Clean,
    /// The connection breaks.
    Break,
    /// Nothing more comes until the server stops.
    Stall,
}

impl Ending {
    fn of(fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::Reset) => Self::Break,
            Some(Fault::Stall) => Self::Stall,
            _ => Self::Clean,
        }
    }
}

/// What keeps a body alive, and what ends it.
pub(crate) struct Lease {
    pub(crate) _permit: OwnedSemaphorePermit,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) reset: ResetSwitch,
}

/// The body of an answer in one piece.
pub(crate) fn whole(text: &str, fault: Option<Fault>, lease: Lease) -> Body {
    let text = match fault {
        Some(Fault::Reset | Fault::Stall | Fault::Truncate) => &text[..char_boundary(text, text.len() / 2)],
        _ => text,
    };
    match Ending::of(fault) {
        Ending::Clean => Body::from(text.to_owned()),
        ending => body(VecDeque::from([text.to_owned()]), ending, lease),
    }
}

/// The body of an answer in events.
pub(crate) fn events(events: Vec<String>, error_event: String, fault: Option<Fault>, lease: Lease) -> Body {
    let mut events = VecDeque::from(events);
    let half = events.len().div_ceil(2);
    match fault {
        Some(Fault::Reset | Fault::Stall) => events.truncate(half),
        Some(Fault::Truncate) => {
            let cut = events.get(half).or(events.back()).map(|event| cut(event));
            events.truncate(half);
            events.extend(cut);
        }
        Some(Fault::StreamError) => {
            events.truncate(half);
            events.push_back(error_event);
        }
        _ => {}
    }
    body(events, Ending::of(fault), lease)
}

/// The last place not after `index` at which a text can be cut.
fn char_boundary(text: &str, index: usize) -> usize {
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// An event whose JSON stops in the middle.
fn cut(event: &str) -> String {
    let whole = event.trim_end();
    let end = char_boundary(whole, whole.len() * 3 / 4);
    format!("{}\n\n", &whole[..end])
}

fn body(chunks: VecDeque<String>, ending: Ending, lease: Lease) -> Body {
    Body::from_stream(stream::unfold(Some((chunks, ending, lease)), next))
}

type Rest = Option<(VecDeque<String>, Ending, Lease)>;

async fn next(rest: Rest) -> Option<(Result<String, io::Error>, Rest)> {
    let (mut chunks, ending, mut lease) = rest?;
    if let Some(chunk) = chunks.pop_front() {
        return Some((Ok(chunk), Some((chunks, ending, lease))));
    }
    match ending {
        Ending::Clean => None,
        Ending::Break => {
            // What was said before must be on its way when the connection breaks.
            tokio::task::yield_now().await;
            lease.reset.throw();
            Some((Err(io::ErrorKind::ConnectionReset.into()), None))
        }
        Ending::Stall => {
            let stopped = lease.stopping.wait_for(|stopping| *stopping).await;
            drop(stopped);
            Some((Err(io::ErrorKind::ConnectionAborted.into()), None))
        }
    }
}
