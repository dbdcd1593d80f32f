//! What is worth bringing back to whoever does not see it.

use super::ranking::Ranking;

/// How passages are chosen for whoever sees a part of the conversation already.
///
/// A name that is not seen counts by how likely it is used again: what the model used itself is, what it used not long ago
/// is, and what resembles the words of the query. A line is worth what the names in it are, by how well its passage fits the
/// query and by how much of that is about what is seen. `bench/src/bin/recall_missing.rs` measures what each of these brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Novelty {
    /// How the passages are ranked among which is chosen.
    pub ranking: Ranking,
    /// How many these are.
    pub candidates: usize,
    /// A passage counts by its score as a share of the highest, and so much besides.
    pub least_score: f64,
    /// To which power a passage counts by the share of its names that are seen.
    pub seen_power: f64,
    /// What is added to that share.
    pub least_seen: f64,
    /// How many times as much as another a name counts that the model used itself.
    pub own: f64,
    /// To which power a name counts by its age in messages, the younger the more.
    pub age_power: f64,
    /// So many messages old a name is taken to be besides.
    pub least_age: usize,
    /// How much more a name counts of whose pieces a share stands in the query: the exponential of this times its square.
    pub resemblance: f64,
    /// A name that the query asks for counts so many times as much.
    pub asked: f64,
    /// What a number counts.
    pub number: f64,
    /// What a line takes besides its characters.
    pub line_cost: usize,
}

impl Default for Novelty {
    fn default() -> Self {
        Self {
            ranking: Ranking::WIDE,
            candidates: 64,
            least_score: 0.03,
            seen_power: 0.4,
            least_seen: 0.05,
            own: 12.0,
            age_power: 0.6,
            least_age: 30,
            resemblance: 2.5,
            asked: 100.0,
            number: 0.4,
            line_cost: 20,
        }
    }
}

/// Where a name was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    /// How many messages hold it.
    pub(super) messages: usize,
    /// Whether one of them is the model's own.
    pub(super) is_own: bool,
    /// How many messages ago it was used: by the model, if it did.
    pub(super) age: usize,
}

impl Novelty {
    /// What a name is worth of which such a share of the pieces stands in the query.
    pub(super) fn of_name(&self, last: &Use, asked_share: f64, is_number: bool) -> f64 {
        let age = (last.age + self.least_age).max(1) as f64;
        let is_asked = asked_share >= 1.0;
        age.powf(-self.age_power) / last.messages.max(1) as f64
            * (self.resemblance * asked_share * asked_share).exp()
            * if last.is_own { self.own } else { 1.0 }
            * if is_asked { self.asked } else { 1.0 }
            * if is_number { self.number } else { 1.0 }
    }

    /// What speaks for a passage with such a share of the highest score, and with such a share of its names seen.
    pub(super) fn of_passage(&self, score_share: f64, seen_share: f64) -> f64 {
        (self.least_score + score_share) * (self.least_seen + seen_share).powf(self.seen_power)
    }
}
