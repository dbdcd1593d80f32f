use std::collections::VecDeque;

/// The start and the end of a stream of bytes of any length, in bounded memory.
#[derive(Debug)]
pub(crate) struct Excerpt {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

impl Excerpt {
    /// Keeps `max_bytes`, half of them from the start.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: max_bytes / 2, total: 0 }
    }

    /// An excerpt of a whole text.
    pub(crate) fn of(text: &str, max_bytes: usize) -> String {
        let mut excerpt = Self::new(max_bytes);
        excerpt.push(text.as_bytes());
        excerpt.into_text()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// How many bytes there were in all.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The text, with a line in the middle that says how much is missing, if anything is.
    pub(crate) fn into_text(self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let missing = self.total - kept;
        let tail: Vec<u8> = self.tail.into();
        if missing == 0 {
            return String::from_utf8_lossy(&[self.head, tail].concat()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[... {missing} bytes left out ...]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_middle_is_left_out_and_counted() {
        assert_eq!(Excerpt::of("0123456789", 4), "01\n[... 6 bytes left out ...]\n89");
        assert_eq!(Excerpt::of("0123", 4), "0123");
        assert_eq!(Excerpt::of("", 0), "");
    }

    #[test]
    fn a_character_across_the_middle_survives_if_all_is_kept() {
        assert_eq!(Excerpt::of("aéb", 4), "aéb");
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_arrive(text in "[a-z]{0,60}", cuts in prop::collection::vec(1usize..9, 1..20), max in 0usize..40) {
            let mut excerpt = Excerpt::new(max);
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                let (first, after) = rest.split_at(rest.len().min(*cut));
                excerpt.push(first);
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(excerpt.total(), text.len() as u64);
            prop_assert!(excerpt.head.len() + excerpt.tail.len() <= max);
            prop_assert_eq!(excerpt.into_text(), Excerpt::of(&text, max));
        }
    }
}
