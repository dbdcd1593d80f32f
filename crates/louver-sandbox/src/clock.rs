use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where the sandbox reads the time from.
pub trait Clock: Debug + Send + Sync {
    /// Time since an origin that stays fixed while the clock lives. It never goes backwards.
    fn elapsed(&self) -> Duration;

    /// Seconds since the Unix epoch, for the `created` fields of answers.
    fn unix_seconds(&self) -> u64;
}

/// The machine's clock.
#[derive(Debug, Clone)]
pub struct SystemClock {
    origin: Instant,
}

/// Its origin is now.
impl Default for SystemClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn elapsed(&self) -> Duration {
        self.origin.elapsed()
    }

    fn unix_seconds(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// A clock that only moves when told to, so that time-outs are tested without waiting.
///
/// ```
/// use louver_sandbox::{Clock, ManualClock};
/// use std::time::Duration;
///
/// let clock = ManualClock::default();
/// clock.advance(Duration::from_secs(301));
/// assert_eq!(clock.elapsed(), Duration::from_secs(301));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    millis: AtomicU64,
}

impl ManualClock {
    /// Moves the clock forward; parts of a millisecond are lost.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.millis.load(Ordering::SeqCst))
    }

    fn unix_seconds(&self) -> u64 {
        const START: u64 = 1_790_000_000;
        START + self.elapsed().as_secs()
    }
}
