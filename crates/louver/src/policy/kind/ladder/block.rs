//! Where in a text a name may stand, found for many bytes at once.
//!
//! Most of any text is plain words, and where they end no branch foretells. So a block of bytes becomes a bit for each:
//! the compiler turns the loop that classes them into vector code.

const BYTES: usize = 64;

/// Bytes that a name may be made of.
const WORD: u8 = 1;
/// Bytes that no plain word has: digits, joints, letters beyond ASCII, and the signs that may follow a word.
const MARK: u8 = 2;
const CAPITAL: u8 = 4;
/// Small letters that are hexadecimal digits.
const HEX: u8 = 8;

/// The bytes of a text from a position on, a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    start: usize,
    /// Where the run began that goes on at the start.
    run_start: usize,
    words: u64,
    /// What no plain word has: those runs are worth a closer look, and so are signs.
    marks: u64,
}

impl Block {
    /// The bytes from a position on at which no word is cut in two.
    pub(super) fn at(bytes: &[u8], start: usize) -> Self {
        Self::following(bytes, start, start)
    }

    fn following(bytes: &[u8], start: usize, run_start: usize) -> Self {
        let [words, marks, capitals, hex] = planes(&classes(&bytes[start..]));
        let inside = words << 1 | u64::from(run_start < start);
        // Seven such letters in a row may be a hash; those at the end may be some of seven.
        let pairs = hex & hex >> 1;
        let fours = pairs & pairs >> 2;
        let at_end = hex & !(u64::MAX >> hex.leading_ones().min(63));
        Self { start, run_start, words, marks: marks | capitals & inside | fours & fours >> 3 | at_end }
    }

    /// The next sign before the end, or the start of the next run that is no plain word; nothing between is or joins a
    /// name, and no word goes on behind the end. Blocks only go forward.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], at: usize, end: usize) -> Option<usize> {
        loop {
            let passed = at.saturating_sub(self.start);
            let marks = if passed < BYTES { self.marks & u64::MAX << passed } else { 0 };
            if marks != 0 {
                let mark = marks.trailing_zeros();
                let is_before = self.start + (mark as usize) < end;
                return is_before.then(|| self.run_start_before(mark).max(at));
            }
            let next = self.start + BYTES;
            if next.max(at) >= end {
                return None;
            }
            *self = match at > next {
                true => Self::at(bytes, at),
                false if self.words >> (BYTES - 1) == 1 => {
                    Self::following(bytes, next, self.run_start_before(BYTES as u32))
                }
                false => Self::at(bytes, next),
            };
        }
    }

    /// Where the run began that ends right before a bit, or goes on there.
    fn run_start_before(&self, bit: u32) -> usize {
        let below = !self.words & u64::MAX.checked_shr(BYTES as u32 - bit).unwrap_or(0);
        match below {
            0 => self.run_start,
            _ => self.start + BYTES - below.leading_zeros() as usize,
        }
    }
}

/// What the first bytes are; behind the end there is nothing.
#[inline]
fn classes(rest: &[u8]) -> [u8; BYTES] {
    let mut padded = [0; BYTES];
    let block = rest.first_chunk().unwrap_or_else(|| {
        padded[..rest.len()].copy_from_slice(rest);
        &padded
    });
    block.map(class)
}

#[inline]
fn class(byte: u8) -> u8 {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_capital = byte.wrapping_sub(b'A') < 26;
    let is_hex = byte.wrapping_sub(b'a') < 6;
    let is_sign = (byte == b'/') | (byte == b':') | (byte == b'\\');
    // From `-` to `:` stand joints, digits and two of the signs.
    let is_mark = (byte.wrapping_sub(b'-') <= b':' - b'-') | (byte == b'_') | (byte == b'\\') | (byte >= 0x80);
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    flag(is_letter | (is_mark & !is_sign), WORD) | flag(is_mark, MARK) | flag(is_capital, CAPITAL) | flag(is_hex, HEX)
}

/// The bits of all bytes, flag by flag.
#[inline]
fn planes(classes: &[u8; BYTES]) -> [u64; 4] {
    const ONES: u64 = u64::MAX / 255;
    let mut planes = [0; 4];
    for (number, eight) in classes.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        for (flag, plane) in planes.iter_mut().enumerate() {
            // Moves the lowest bit of each byte into the highest byte.
            let bits = (eight >> flag & ONES).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *plane |= bits << (8 * number);
        }
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_sign(byte: u8) -> bool {
        matches!(byte, b'/' | b':' | b'\\')
    }

    fn run_end(bytes: &[u8], start: usize) -> usize {
        let belongs = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | 0x80..);
        start + bytes[start..].iter().take_while(belongs).count()
    }

    /// Every sign, and every run that has what plain words have not, or stands before a sign.
    fn expected(bytes: &[u8]) -> Vec<usize> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let end = run_end(bytes, at);
            let run = &bytes[at..end];
            let is_plain = run.iter().skip(1).all(u8::is_ascii_lowercase) && run.iter().all(u8::is_ascii_alphabetic);
            let is_hash = run.len() >= 7 && run.iter().all(|byte| matches!(byte, b'a'..=b'f'));
            let is_followed = bytes.get(end).is_some_and(|byte| is_sign(*byte));
            if !is_plain || is_hash || is_followed {
                found.push(at);
            }
            at = end.max(at + 1);
        }
        found
    }

    proptest! {
        #[test]
        fn nothing_is_passed_over(text in "([a-z]{1,9}|[a-f]{5,9}|[A-Z][a-z]{0,5}|[ ,;()]{1,9}|[0-9_./:\\\\-]|é){0,90}") {
            let bytes = text.as_bytes();
            let (mut block, mut at, mut found) = (Block::at(bytes, 0), 0, Vec::new());
            while let Some(next) = block.next(bytes, at, bytes.len()) {
                prop_assert!(next >= at);
                found.push(next);
                at = run_end(bytes, next).max(next + 1);
            }
            let missing = expected(bytes).into_iter().find(|start| !found.contains(start));
            prop_assert_eq!(missing, None, "{}", text);
        }
    }
}
