//! Which passages are best: BM25 over the postings that are affordable.

/// The usual constants of BM25: how soon a repeated term stops counting, and how much long passages are held back.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// What scores are relative to: how many terms each passage has.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    lengths: Vec<u32>,
    sum: u64,
}

impl Lengths {
    /// Adds the next passage.
    pub(crate) fn push(&mut self, length: u32) {
        self.lengths.push(length);
        self.sum += u64::from(length);
    }

    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    fn mean(&self) -> f64 {
        (self.sum as f64 / self.lengths.len().max(1) as f64).max(1.0)
    }
}

/// The scores of one query.
#[derive(Debug)]
pub(crate) struct Scores<'i> {
    lengths: &'i Lengths,
    mean: f64,
    scores: Vec<f64>,
    touched: Vec<usize>,
}

impl<'i> Scores<'i> {
    pub(crate) fn new(lengths: &'i Lengths) -> Self {
        Self { lengths, mean: lengths.mean(), scores: vec![0.0; lengths.len()], touched: Vec::new() }
    }

    /// How much a term says that stands in so many passages.
    pub(crate) fn rarity(&self, passages: u32) -> f64 {
        let (all, holding) = (self.lengths.len() as f64, f64::from(passages));
        (1.0 + (all - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
    }

    /// Adds what a term contributes that stands so often in a passage.
    pub(crate) fn add(&mut self, passage: usize, rarity: f64, times: u32) {
        let (Some(score), Some(length)) = (self.scores.get_mut(passage), self.lengths.lengths.get(passage)) else {
            return;
        };
        if *score == 0.0 {
            self.touched.push(passage);
        }
        let times = f64::from(times);
        let held_back = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * f64::from(*length) / self.mean;
        *score += rarity * times * (SATURATION + 1.0) / (times + SATURATION * held_back);
    }

    /// The best passages, best first; of equal ones the newest.
    pub(crate) fn best(mut self, limit: usize) -> Vec<usize> {
        let scores = &self.scores;
        let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(b.cmp(a));
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
        let mut lengths = Lengths::default();
        [10, 10, 40, 10].into_iter().for_each(|length| lengths.push(length));
        let mut scores = Scores::new(&lengths);
        let (rare, common) = (scores.rarity(1), scores.rarity(4));
        assert!(rare > common && common > 0.0);
        (0..4).for_each(|passage| scores.add(passage, common, 1));
        assert_eq!(scores.best(3), [3, 1, 0]);
        let mut scores = Scores::new(&lengths);
        (0..4).for_each(|passage| scores.add(passage, common, 3));
        scores.add(2, rare, 1);
        assert_eq!(scores.best(9), [2, 3, 1, 0]);
    }
}
