//! Waiting for a store that is away.

use super::Keeper;
use crate::brain::{OwnRefusal, OwnRefusalKind};
use louver_store::Error;
use std::time::{Duration, Instant};

/// When a client is asked to come back.
const RETRY_AFTER_SECONDS: u32 = 20;

/// How long to wait before the store is asked again.
const PAUSE: Duration = Duration::from_millis(250);

impl Keeper {
    /// Asks the store until it answers, for as long as a request may wait.
    ///
    /// # Errors
    ///
    /// What the client is told if it did not answer in time.
    pub(super) async fn insist<T, F: Future<Output = Result<T, Error>>>(
        &self,
        mut ask: impl FnMut() -> F,
    ) -> Result<T, OwnRefusal> {
        let start = Instant::now();
        loop {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(error) if error.is_transient() && start.elapsed() < self.settings.store_wait => {
                    tracing::warn!(%error, "the store does not answer; a request waits");
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => {
                    tracing::error!(%error, "the store does not answer; a request is turned away");
                    return Err(unavailable("Louver's store does not answer"));
                }
            }
        }
    }
}

pub(super) fn unavailable(message: &str) -> OwnRefusal {
    let kind = OwnRefusalKind::Unavailable { retry_after_seconds: RETRY_AFTER_SECONDS };
    OwnRefusal { kind, message: format!("{message}; try again") }
}
