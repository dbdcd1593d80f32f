//! A model request's body: read within bounds, and decoded.

use crate::coding::{self, Coding, Undecodable};
use crate::limits::Limits;
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// What one permit of the common room stands for.
const ROOM_UNIT: usize = 16 * 1024;

/// Large bodies get room in such steps. Allocators give memory of a size that they had before again at once; what is larger than
/// ever comes page by page from the operating system, and every request of a conversation is a little larger.
const CAPACITY_STEP: usize = 256 * 1024;

/// Bodies above this are decoded off the threads that move bytes.
const DECODED_AT_ONCE: usize = 32 * 1024;

/// The room that bodies share.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

impl Room {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new((bytes / ROOM_UNIT).min(Semaphore::MAX_PERMITS))))
    }

    async fn take(&self, bytes: usize, limits: &Limits) -> Result<Option<OwnedSemaphorePermit>, NotReceived> {
        let units = u32::try_from(bytes.div_ceil(ROOM_UNIT)).map_err(|_| NotReceived::TooLarge)?;
        if units == 0 {
            return Ok(None);
        }
        let room = Arc::clone(&self.0).acquire_many_owned(units);
        match timeout(limits.upload_idle, room).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(NotReceived::NoRoom),
        }
    }
}

/// A body that has been received.
#[derive(Debug)]
pub(crate) struct Received {
    /// As it came.
    pub(crate) raw: Bytes,
    /// Decoded; `None` if its coding is unknown or broken, so that nobody can say what is in it.
    pub(crate) text: Option<Text>,
    /// The room it takes, given back when it is dropped.
    _room: Vec<OwnedSemaphorePermit>,
}

/// What a body says.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) bytes: Bytes,
    /// The same memory, where it is UTF-8.
    pub(crate) utf8: Option<Arc<String>>,
}

impl Text {
    fn new(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = Arc::new(text);
                Self { bytes: Bytes::from_owner(Shared(Arc::clone(&text))), utf8: Some(text) }
            }
            Err(error) => Self { bytes: error.into_bytes().into(), utf8: None },
        }
    }
}

struct Shared(Arc<String>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Why a body was not received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotReceived {
    TooLarge,
    Slow,
    NoRoom,
    /// The client broke off.
    Gone,
}

/// Reads a body to its end and undoes its coding.
pub(crate) async fn receive(
    body: Incoming,
    headers: &HeaderMap,
    room: &Room,
    limits: &Limits,
) -> Result<Received, NotReceived> {
    // In a task of its own: whoever takes a piece wakes the connection's task, and a task that wakes itself wakes a thread.
    let mut reading = JoinSet::new();
    reading.spawn(read_in_time(body, room.clone(), limits.clone()));
    let read = reading.join_next().await.and_then(Result::ok);
    let (raw, mut taken) = read.unwrap_or(Err(NotReceived::Gone))?;
    let (raw, text) = match Coding::of(headers) {
        Ok(None) => {
            let text = Text::new(raw);
            (text.bytes.clone(), Some(text))
        }
        Ok(Some(coding)) => {
            let raw = Bytes::from(raw);
            let text = decoded(coding, &raw, limits).await?.map(Text::new);
            (raw, text)
        }
        Err(_) => (raw.into(), None),
    };
    if let Some(text) = text.as_ref().filter(|_| headers.contains_key(header::CONTENT_ENCODING)) {
        taken.extend(room.take(text.bytes.len(), limits).await?);
    }
    Ok(Received { raw, text, _room: taken })
}

async fn read_in_time(
    body: Incoming,
    room: Room,
    limits: Limits,
) -> Result<(Vec<u8>, Vec<OwnedSemaphorePermit>), NotReceived> {
    let mut taken = Vec::new();
    let raw = timeout(limits.upload_total, read(body, &room, &limits, &mut taken)).await;
    Ok((raw.unwrap_or(Err(NotReceived::Slow))?, taken))
}

async fn read(
    mut body: Incoming,
    room: &Room,
    limits: &Limits,
    taken: &mut Vec<OwnedSemaphorePermit>,
) -> Result<Vec<u8>, NotReceived> {
    let max = limits.max_body_bytes;
    let announced = body.size_hint().exact().map_or(Ok(0), usize::try_from).map_err(|_| NotReceived::TooLarge)?;
    if announced > max {
        return Err(NotReceived::TooLarge);
    }
    taken.extend(room.take(announced, limits).await?);
    let mut paid = announced;
    let mut bytes = Vec::new();
    while let Some(frame) = timeout(limits.upload_idle, body.frame()).await.map_err(|_| NotReceived::Slow)? {
        let Ok(data) = frame.map_err(|_| NotReceived::Gone)?.into_data() else { continue };
        if bytes.len() + data.len() > max {
            return Err(NotReceived::TooLarge);
        }
        if bytes.is_empty() {
            let is_large = announced >= CAPACITY_STEP;
            bytes.reserve_exact(if is_large { announced.next_multiple_of(CAPACITY_STEP) } else { announced });
        }
        bytes.extend_from_slice(&data);
        if bytes.len() > paid {
            taken.extend(room.take(bytes.len() - paid, limits).await?);
            paid = bytes.len();
        }
    }
    Ok(bytes)
}

async fn decoded(coding: Coding, raw: &Bytes, limits: &Limits) -> Result<Option<Vec<u8>>, NotReceived> {
    let max = limits.max_body_bytes;
    let text = if raw.len() <= DECODED_AT_ONCE {
        coding::decode(coding, raw, max)
    } else {
        let raw = raw.clone();
        let task = tokio::task::spawn_blocking(move || coding::decode(coding, &raw, max));
        task.await.unwrap_or(Err(Undecodable::Broken))
    };
    match text {
        Ok(text) => Ok(Some(text)),
        Err(Undecodable::TooLarge) => Err(NotReceived::TooLarge),
        Err(Undecodable::Broken) => Ok(None),
    }
}
