//! Changing a message without touching the bytes that stay.

use crate::json::Span;

/// A change to a raw message: values to replace and array elements to take out.
///
/// Everything outside the spans stays byte for byte. Taking an element out takes one neighbouring comma with it.
#[derive(Clone, Debug, Default)]
pub struct Splice {
    /// Start, end, replacement.
    changes: Vec<(usize, usize, String)>,
    removed: Vec<Span>,
}

impl Splice {
    /// Puts `json` in the place of the value at `span`.
    pub fn replace(&mut self, span: Span, json: String) {
        self.changes.push((span.start as usize, span.end as usize, json));
    }

    /// Takes out the array element (or the object member, key included) at `span`.
    pub fn remove(&mut self, span: Span) {
        self.removed.push(span);
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.removed.is_empty()
    }

    /// The message with the changes made. Spans must not overlap.
    pub fn apply(mut self, raw: &str) -> String {
        self.join_removals(raw);
        self.changes.sort_by_key(|(start, ..)| *start);
        let mut written = String::with_capacity(raw.len());
        let mut at = 0;
        for (start, end, json) in &self.changes {
            if *start < at || *end > raw.len() {
                continue;
            }
            written.push_str(&raw[at..*start]);
            written.push_str(json);
            at = *end;
        }
        written.push_str(&raw[at..]);
        written
    }

    /// Turns removals into changes; neighbours leave as one run, so that exactly one comma per element goes.
    fn join_removals(&mut self, raw: &str) {
        self.removed.sort_by_key(|span| span.start);
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for span in self.removed.drain(..) {
            let (start, end) = (span.start as usize, span.end as usize);
            match runs.last_mut() {
                Some((_, last_end)) if raw[*last_end..start].trim() == "," => *last_end = end,
                _ => runs.push((start, end)),
            }
        }
        self.changes.extend(runs.into_iter().map(|(start, end)| {
            let (start, end) = with_comma(raw, start, end);
            (start, end, String::new())
        }));
    }
}

/// Widens a run of elements by the comma behind it, or else by the one before it.
fn with_comma(raw: &str, start: usize, end: usize) -> (usize, usize) {
    let behind = &raw[end..];
    if let Some(rest) = behind.trim_start().strip_prefix(',') {
        return (start, raw.len() - rest.trim_start().len());
    }
    match raw[..start].trim_end().strip_suffix(',') {
        Some(rest) => (rest.len(), end),
        None => (start, end),
    }
}

#[cfg(test)]
mod tests {
    use super::Splice;
    use crate::json::Span;

    fn without(raw: &str, elements: &[&str]) -> String {
        let mut splice = Splice::default();
        for element in elements {
            let start = raw.find(element).unwrap();
            splice.remove(Span { start: start as u32, end: (start + element.len()) as u32 });
        }
        splice.apply(raw)
    }

    #[test]
    fn taking_elements_out_leaves_legal_json() {
        assert_eq!(without("[1, 2, 3]", &["1"]), "[2, 3]");
        assert_eq!(without("[1, 2, 3]", &["3"]), "[1, 2]");
        assert_eq!(without("[1, 2, 3]", &["2", "3"]), "[1]");
        assert_eq!(without("[1, 2, 3]", &["1", "3"]), "[2]");
        assert_eq!(without("[1, 2, 3]", &["3", "2", "1"]), "[]");
    }

    #[test]
    fn everything_outside_a_replacement_stays() {
        let mut splice = Splice::default();
        splice.replace(Span { start: 7, end: 10 }, "\"b\"".to_owned());
        assert_eq!(splice.apply(r#"{ "k": "a" , "n":1.0}"#), r#"{ "k": "b" , "n":1.0}"#);
    }
}
