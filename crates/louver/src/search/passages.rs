//! Messages in pieces that a search can return.

use crate::plain_text::plain_texts;
use crate::wire::Message;

/// The most characters of a passage.
pub const PASSAGE_CHARS: usize = 2_000;

/// What is said in a message, in pieces: runs of whole lines, and parts of very long ones. Lines that together stay below
/// [`PASSAGE_CHARS`] share a passage; empty ones are left out. O(its bytes).
///
/// ```
/// use louver::json::text::encode;
/// use louver::search::passages;
/// use louver::wire::{Format, Message};
///
/// let text = format!("short\n\nlines share a passage\n{}", "and long ones are cut ".repeat(200));
/// let raw = format!(r#"{{"role":"user","content":{}}}"#, encode(&text));
/// let passages = passages(&Message::parse(Format::OpenAiChat, &raw).unwrap());
/// assert_eq!(passages[0], "short\nlines share a passage\n");
/// assert_eq!(passages.len(), 4);
/// ```
#[must_use]
pub fn passages(message: &Message) -> Vec<String> {
    let mut cutter = Cutter::default();
    plain_texts(message, |_, _, text| {
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| cutter.add_line(line));
    });
    cutter.finish()
}

/// Cuts lines into passages as they come.
#[derive(Debug, Default)]
struct Cutter {
    done: Vec<String>,
    text: String,
    chars: usize,
}

impl Cutter {
    fn add_line(&mut self, line: &str) {
        let mut chars = line.chars().count();
        if self.chars + chars + 1 > PASSAGE_CHARS {
            self.close();
        }
        let mut rest = line;
        while chars > PASSAGE_CHARS {
            let (piece, behind) = rest.split_at(piece_end(rest));
            self.text.push_str(piece);
            self.close();
            chars -= piece.chars().count();
            rest = behind;
        }
        self.text.push_str(rest);
        self.text.push('\n');
        self.chars += chars + 1;
    }

    fn finish(mut self) -> Vec<String> {
        self.close();
        self.done
    }

    fn close(&mut self) {
        if !self.text.is_empty() {
            self.done.push(std::mem::take(&mut self.text));
            self.chars = 0;
        }
    }
}

/// Where the first piece of a long line ends: at a gap between words if there is one.
fn piece_end(line: &str) -> usize {
    let limit = line.char_indices().nth(PASSAGE_CHARS).map_or(line.len(), |(end, _)| end);
    line[..limit].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_passage_is_longer_than_the_limit_and_nothing_is_lost() {
        let mut cutter = Cutter::default();
        let lines = ["a".repeat(1500), "b ".repeat(3000), "c".repeat(5000), "short".to_owned()];
        for line in &lines {
            cutter.add_line(line);
        }
        let passages = cutter.finish();
        assert!(passages.iter().all(|passage| passage.chars().count() <= PASSAGE_CHARS + 1));
        assert_eq!(passages.concat().replace('\n', ""), lines.concat());
    }
}
