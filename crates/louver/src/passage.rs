//! Text in pieces that a search can return.

/// The most characters of a passage.
pub const PASSAGE_CHARS: usize = 2_000;

/// A piece of a message: a run of lines, or a part of a very long line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Its text.
    pub text: Box<str>,
    /// The numbers of whatever the caller has marked in it, ascending, each once.
    pub marks: Vec<u32>,
}

/// Cuts lines into passages as they come.
///
/// ```
/// use louver::passage::Cutter;
///
/// let mut cutter = Cutter::default();
/// cutter.add_line("short");
/// cutter.add_line("lines share a passage");
/// cutter.add_line(&"and long ones are cut ".repeat(200));
/// let passages = cutter.finish();
/// assert_eq!(&*passages[0].text, "short\nlines share a passage\n");
/// assert_eq!(passages.len(), 4);
/// ```
#[derive(Debug, Default)]
pub struct Cutter {
    done: Vec<Passage>,
    text: String,
    chars: usize,
    marks: Vec<u32>,
    /// The pieces of the last line: where each ends in the line, and its position among the passages.
    pieces: Vec<(usize, usize)>,
}

impl Cutter {
    /// Adds a line; lines that together stay below the limit share a passage.
    pub fn add_line(&mut self, line: &str) {
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

    /// Marks something in the last line, by where it starts in the line.
    pub fn mark(&mut self, offset: usize, mark: u32) {
        let piece = self.pieces.partition_point(|(end, _)| *end <= offset);
        let passage = self.pieces.get(piece).map_or(self.done.len(), |(_, passage)| *passage);
        match self.done.get_mut(passage) {
            Some(done) => done.marks.push(mark),
            None => self.marks.push(mark),
        }
    }

    /// All passages, in order.
    #[must_use]
    pub fn finish(mut self) -> Vec<Passage> {
        self.close();
        for passage in &mut self.done {
            passage.marks.sort_unstable();
            passage.marks.dedup();
        }
        self.done
    }

    fn close(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text).into_boxed_str();
        self.done.push(Passage { text, marks: std::mem::take(&mut self.marks) });
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
    fn a_mark_goes_to_the_piece_it_stands_in() {
        let mut cutter = Cutter::default();
        cutter.add_line(&format!("{} tail", "x".repeat(2500)));
        cutter.mark(0, 7);
        cutter.mark(2501, 8);
        let passages = cutter.finish();
        let held: Vec<_> = passages.iter().map(|passage| passage.marks.clone()).collect();
        assert_eq!(held, [vec![7], vec![8]]);
    }
}
