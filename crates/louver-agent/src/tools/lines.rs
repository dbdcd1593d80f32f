use std::io::{self, BufRead};

use memchr::memchr;

/// Lines of a file, each taken in bounded memory however long it is.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
}

/// What was taken of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// All of it.
    Whole,
    /// As much as there was room for; the rest was passed over.
    Cut,
    /// There is no line left.
    End,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader }
    }

    /// Appends the next line with its end to `buffer`, up to `room` bytes of it.
    pub(crate) fn next_line(&mut self, buffer: &mut Vec<u8>, room: usize) -> io::Result<Line> {
        let mut left = room;
        let mut seen = false;
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() && !seen {
                return Ok(Line::End);
            }
            let end = memchr(b'\n', available);
            let length = end.map_or(available.len(), |end| end + 1);
            let taken = length.min(left);
            buffer.extend_from_slice(&available[..taken]);
            let is_cut = taken < length;
            let is_over = end.is_some() || available.is_empty();
            self.reader.consume(length);
            seen = true;
            left -= taken;
            if is_cut {
                if !is_over {
                    self.skip_line()?;
                }
                return Ok(Line::Cut);
            }
            if is_over {
                return Ok(Line::Whole);
            }
        }
    }

    /// Passes over what is left of a line; says whether there was anything.
    pub(crate) fn skip_line(&mut self) -> io::Result<bool> {
        let mut seen = false;
        loop {
            let available = self.reader.fill_buf()?;
            if available.is_empty() {
                return Ok(seen);
            }
            seen = true;
            let end = memchr(b'\n', available);
            let length = end.map_or(available.len(), |end| end + 1);
            self.reader.consume(length);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8], capacity: usize, room: usize) -> Vec<(Line, Vec<u8>)> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, text));
        let mut result = Vec::new();
        loop {
            let mut buffer = Vec::new();
            match lines.next_line(&mut buffer, room).unwrap() {
                Line::End => return result,
                line => result.push((line, buffer)),
            }
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_that_splitting_gives_cut_to_the_room(text in "[ab\n]{0,40}", capacity in 1usize..9, room in 0usize..9) {
            let expected: Vec<(Line, Vec<u8>)> = text
                .split_inclusive('\n')
                .map(|line| match line.len() > room {
                    true => (Line::Cut, line.as_bytes()[..room].to_vec()),
                    false => (Line::Whole, line.as_bytes().to_vec()),
                })
                .collect();
            prop_assert_eq!(all(text.as_bytes(), capacity, room), expected);
        }

        #[test]
        fn skipping_counts_the_same_lines(text in "[ab\n]{0,40}", capacity in 1usize..9) {
            let mut lines = Lines::new(BufReader::with_capacity(capacity, text.as_bytes()));
            let mut count = 0;
            while lines.skip_line().unwrap() {
                count += 1;
            }
            prop_assert_eq!(count, text.split_inclusive('\n').count());
        }
    }
}
