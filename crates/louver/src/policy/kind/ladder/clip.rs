//! Clipping a tool result so that what went wrong stays readable.

use crate::address::Address;

/// Words that make a line worth keeping wherever it stands.
const TROUBLE: [&str; 6] = ["error", "fail", "panic", "exception", "traceback", "warning"];

/// Keeps the start, the end and lines about errors between them, and says how much is gone and how to have it back.
///
/// Half of `keep_chars` goes to the start, a quarter to the end, a quarter to error lines; what they do not need
/// stays unused.
pub(super) fn clipped(index: usize, text: &str, keep_chars: usize) -> String {
    let chars = text.chars().count();
    if chars <= keep_chars {
        return text.to_owned();
    }
    let at = |position: usize| text.char_indices().nth(position).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (keep_chars / 2, keep_chars / 4);
    let (head_end, tail_start) = (at(head), at(chars - tail));
    let errors = error_lines(&text[head_end..tail_start], keep_chars / 4);
    let gone = chars - head - tail - errors.iter().map(|line| line.chars().count()).sum::<usize>();
    let mut clipped = format!("{}\n{} {gone} characters left out", &text[..head_end], Address::of(index).tag());
    if !errors.is_empty() {
        clipped.push_str("; lines about errors among them:\n");
        clipped.push_str(&errors.join("\n"));
    }
    clipped.push('\n');
    clipped.push_str(&text[tail_start..]);
    clipped
}

/// The first lines that speak of trouble, as many as there is room for.
fn error_lines(text: &str, room_chars: usize) -> Vec<&str> {
    let speaks_of_trouble = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        TROUBLE.iter().any(|word| lower.contains(word))
    };
    let mut room = room_chars;
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim).filter(speaks_of_trouble) {
        let chars = line.chars().count();
        if chars < room {
            room -= chars + 1;
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::clipped;

    #[test]
    fn start_end_and_errors_stay() {
        let text = format!("first\n{}error: it broke\n{}last", "x\n".repeat(500), "y\n".repeat(500));
        let clipped = clipped(7, &text, 100);
        assert!(clipped.starts_with("first\nx\n") && clipped.ends_with("y\nlast"), "{clipped}");
        assert!(clipped.contains("[louver:7] 1") && clipped.contains("\nerror: it broke\n"), "{clipped}");
        assert!(clipped.chars().count() < 220, "{clipped}");
    }

    #[test]
    fn short_text_stays_as_it_is() {
        assert_eq!(clipped(0, "short", 10), "short");
    }

    #[test]
    fn letters_of_any_width_are_not_split() {
        let text = "äöü€😀".repeat(100);
        assert!(clipped(0, &text, 10).contains("characters left out"));
    }
}
