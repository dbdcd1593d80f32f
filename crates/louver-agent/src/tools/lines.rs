use std::io::{self, BufRead, Read};

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

/// Appends the next line with its end to `buffer`, up to `room` bytes of it: bounded memory, however long a line is.
pub(crate) fn next_line(reader: &mut impl BufRead, buffer: &mut Vec<u8>, room: usize) -> io::Result<Line> {
    if reader.fill_buf()?.is_empty() {
        return Ok(Line::End);
    }
    let before = buffer.len();
    reader.by_ref().take(room as u64).read_until(b'\n', buffer)?;
    if buffer[before..].ends_with(b"\n") || reader.fill_buf()?.is_empty() {
        return Ok(Line::Whole);
    }
    reader.skip_until(b'\n')?;
    Ok(Line::Cut)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8], capacity: usize, room: usize) -> Vec<(Line, Vec<u8>)> {
        let mut reader = BufReader::with_capacity(capacity, text);
        let mut result = Vec::new();
        loop {
            let mut buffer = Vec::new();
            match next_line(&mut reader, &mut buffer, room).unwrap() {
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
    }
}
