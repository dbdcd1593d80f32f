//! Looks at an answer before anything of it is shown.

use crate::answer_body::Rest;
use crate::coding::{self, Coding};
use crate::limits::Limits;
use crate::tee::{FirstReal, Tee};
use bytes::Bytes;
use http::response::Parts;
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use louver::Format;
use louver::refusal::{ErrorText, OverflowFigures, Refusal};
use tokio::time::{Instant, timeout_at};

/// An answer of which a beginning has been read and nothing shown.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) parts: Parts,
    /// What has been read, as it came.
    pub(crate) held: Vec<Frame<Bytes>>,
    pub(crate) rest: Rest,
    /// Has seen what is held.
    pub(crate) tee: Tee,
    /// Why the provider refused, if it did and if that can be helped.
    pub(crate) refusal: Option<Refusal>,
}

/// Reads as much of an answer as it takes to know whether it is a refusal that can be helped: of an error all, of a stream
/// up to the first event that matters if that is wanted, of everything else nothing.
pub(crate) async fn examine(
    response: Response<Incoming>,
    format: Format,
    holds_leading_events: bool,
    limits: &Limits,
) -> Examined {
    let (parts, body) = response.into_parts();
    let tee = Tee::new(format, &parts.headers);
    let mut examined = Examined { parts, held: Vec::new(), rest: Rest::Incoming(body), tee, refusal: None };
    let deadline = Instant::now() + limits.held;
    match examined.parts.status {
        StatusCode::BAD_REQUEST
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::TOO_MANY_REQUESTS => {
            examined.read(deadline, limits.max_refusal_bytes, |_| false).await;
            examined.refusal = examined.refusal_of_body(limits.max_refusal_bytes);
        }
        status if status.is_success() && holds_leading_events && examined.tee.is_stream() => {
            examined.read(deadline, limits.max_held_bytes, |tee| tee.first_real().is_some()).await;
            examined.refusal = examined.refusal_of_stream();
        }
        _ => {}
    }
    examined
}

impl Examined {
    /// Reads until enough is known, the body ends, so many bytes are held, or the time is over.
    async fn read(&mut self, deadline: Instant, max_bytes: usize, mut is_enough: impl FnMut(&mut Tee) -> bool) {
        let mut bytes = 0;
        while let Rest::Incoming(body) = &mut self.rest {
            let Ok(frame) = timeout_at(deadline, body.frame()).await else { return };
            match frame {
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        bytes += data.len();
                        self.tee.push(data);
                    }
                    self.held.push(frame);
                }
                Some(Err(error)) => self.rest = Rest::Broken(error),
                None => self.rest = Rest::Ended,
            }
            if bytes > max_bytes || is_enough(&mut self.tee) {
                return;
            }
        }
    }

    fn refusal_of_body(&self, max_bytes: usize) -> Option<Refusal> {
        if !matches!(self.rest, Rest::Ended) {
            return None;
        }
        let raw: Vec<u8> = self.held.iter().filter_map(Frame::data_ref).flat_map(|data| data.iter().copied()).collect();
        let body = match Coding::of(&self.parts.headers) {
            Ok(None) => raw,
            // What cannot be decoded may still have a status that says enough.
            Ok(Some(coding)) => coding::decode(coding, &raw, max_bytes).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let said = ErrorText::of_body(&body);
        let by_status = || {
            let is_too_large = self.parts.status == StatusCode::PAYLOAD_TOO_LARGE;
            is_too_large.then(|| Refusal::Overflow(OverflowFigures::default()))
        };
        Refusal::recognise(&said.code, &said.message).or_else(by_status)
    }

    fn refusal_of_stream(&mut self) -> Option<Refusal> {
        match self.tee.first_real()? {
            FirstReal::Content => None,
            FirstReal::Failed(said) => Refusal::recognise(&said.code, &said.message),
        }
    }
}
