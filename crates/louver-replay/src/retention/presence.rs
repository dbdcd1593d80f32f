//! What stands in a view.

use super::names_and_lines::NamesAndLines;

/// How often each identifier and line stands in a view, kept up to date as messages enter and leave it.
#[derive(Debug, Default)]
pub struct Presence {
    identifiers: Vec<u32>,
    lines: Vec<u32>,
}

impl Presence {
    /// A message enters the view. O(its identifiers and lines).
    pub fn add(&mut self, message: &NamesAndLines) {
        for (counts, numbers) in self.sides(message) {
            let needed = numbers.last().map_or(0, |last| *last as usize + 1);
            if counts.len() < needed {
                counts.resize(needed.next_power_of_two(), 0);
            }
            numbers.iter().for_each(|number| counts[*number as usize] += 1);
        }
    }

    /// A message that had entered leaves it.
    pub fn remove(&mut self, message: &NamesAndLines) {
        for (counts, numbers) in self.sides(message) {
            numbers.iter().for_each(|number| counts[*number as usize] -= 1);
        }
    }

    /// Whether an identifier stands in the view. O(1).
    pub fn mentions(&self, identifier: u32) -> bool {
        self.identifiers.get(identifier as usize).is_some_and(|count| *count > 0)
    }

    /// Whether a line stands in the view. O(1).
    pub fn has_line(&self, line: u32) -> bool {
        self.lines.get(line as usize).is_some_and(|count| *count > 0)
    }

    fn sides<'a>(&'a mut self, message: &'a NamesAndLines) -> [(&'a mut Vec<u32>, &'a [u32]); 2] {
        [(&mut self.identifiers, &message.identifiers), (&mut self.lines, &message.lines)]
    }
}
