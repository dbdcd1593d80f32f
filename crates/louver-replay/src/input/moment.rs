//! Times as files spell them.

/// Milliseconds since 1970 of an RFC 3339 time.
pub(super) fn millis(text: Option<&str>) -> Option<i64> {
    let time: jiff::Timestamp = text?.parse().ok()?;
    Some(time.as_millisecond())
}
