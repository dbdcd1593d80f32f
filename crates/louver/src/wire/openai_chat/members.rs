//! The members of a message by name: where they stand, keys included.

use crate::json::{Cursor, Span};

/// A member of the object that a raw message is.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct Member {
    /// Key and value.
    pub(in crate::wire) span: Span,
    /// The value alone.
    pub(in crate::wire) value: Span,
}

/// Every member of this name; a key may well come twice.
pub(in crate::wire) fn members(raw: &str, name: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let mut cursor = Cursor::new(raw);
    let mut end_of_last = 0;
    // The message has been read before, so there is no fault to report.
    let _ = cursor.object(|key, cursor| {
        let value = cursor.skip()?;
        if key == name {
            let key_start = raw[end_of_last..].find('"').map_or(value.start, |at| (end_of_last + at) as u32);
            found.push(Member { span: Span { start: key_start, end: value.end }, value });
        }
        end_of_last = value.end as usize;
        Ok(())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn a_member_is_found_with_its_key_as_often_as_it_comes() {
        let raw = r#"{"a": "\"b\"", "b" : [1] ,"c":{"b":0}, "\u0062":2}"#;
        let found: Vec<_> = members(raw, "b").iter().map(|m| (m.span.of(raw), m.value.of(raw))).collect();
        assert_eq!(found, [(r#""b" : [1]"#, "[1]"), (r#""\u0062":2"#, "2")]);
    }
}
