//! Where in a text a name may stand, found for many bytes at once.
//!
//! Most of any text is plain words, and where they end no branch foretells. So a block of bytes becomes a bit for each:
//! the compiler turns the loop that classes them into vector code.

const BYTES: usize = 64;

/// The bytes of a text from a position on, a bit for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    start: usize,
    /// Where the run began that goes on at the start.
    run_start: usize,
    /// Bytes that a name may be made of.
    words: u64,
    /// Where something stands without which there is no name: those runs are worth a closer look.
    marks: u64,
}

impl Block {
    /// The bytes from a position on at which no word is cut in two.
    pub(super) fn at(bytes: &[u8], start: usize) -> Self {
        Self::following(bytes, start, start)
    }

    fn following(bytes: &[u8], start: usize, run_start: usize) -> Self {
        let [words, signs, capitals, hex] = planes(&classes(&bytes[start.min(bytes.len())..]));
        // Behind another capital, or where a word begins, a capital makes no name.
        let inside = words << 1 | u64::from(run_start < start);
        let camel = capitals & inside & !(capitals << 1);
        // Three such digits in a row may be a number, or seven a hash; those at the end may be some of them.
        let in_a_row = hex & hex >> 1 & hex >> 2;
        let at_end = hex & !(u64::MAX >> hex.leading_ones().min(2));
        Self { start, run_start, words, marks: signs | camel | in_a_row | at_end }
    }

    /// The next sign before the end that may mean something, or the start of the next run in which a name may stand;
    /// nothing between is or joins one, and no word goes on behind the end. Blocks only go forward.
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

/// Bytes that a name may be made of.
const WORD: u8 = 1;
/// What makes a name of words: slashes and underscores, dots before letters; and escapes and addresses have to be read.
const SIGN: u8 = 2;
const CAPITAL: u8 = 4;
/// Hexadecimal digits, capitals apart.
const HEX: u8 = 8;

/// What the first bytes are; behind the end there is nothing.
#[inline]
fn classes(rest: &[u8]) -> [u8; BYTES] {
    let mut padded = [0; BYTES + 1];
    let window: &[u8; BYTES + 1] = rest.first_chunk().unwrap_or_else(|| {
        padded[..rest.len()].copy_from_slice(rest);
        &padded
    });
    let mut classes = [0; BYTES];
    for (at, class) in classes.iter_mut().enumerate() {
        *class = class_of(window[at], window[at + 1]);
    }
    classes
}

/// What a byte is before another.
#[inline]
fn class_of(byte: u8, next: u8) -> u8 {
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    let is_underscore = byte == b'_';
    let is_joint = (byte == b'.') | (byte == b'-');
    let is_word = is_letter(byte) | is_digit | is_underscore | is_joint | (byte >= 0x80);
    let is_dotted = (byte == b'.') & (is_letter(next) | (next == b'_'));
    let is_address = (byte == b':') & ((next == b'/') | (next == b'\\'));
    let is_sign = is_underscore | (byte == b'/') | (byte == b'\\') | is_dotted | is_address;
    let is_capital = byte.wrapping_sub(b'A') < 26;
    let is_hex = is_digit | (byte.wrapping_sub(b'a') < 6);
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    flag(is_word, WORD) | flag(is_sign, SIGN) | flag(is_capital, CAPITAL) | flag(is_hex, HEX)
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
