//! Text in pieces that a search can return.

/// The most characters of a passage.
pub const PASSAGE_CHARS: usize = 2_000;

/// A piece of a message: a run of lines, or a part of a very long line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Its text.
    pub text: Box<str>,
    /// The identifiers in it.
    pub identifiers: Vec<u32>,
}

/// Cuts lines into passages as they come.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    done: Vec<Passage>,
    text: String,
    chars: usize,
    identifiers: Vec<u32>,
    /// The pieces of the last line: where each ends in the line, and its position among the passages.
    pieces: Vec<(usize, usize)>,
}

impl Cutter {
    /// Adds a line; lines that together stay below the limit share a passage.
    pub(super) fn add_line(&mut self, line: &str) {
        let chars = line.chars().count();
        self.pieces.clear();
        if self.chars + chars + 1 > PASSAGE_CHARS {
            self.close();
        }
        let mut rest = line;
        let mut read = 0;
        while let Some((end, _)) = rest.char_indices().nth(PASSAGE_CHARS) {
            let end = rest[..end].rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
            self.text.push_str(&rest[..end]);
            read += end;
            self.pieces.push((read, self.done.len()));
            self.close();
            rest = &rest[end..];
        }
        self.text.push_str(rest);
        self.text.push('\n');
        self.chars += rest.chars().count() + 1;
        self.pieces.push((line.len(), self.done.len()));
    }

    /// Adds an identifier of the last line, by where it starts in the line.
    pub(super) fn add_identifier(&mut self, offset: usize, identifier: u32) {
        let piece = self.pieces.partition_point(|(end, _)| *end <= offset);
        let passage = self.pieces.get(piece).map_or(self.done.len(), |(_, passage)| *passage);
        match self.done.get_mut(passage) {
            Some(done) => done.identifiers.push(identifier),
            None => self.identifiers.push(identifier),
        }
    }

    pub(super) fn finish(mut self) -> Vec<Passage> {
        self.close();
        for passage in &mut self.done {
            passage.identifiers.sort_unstable();
            passage.identifiers.dedup();
        }
        self.done
    }

    fn close(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text).into_boxed_str();
        self.done.push(Passage { text, identifiers: std::mem::take(&mut self.identifiers) });
        self.chars = 0;
    }
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
        assert!(passages.iter().all(|passage| passage.text.chars().count() <= PASSAGE_CHARS + 1));
        let text: String = passages.iter().map(|passage| &*passage.text).collect();
        assert_eq!(text.replace('\n', ""), lines.concat());
    }

    #[test]
    fn an_identifier_goes_to_the_piece_it_stands_in() {
        let mut cutter = Cutter::default();
        cutter.add_line(&format!("{} tail", "x".repeat(2500)));
        cutter.add_identifier(0, 7);
        cutter.add_identifier(2501, 8);
        let passages = cutter.finish();
        let held: Vec<_> = passages.iter().map(|passage| passage.identifiers.clone()).collect();
        assert_eq!(held, [vec![7], vec![8]]);
    }
}
