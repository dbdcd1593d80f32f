//! Times as files spell them.

/// Milliseconds since 1970 of an RFC 3339 time.
pub(super) fn millis(text: Option<&str>) -> Option<i64> {
    let time: jiff::Timestamp = text?.parse().ok()?;
    Some(time.as_millisecond())
}

/// Neither a day nor a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the date `{0}`: expected a day such as 2026-03-01 or a time such as 2026-03-01T10:00:00Z")]
pub struct NoMoment(String);

/// The start of a day (UTC), or a time, in milliseconds since 1970.
///
/// # Errors
///
/// Text that is neither.
///
/// ```
/// use louver_replay::input::since;
///
/// assert_eq!(since("1970-01-02"), Ok(86_400_000));
/// assert_eq!(since("1970-01-01T00:00:01Z"), Ok(1_000));
/// assert!(since("yesterday").is_err());
/// ```
pub fn since(text: &str) -> Result<i64, NoMoment> {
    let day = || millis(Some(&format!("{text}T00:00:00Z")));
    millis(Some(text)).or_else(day).ok_or_else(|| NoMoment(text.to_owned()))
}
