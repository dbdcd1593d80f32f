//! Escape sequences of JSON strings.

/// One escape sequence, a surrogate pair being one.
pub(super) struct Escape {
    /// Its bytes.
    pub(super) length: usize,
    /// What it stands for; nothing for a lone surrogate.
    pub(super) meaning: Option<char>,
}

impl Escape {
    /// Reads the escape that `bytes` starts with.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let meaning = match bytes.get(1)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return Self::read_unicode(bytes),
            _ => return None,
        };
        Some(Self { length: 2, meaning: Some(meaning) })
    }

    fn read_unicode(bytes: &[u8]) -> Option<Self> {
        let unit = hex4(bytes.get(2..6)?)?;
        if (0xD800..0xDC00).contains(&unit)
            && bytes.get(6..8) == Some(b"\\u")
            && let Some(low) = bytes.get(8..12).and_then(hex4)
            && (0xDC00..0xE000).contains(&low)
        {
            let scalar = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            return Some(Self { length: 12, meaning: char::from_u32(scalar) });
        }
        Some(Self { length: 6, meaning: char::from_u32(unit) })
    }

    /// Characters that compact JSON spends on what this stands for.
    pub(super) fn compact_chars(&self) -> u64 {
        match self.meaning {
            Some('"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}') => 2,
            Some(control) if u32::from(control) < 0x20 => 6,
            Some(_) => 1,
            None => 6,
        }
    }
}

fn hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}
