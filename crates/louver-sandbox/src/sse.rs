//! Writing server-sent events.

use serde_json::Value;

/// Characters in one delta of a stream.
const PIECE_CHARS: usize = 48;

/// An event with a name.
pub(crate) fn named(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// An event without a name.
pub(crate) fn unnamed(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A text cut into the pieces that its deltas carry; no piece for no text.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let starts = text.char_indices().step_by(PIECE_CHARS).map(|(start, _)| start);
    let ends: Vec<usize> = starts.chain([text.len()]).collect();
    ends.windows(2).map(|piece| &text[piece[0]..piece[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_text() {
        let text = "äöü€".repeat(100);
        assert_eq!(pieces(&text).concat(), text);
        assert!(pieces("").is_empty());
    }
}
