//! Weights found over weights wanted.

use super::references::{Age, Reference};
use louver::plain_text::Speaker;

/// How much of something was there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// What was there.
    pub found: f64,
    /// What was wanted.
    pub wanted: f64,
}

impl Share {
    /// Adds a weight.
    pub fn add(&mut self, weight: f64, is_found: bool) {
        self.wanted += weight;
        self.found += if is_found { weight } else { 0.0 };
    }

    /// Adds another share.
    pub fn join(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.found += other.found;
    }

    /// Found over wanted, unless nothing was.
    pub fn ratio(self) -> Option<f64> {
        (self.wanted > 0.0).then(|| self.found / self.wanted)
    }
}

/// Everything that is known about recall in one run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Mentioned in the request.
    pub mention: Share,
    /// The line stands in the request.
    pub line: Share,
    /// The line stands there in its whole message.
    pub line_intact: Share,
    /// The line, of references older than five turns.
    pub line_old: Share,
    /// The line stands there with its neighbours.
    pub passage: Share,
    /// Mentioned in the request or in one of the best hits of a search.
    pub retrievable: Share,
    /// Mentions that file edits need.
    pub edit: Share,
    /// Mentions of what the user wrote.
    pub user: Share,
    /// Mentions by age.
    pub by_age: [Share; Age::ALL.len()],
    /// Lines by age.
    pub line_by_age: [Share; Age::ALL.len()],
    /// Passages by age.
    pub passage_by_age: [Share; Age::ALL.len()],
    /// Mentions by origin.
    pub by_origin: [Share; Speaker::ALL.len()],
}

/// What became of one reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// It is mentioned in the request.
    pub is_mentioned: bool,
    /// Its line stands in the request.
    pub has_line: bool,
    /// Its line stands in the request as part of the message that said it.
    pub is_intact: bool,
    /// Its line stands in the request with its neighbours.
    pub has_passage: bool,
    /// A search would find it.
    pub is_retrieved: bool,
    /// A search would find its line.
    pub is_line_retrieved: bool,
}

impl Tally {
    /// Counts one reference.
    pub fn add(&mut self, reference: &Reference, outcome: Outcome) {
        let Outcome { is_mentioned, has_line, is_intact, has_passage, is_retrieved, .. } = outcome;
        let weight = reference.weight;
        self.mention.add(weight, is_mentioned);
        self.line.add(weight, has_line);
        self.line_intact.add(weight, is_intact);
        self.passage.add(weight, has_passage);
        self.retrievable.add(weight, is_mentioned || is_retrieved);
        self.by_age[reference.age as usize].add(weight, is_mentioned);
        self.line_by_age[reference.age as usize].add(weight, has_line);
        self.passage_by_age[reference.age as usize].add(weight, has_passage);
        if reference.age.is_old() {
            self.line_old.add(weight, has_line);
        }
        self.by_origin[reference.origin as usize].add(weight, is_mentioned);
        if reference.is_edit {
            self.edit.add(weight, is_mentioned);
        }
        if reference.is_users {
            self.user.add(weight, is_mentioned);
        }
    }
}
