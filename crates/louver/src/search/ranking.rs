//! Which passages are best.

/// How passages are ranked: BM25 with what conversations add to it.
///
/// A hit is read as a whole, so that a long passage says more than a short one. What was asked for often stands right
/// behind the words of the question: a call names a file, and the result has what is in it. And in a long question the
/// few rarest words are what it is about. `bench/src/bin/recall_missing.rs` measures what each of these brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// How soon a repeated term stops counting.
    pub saturation: f64,
    /// How much is held against long passages.
    pub length_weight: f64,
    /// To which power a passage counts by its length.
    pub length_power: f64,
    /// So many terms a passage is taken to have at least, so that short ones are not lost altogether.
    pub least_terms: u32,
    /// To which power a term counts by its rarity.
    pub rarity_power: f64,
    /// How many times as much as a word an identifier of several pieces counts.
    pub identifier: f64,
    /// How many of a query's terms decide, the rarest first.
    pub deciding: usize,
    /// A term that stands in more than this share of the passages does not decide.
    pub common_share: f64,
    /// What the terms that do not decide count.
    pub faint: f64,
    /// What a passage has of the one before it; of each earlier one half as much.
    pub following: f64,
}

/// How many passages before a passage count for it.
const REACH: usize = 5;
/// A query of so few terms is somebody's words: what holds all of them comes first.
pub(super) const FEW_TERMS: usize = 6;
/// A term that stands in so few passages may always decide.
const FEW_PASSAGES: f64 = 4.0;

impl Default for Ranking {
    fn default() -> Self {
        Self {
            saturation: 1.2,
            length_weight: 0.0,
            length_power: 1.0,
            least_terms: 40,
            rarity_power: 2.0,
            identifier: 3.0,
            deciding: 12,
            common_share: 0.02,
            faint: 0.01,
            following: 0.75,
        }
    }
}

impl Ranking {
    /// BM25 with its usual constants, to compare with.
    pub const BM25: Self = Self {
        saturation: 1.2,
        length_weight: 0.75,
        length_power: 0.0,
        least_terms: 0,
        rarity_power: 1.0,
        identifier: 1.0,
        deciding: usize::MAX,
        common_share: 1.0,
        faint: 1.0,
        following: 0.0,
    };

    /// What a long question may be about in the widest sense: not to be shown as it is, but to be chosen from.
    pub(super) const WIDE: Self = Self {
        saturation: 1.2,
        length_weight: 0.0,
        length_power: 0.0,
        least_terms: 0,
        rarity_power: 2.0,
        identifier: 3.0,
        deciding: 24,
        common_share: 0.1,
        faint: 0.01,
        following: 1.0,
    };
}

/// The scores of one query, by the place of each passage among those that are searched.
#[derive(Debug)]
pub(super) struct Scores {
    ranking: Ranking,
    /// How many passages are searched, and how many terms they have in the mean.
    searched: f64,
    mean_length: f64,
    scores: Vec<f64>,
    touched: Vec<u32>,
    /// How many terms each passage holds, where the query has few.
    held: Vec<u8>,
    terms: usize,
}

impl Scores {
    /// For so many passages which have so many terms together.
    pub(super) fn new(ranking: Ranking, searched: usize, terms: u64) -> Self {
        let mean_length = (terms as f64 / searched.max(1) as f64).max(1.0);
        let (scores, touched, held) = (vec![0.0; searched], Vec::new(), Vec::new());
        Self { ranking, searched: searched as f64, mean_length, scores, touched, held, terms: 0 }
    }

    /// The same for a query of so many terms.
    pub(super) fn of_terms(self, terms: usize) -> Self {
        let held = if (2..=FEW_TERMS).contains(&terms) { vec![0; self.scores.len()] } else { Vec::new() };
        Self { held, terms, ..self }
    }

    /// How much a term says that stands in so many passages; it is the n-th rarest of the query.
    pub(super) fn weight(&self, number: usize, is_identifier: bool, passages: usize) -> f64 {
        let Ranking { rarity_power, identifier, deciding, common_share, faint, .. } = self.ranking;
        let holding = passages as f64;
        let rarity = (1.0 + (self.searched - holding + 0.5).max(0.0) / (holding + 0.5)).ln();
        let decides = number < deciding && holding <= (common_share * self.searched).max(FEW_PASSAGES);
        rarity.powf(rarity_power) * if is_identifier { identifier } else { 1.0 } * if decides { 1.0 } else { faint }
    }

