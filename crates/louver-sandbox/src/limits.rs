use std::time::Duration;

/// The bounds of a sandbox. Everything it keeps or accepts has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request body; more is answered with the provider's "too large".
    pub max_body_bytes: usize,
    /// Requests in the journal; the oldest go first.
    pub max_journal_entries: usize,
    /// Violations that one entry of the journal names; the rest of them are left out.
    pub max_journal_violations: usize,
    /// Runs in progress; the least recently used is forgotten first.
    pub max_runs: usize,
    /// Requests at one time; more are answered with the provider's "overloaded".
    pub max_concurrent_requests: usize,
    /// How long a request's head may take to arrive, and its body after that.
    pub read_timeout: Duration,
    /// Prefixes in the cache books; the ones that expire first go first.
    pub max_cache_entries: usize,
    /// Answers kept for `previous_response_id`; the oldest go first.
    pub max_stored_responses: usize,
    /// Bytes of all of them together.
    pub max_stored_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 32 * 1024 * 1024,
            max_journal_entries: 10_000,
            max_journal_violations: 100,
            max_runs: 1_024,
            max_concurrent_requests: 256,
            read_timeout: Duration::from_secs(30),
            max_cache_entries: 200_000,
            max_stored_responses: 64,
            max_stored_bytes: 64 * 1024 * 1024,
        }
    }
}
