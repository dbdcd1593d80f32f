//! Waiting for a store that is away.

use super::Keeper;
use crate::brain::{OwnRefusal, OwnRefusalKind};
use louver_store::Error;
use std::time::{Duration, Instant};

/// When a client is asked to come back.
const RETRY_AFTER_SECONDS: u32 = 20;

/// How long to wait before the store is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// How much longer than a request may wait one try can take: others may be before it.
const GRACE: Duration = Duration::from_secs(10);

/// Why nothing can be decided now.
#[derive(Debug)]
pub(super) enum Halt {
    /// The store does not answer; it may later.
    Store(Error),
    /// Something else, which the client is told.
    Refuse(OwnRefusal),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<OwnRefusal> for Halt {
    fn from(refusal: OwnRefusal) -> Self {
        Self::Refuse(refusal)
    }
}

impl Keeper {
    /// Tries until the store answers, for as long as a request may wait. Nothing is held between two tries, so that nobody
    /// waits for somebody who waits.
    ///
    /// # Errors
    ///
    /// What the client is told if it did not answer in time.
    pub(super) async fn insist<T, E: Into<Halt>, F: Future<Output = Result<T, E>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, OwnRefusal> {
        let start = Instant::now();
        let mut place = None;
        loop {
            let left = self.settings.store_wait.saturating_sub(start.elapsed());
            let Ok(tried) = tokio::time::timeout(left + GRACE, attempt()).await else {
                tracing::error!("a conversation is waited for too long; a request is turned away");
                return Err(unavailable("Louver's store does not answer"));
            };
            match tried.map_err(Into::into) {
                Ok(answer) => return Ok(answer),
                Err(Halt::Refuse(refusal)) => return Err(refusal),
                Err(Halt::Store(error)) if error.is_transient() && !left.is_zero() => {
                    if place.is_none() {
                        place = Some(self.waiting.try_acquire().map_err(|_| too_many())?);
                    }
                    tracing::warn!(%error, "the store does not answer; a request waits");
                    tokio::time::sleep(PAUSE.min(left)).await;
                }
                Err(Halt::Store(error)) => {
                    tracing::error!(%error, "the store does not answer; a request is turned away");
                    return Err(unavailable("Louver's store does not answer"));
                }
            }
        }
    }
}

fn too_many() -> OwnRefusal {
    tracing::error!("too many requests wait for the store; one more is turned away");
    unavailable("too many requests wait for Louver's store")
}

pub(super) fn unavailable(message: &str) -> OwnRefusal {
    let kind = OwnRefusalKind::Unavailable { retry_after_seconds: RETRY_AFTER_SECONDS };
    OwnRefusal { kind, message: format!("{message}; try again") }
}
