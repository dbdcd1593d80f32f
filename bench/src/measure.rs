//! Medians of times.

use std::time::Instant;

/// Times of several runs.
#[derive(Clone, Debug, Default)]
pub struct Median(Vec<u64>);

impl Median {
    /// Adds a run.
    pub fn add(&mut self, ns: u64) {
        self.0.push(ns);
    }

    /// The middle one; 0 without runs.
    #[must_use]
    pub fn get(&self) -> u64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0)
    }

    /// The fastest one; 0 without runs.
    #[must_use]
    pub fn fastest(&self) -> u64 {
        self.0.iter().copied().min().unwrap_or(0)
    }
}

/// How long `run` takes. What it returns is dropped outside of the measured time.
pub fn nanoseconds<T>(run: impl FnOnce() -> T) -> u64 {
    let start = Instant::now();
    let result = std::hint::black_box(run());
    let elapsed = start.elapsed();
    drop(result);
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// The median of so many runs.
pub fn median_ns<T>(runs: usize, mut run: impl FnMut() -> T) -> u64 {
    let mut median = Median::default();
    for _ in 0..runs {
        median.add(nanoseconds(&mut run));
    }
    median.get()
}

/// Two things that were run in turns, so that a busy machine slows down both.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The first one's median.
    pub one_ns: u64,
    /// The other one's.
    pub other_ns: u64,
    /// How many times as long the other takes: the median over neighbouring runs.
    pub ratio: f64,
    /// The same of the fastest runs of both, which a busy machine disturbs the least.
    pub best_ratio: f64,
}

/// Runs two things in turns.
pub fn measure_pair<A, B>(runs: usize, mut one: impl FnMut() -> A, mut other: impl FnMut() -> B) -> Pair {
    let (mut first, mut second) = (Median::default(), Median::default());
    let mut ratios = Vec::with_capacity(runs);
    for _ in 0..runs {
        let (one_ns, other_ns) = (nanoseconds(&mut one), nanoseconds(&mut other));
        first.add(one_ns);
        second.add(other_ns);
        ratios.push(other_ns as f64 / one_ns.max(1) as f64);
    }
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(runs / 2).copied().unwrap_or(0.0);
    let best_ratio = second.fastest() as f64 / first.fastest().max(1) as f64;
    Pair { one_ns: first.get(), other_ns: second.get(), ratio, best_ratio }
}

/// Bytes per nanosecond.
#[must_use]
pub fn gigabytes_per_second(bytes: usize, ns: u64) -> f64 {
    bytes as f64 / ns.max(1) as f64
}

/// What this process holds in memory, in bytes.
#[must_use]
pub fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    resident.unwrap_or_default() * 4096
}

#[cfg(test)]
mod tests {
    use super::Median;

    #[test]
    fn the_median_is_the_middle_one() {
        let mut median = Median::default();
        assert_eq!(median.get(), 0);
        [9, 1, 5].into_iter().for_each(|ns| median.add(ns));
        assert_eq!(median.get(), 5);
    }
}
