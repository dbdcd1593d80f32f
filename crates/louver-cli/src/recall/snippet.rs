//! The words around what was looked for.

use super::excerpt::Excerpt;
use crate::printer::safe;
use anstyle::{AnsiColor, Style};
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

const MARK: Style = AnsiColor::Yellow.on_default().bold();
/// Columns before the first mark that is shown.
const BEFORE: usize = 24;

/// The stretch of an excerpt that holds the most marks, on one line of at most so many columns.
pub(super) fn snippet(excerpt: &Excerpt, columns: usize) -> String {
    let start = start(excerpt, columns);
    let mut line = String::new();
    let mut room = columns.saturating_sub(2);
    if start > 0 {
        line.push('…');
    }
    let mut is_gap = true;
    let mut marks = excerpt.marks.iter().filter(|mark| mark.start >= start).peekable();
    for (at, letter) in excerpt.text[start..].char_indices().map(|(at, letter)| (start + at, letter)) {
        if letter.is_whitespace() && is_gap {
            continue;
        }
        is_gap = letter.is_whitespace();
        let shown = if is_gap { " ".to_owned() } else { safe(letter.encode_utf8(&mut [0; 4])) };
        let width: usize = shown.chars().map(|letter| letter.width().unwrap_or(0)).sum();
        if width > room {
            line.push('…');
            break;
        }
        room -= width;
        match marks.next_if(|mark| mark.end <= at + letter.len_utf8()) {
            Some(mark) if mark.start == at => line.push_str(&format!("{MARK}{shown}{MARK:#}")),
            Some(_) => line.push_str(&format!("{shown}{MARK:#}")),
            None if marks.peek().is_some_and(|mark| mark.start == at) => line.push_str(&format!("{MARK}{shown}")),
            None => line.push_str(&shown),
        }
    }
    if line.ends_with('…') {
        // A mark may have been cut off in its middle.
        line.push_str(&format!("{MARK:#}"));
    }
    line.trim_end().to_owned()
}

/// A little before the mark that has the most others close behind it; at a word's start if one is near.
fn start(excerpt: &Excerpt, columns: usize) -> usize {
    let behind = |mark: &Range<usize>| {
        let end = mark.start + columns;
        excerpt.marks.iter().filter(|other| other.start >= mark.start && other.end <= end).count()
    };
    // Of equal ones the first.
    let best = excerpt.marks.iter().rev().max_by_key(|mark| behind(mark)).map_or(0, |mark| mark.start);
    let before = &excerpt.text[..best];
    let Some((from, _)) = before.char_indices().rev().nth(BEFORE) else {
        return 0;
    };
    let word = before[from..].find(char::is_whitespace).map_or(from, |gap| from + gap + 1);
    if excerpt.text.is_char_boundary(word) { word } else { from }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, snippet};
    use anstream::adapter::strip_str;
    use unicode_width::UnicodeWidthStr;

    fn excerpt(text: &str, word: &str) -> Excerpt {
        let marks = text.match_indices(word).map(|(at, word)| at..at + word.len()).collect();
        Excerpt { message: 0, text: text.to_owned(), marks }
    }

    #[test]
    fn marks_stand_around_the_words() {
        let line = snippet(&excerpt("one\n\ttwo three x", "two"), 40);
        assert_eq!(line, "one \u{1b}[1m\u{1b}[33mtwo\u{1b}[0m three x");
        assert_eq!(snippet(&excerpt("a b", "b"), 40), "a \u{1b}[1m\u{1b}[33mb\u{1b}[0m");
    }

    #[test]
    fn the_stretch_with_the_most_words_is_shown_and_fits() {
        let text = format!("word {} word word 日本語 {}", "hay ".repeat(200), "hay ".repeat(200));
        let line = snippet(&excerpt(&text, "word"), 60);
        let plain = strip_str(&line).to_string();
        assert!(plain.starts_with('…') && plain.ends_with('…') && plain.contains("word word 日本語"), "{plain}");
        assert!(plain.width() <= 60, "{plain}");
    }

    #[test]
    fn nothing_moves_the_cursor_and_cut_marks_end() {
        let text = format!("\u{1b}[2J{}", "x".repeat(100));
        let line = snippet(&excerpt(&text, &"x".repeat(100)), 30);
        assert!(line.ends_with("…\u{1b}[0m") && !line.contains("[2J\u{1b}[2J"), "{line:?}");
        assert!(strip_str(&line).to_string().starts_with("\\u{1b}[2Jxx"), "{line:?}");
    }
}
