//! What time it is.

use louver_store::UnixMillis;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time, for records and the account. No decision depends on it.
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
