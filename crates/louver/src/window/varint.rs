//! Numbers in as few bytes as they need.

/// Writes seven bits to a byte, the lowest first; all but the last byte have their highest bit set.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads what [`put`] wrote.
pub(super) fn number<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        number |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return Some(number);
        }
    }
}

/// Writes a difference that may be negative, wrapped around: the nearer to zero, the shorter.
pub(super) fn put_signed(bytes: &mut Vec<u8>, difference: usize) {
    let difference = difference.cast_signed();
    put(bytes, ((difference << 1) ^ (difference >> (isize::BITS - 1))).cast_unsigned());
}

/// Reads what [`put_signed`] wrote.
pub(super) fn signed<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<usize> {
    let written = number(bytes)?;
    Some((written >> 1) ^ (written & 1).wrapping_neg())
}
