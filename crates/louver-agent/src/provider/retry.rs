//! When to try again.

use super::ProviderError;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How often and how long to wait before a failed call is tried again.
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// Tries after the first.
    pub max_retries: u32,
    /// The wait before the second try; it doubles from there.
    pub initial_delay: Duration,
    /// The longest wait of our own choosing.
    pub max_delay: Duration,
    /// The longest wait a provider may ask for; beyond it the call fails instead.
    pub max_retry_after: Duration,
    /// What keeps many clients from coming back at the same moment.
    pub jitter: Jitter,
}

/// What is taken off a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Nothing, so that waits can be foretold.
    None,
    /// Up to a half, differently each time.
    Random,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 5,
            initial_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            max_retry_after: Duration::from_secs(120),
            jitter: Jitter::Random,
        }
    }
}

impl RetryPolicy {
    /// The wait before the next try, if there is to be one. `failed` counts the tries so far, the first is 1.
    pub fn wait(&self, failed: u32, error: &ProviderError) -> Option<Duration> {
        if failed > self.max_retries || !error.is_retryable() {
            return None;
        }
        match error.retry_after() {
            Some(asked) => (asked <= self.max_retry_after).then_some(asked),
            None => Some(self.backoff(failed)),
        }
    }

    fn backoff(&self, failed: u32) -> Duration {
        let doublings = failed.saturating_sub(1).min(16);
        let full = self.initial_delay.saturating_mul(1 << doublings).min(self.max_delay);
        match self.jitter {
            Jitter::None => full,
            // A fresh hasher has random keys, and that is all the randomness needed here.
            Jitter::Random => {
                let share = u32::try_from(RandomState::new().hash_one(failed) % 500).unwrap_or_default();
                full - full / 1000 * share
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, retry_after: Option<u64>) -> ProviderError {
        ProviderError::refused(status, "{}", retry_after.map(Duration::from_secs))
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let policy = RetryPolicy { jitter: Jitter::None, max_retries: 9, ..RetryPolicy::default() };
        let waits: Vec<u128> =
            (1..=9).map(|failed| policy.wait(failed, &error(500, None)).unwrap().as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    }

    #[test]
    fn a_providers_own_wait_is_honoured_up_to_a_bound() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, &error(429, Some(7))), Some(Duration::from_secs(7)));
        assert_eq!(policy.wait(1, &error(429, Some(0))), Some(Duration::ZERO));
        assert_eq!(policy.wait(1, &error(429, Some(3600))), None);
    }

    #[test]
    fn tries_are_bounded_and_refusals_are_final() {
        let policy = RetryPolicy { max_retries: 2, ..RetryPolicy::default() };
        assert!(policy.wait(2, &error(529, None)).is_some());
        assert_eq!(policy.wait(3, &error(529, None)), None);
        assert_eq!(policy.wait(1, &error(400, None)), None);
    }

    #[test]
    fn jitter_takes_off_half_at_most() {
        let policy = RetryPolicy::default();
        for _ in 0..100 {
            let wait = policy.wait(1, &error(500, None)).unwrap().as_millis();
            assert!((250..=500).contains(&wait), "{wait}");
        }
    }
}
