use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::tools::excerpt::Excerpt;

/// What a server says on its standard error, of which a little is kept for when it does not start.
#[derive(Debug)]
pub(super) struct Diagnostics {
    kept: Arc<Mutex<Excerpt>>,
    reader: JoinHandle<()>,
}

const KEPT_BYTES: usize = 600;
const DRAIN_TIME: Duration = Duration::from_millis(500);

impl Diagnostics {
    pub(super) fn new(mut stderr: ChildStderr) -> Self {
        let kept = Arc::new(Mutex::new(Excerpt::new(KEPT_BYTES)));
        let reader = tokio::spawn({
            let kept = Arc::clone(&kept);
            async move {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
                }
            }
        });
        Self { kept, reader }
    }

    /// What was said until the server ended; somebody who got away from it is not waited for.
    pub(super) async fn into_text(mut self) -> String {
        let _ = timeout(DRAIN_TIME, &mut self.reader).await;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *kept, Excerpt::new(0)).into_text().trim().to_owned()
    }
}

impl Drop for Diagnostics {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
