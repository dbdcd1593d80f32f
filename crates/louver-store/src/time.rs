//! When something happened.

/// Milliseconds since the start of 1970 (UTC). The store has no clock: whoever calls says what time it is.
///
/// ```
/// use louver_store::UnixMillis;
///
/// let now = UnixMillis(1_000);
/// assert_eq!((now.plus_days(2), now.plus_days(-1)), (UnixMillis(172_801_000), UnixMillis(-86_399_000)));
/// assert_eq!((now.plus_days(2).day(), now.plus_days(-1).day()), (2, -1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    pub(crate) const DAY: i64 = 24 * 60 * 60 * 1000;

    /// The day it is on (UTC), counted from the start of 1970.
    #[must_use]
    pub fn day(self) -> i64 {
        self.0.div_euclid(Self::DAY)
    }

    /// So many days later, or earlier.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.saturating_mul(Self::DAY)))
    }
}
