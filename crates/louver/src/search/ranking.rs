//! Which passages are best: BM25.

/// The usual constants of BM25: how soon a repeated term stops counting, and how much long passages are held back.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// The scores of one query.
#[derive(Debug)]
pub(super) struct Scores {
    /// How many passages are searched, and how many terms they have in the mean.
    searched: f64,
    mean_length: f64,
    scores: Vec<f64>,
    touched: Vec<u32>,
}

impl Scores {
    /// For an index of so many passages of which some are searched, which have so many terms together.
    pub(super) fn new(passages: usize, searched: usize, terms: u64) -> Self {
        let searched = searched as f64;
        let mean_length = (terms as f64 / searched.max(1.0)).max(1.0);
        Self { searched, mean_length, scores: vec![0.0; passages], touched: Vec::new() }
    }

    /// How much a term says that stands in so many passages.
    pub(super) fn rarity(&self, passages: usize) -> f64 {
        let holding = passages as f64;
        (1.0 + (self.searched - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
    }

    /// Adds what a term contributes that stands so often in a passage of so many terms.
    pub(super) fn add(&mut self, passage: u32, rarity: f64, times: u32, length: u32) {
        let Some(score) = self.scores.get_mut(passage as usize) else {
            return;
        };
        if *score == 0.0 {
            self.touched.push(passage);
        }
        let times = f64::from(times);
        let held_back = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * f64::from(length) / self.mean_length;
        *score += rarity * times * (SATURATION + 1.0) / (times + SATURATION * held_back);
    }

    /// The best passages, best first; of equal ones the newest.
    pub(super) fn best(mut self, limit: usize) -> Vec<u32> {
        let scores = &self.scores;
        let order = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(b.cmp(a));
        if limit < self.touched.len() {
            self.touched.select_nth_unstable_by(limit, order);
            self.touched.truncate(limit);
        }
        self.touched.sort_unstable_by(order);
        self.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_and_short_passages_win_and_ties_go_to_the_newest() {
        let lengths = [10, 10, 40, 10];
        let new = || Scores::new(4, 4, 70);
        let (rare, common) = (new().rarity(1), new().rarity(4));
        assert!(rare > common && common > 0.0);
        let mut scores = new();
        (0..4).zip(lengths).for_each(|(passage, length)| scores.add(passage, common, 1, length));
        assert_eq!(scores.best(3), [3, 1, 0]);
        let mut scores = new();
        (0..4).zip(lengths).for_each(|(passage, length)| scores.add(passage, common, 3, length));
        scores.add(2, rare, 1, 40);
        assert_eq!(scores.best(9), [2, 3, 1, 0]);
    }
}