    /// Adds what a term contributes that stands so often in a passage of so many terms.
    pub(super) fn add(&mut self, place: u32, weight: f64, times: u32, length: u32) {
        let Some(score) = self.scores.get_mut(place as usize) else {
            return;
        };
        if *score == 0.0 {
            self.touched.push(place);
        }
        if let Some(held) = self.held.get_mut(place as usize) {
            *held += 1;
        }
        let Ranking { saturation, length_weight, .. } = self.ranking;
        let times = f64::from(times);
        let held_back = 1.0 - length_weight + length_weight * f64::from(length) / self.mean_length;
        *score += weight * times * (saturation + 1.0) / (times + saturation * held_back);
    }

    /// The places of the best passages with their scores, best first; of equal ones the newest. Only passages that hold a term are among
    /// them.
    pub(super) fn best(self, limit: usize, length_of: impl Fn(u32) -> u32) -> Vec<(u32, f64)> {
        let ranked = |place: &u32| (self.holds_all(*place), self.at(*place, length_of(*place)), *place);
        let mut best: Vec<(bool, f64, u32)> = self.touched.iter().map(ranked).collect();
        let order =
            |a: &(bool, f64, u32), b: &(bool, f64, u32)| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2));
        if limit < best.len() {
            best.select_nth_unstable_by(limit, order);
            best.truncate(limit);
        }
        best.sort_unstable_by(order);
        best.into_iter().map(|(_, score, place)| (place, score)).collect()
    }

    fn holds_all(&self, place: u32) -> bool {
        self.held.get(place as usize).is_some_and(|held| usize::from(*held) == self.terms)
    }

    /// The score of a passage, with what it has of those before it, and by its length.
    fn at(&self, place: u32, length: u32) -> f64 {
        let Ranking { following, length_power, least_terms, .. } = self.ranking;
        let place = place as usize;
        let mut share = following;
        let mut score = self.scores[place];
        for before in self.scores[place.saturating_sub(REACH)..place].iter().rev() {
            score += share * before;
            share /= 2.0;
        }
        score * f64::from(length.max(least_terms)).powf(length_power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(scores: Scores, limit: usize, length_of: impl Fn(u32) -> u32) -> Vec<u32> {
        scores.best(limit, length_of).into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn by_bm25_rare_terms_and_short_passages_win_and_ties_go_to_the_newest() {
        let lengths = [10, 10, 40, 10];
        let new = || Scores::new(Ranking::BM25, 4, 70);
        let (rare, common) = (new().weight(0, false, 1), new().weight(1, false, 4));
        assert!(rare > common && common > 0.0);
        let mut scores = new();
        (0..4).zip(lengths).for_each(|(place, length)| scores.add(place, common, 1, length));
        assert_eq!(best(scores, 3, |place| lengths[place as usize]), [3, 1, 0]);
        let mut scores = new();
        (0..4).zip(lengths).for_each(|(place, length)| scores.add(place, common, 3, length));
        scores.add(2, rare, 1, 40);
        assert_eq!(best(scores, 9, |place| lengths[place as usize]), [2, 3, 1, 0]);
    }

    #[test]
    fn of_a_few_words_what_holds_all_of_them_is_best() {
        let lengths = [3, 400, 400];
        let best_of = |terms| {
            let mut scores = Scores::new(Ranking::default(), 3, 803).of_terms(terms);
            (0..2).for_each(|place| scores.add(place, 5.0, 1, lengths[place as usize]));
            [0, 2].iter().for_each(|place| scores.add(*place, 1.0, 1, lengths[*place as usize]));
            best(scores, 3, |place| lengths[place as usize])
        };
        assert_eq!(best_of(2)[0], 0, "short, but it has both");
        assert_ne!(best_of(FEW_TERMS + 1)[0], 0, "a long question is about its rarest words");
    }

    #[test]
    fn what_stands_behind_a_hit_and_what_says_more_is_better() {
        let mut scores = Scores::new(Ranking::default(), 20, 2_000);
        let weight = scores.weight(0, false, 1);
        (0..20).for_each(|place| scores.add(place, weight / 100.0, 1, 100));
        scores.add(8, weight, 1, 100);
        assert_eq!(best(scores, 6, |_| 100), [8, 9, 10, 11, 12, 13]);
        let mut scores = Scores::new(Ranking::default(), 20, 2_000);
        [3, 12].iter().for_each(|place| scores.add(*place, weight, 1, 100));
        assert_eq!(best(scores, 6, |place| if place == 3 { 400 } else { 41 }), [3, 12]);
    }

    #[test]
    fn the_rarest_terms_decide_and_an_identifier_counts_more_than_a_word() {
        let scores = Scores::new(Ranking::default(), 1_000, 1_000);
        assert!(scores.weight(11, false, 20) > 50.0 * scores.weight(11, false, 21), "21 of 1,000 are common");
        assert!(scores.weight(11, false, 2) > 50.0 * scores.weight(12, false, 2), "12 decide");
        assert!(scores.weight(0, true, 9) > 2.0 * scores.weight(0, false, 9));
    }
}
