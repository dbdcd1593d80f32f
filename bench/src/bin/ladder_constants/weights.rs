//! What a name is worth, as a product over what is known of it.

use crate::features::{FEATURES, Feature, Features};
use crate::left::LeftName;
use crate::source;
use std::collections::HashMap;

/// What each level of each feature is worth: a name is worth the product.
#[derive(Clone, Debug)]
pub(crate) struct Weights(pub(crate) Vec<Vec<f64>>);

impl Weights {
    /// All names alike.
    pub(crate) fn equal() -> Self {
        Self(FEATURES.iter().map(|feature| vec![1.0; feature.levels.len()]).collect())
    }

    /// Those of the engine's source.
    pub(crate) fn shipped() -> Result<Self, String> {
        let of = |feature: &Feature| feature.levels.iter().map(|level| source::number(level.source)).collect();
        Ok(Self(FEATURES.iter().map(of).collect::<Result<_, _>>()?))
    }

    /// The product that explains best what was needed, where `need` says how much of each name was: each level is set to
    /// what was needed over what the others make expect, again and again. For needs that are rare and come one by one
    /// this is the likeliest product.
    pub(crate) fn fitted<'a>(names: impl Iterator<Item = &'a LeftName>, need: impl Fn(&LeftName) -> f64) -> Self {
        const ROUNDS: usize = 30;
        let mut cells: HashMap<Features, Seen> = HashMap::new();
        for name in names {
            cells.entry(name.features).or_default().add(need(name));
        }
        let mut weights = Self::equal();
        for round in 0..ROUNDS * FEATURES.len() {
            weights.explain(round % FEATURES.len(), &cells);
        }
        weights
    }

    fn explain(&mut self, feature: usize, cells: &HashMap<Features, Seen>) {
        let mut wanted = vec![Seen::default(); self.0[feature].len()];
        for (features, seen) in cells {
            let level = features.0[feature];
            wanted[level].needed += seen.needed;
            wanted[level].names += seen.names * self.of(*features) / self.0[feature][level];
        }
        // A level that was seen once or twice stays near what is usual.
        let usual = ratio(wanted.iter().map(|seen| seen.needed).sum(), wanted.iter().map(|seen| seen.names).sum());
        self.0[feature] = wanted.iter().map(|seen| ratio(seen.needed + 1.0, seen.names + 1.0 / usual)).collect();
    }

    /// What a name is worth.
    pub(crate) fn of(&self, features: Features) -> f64 {
        self.0.iter().zip(features.0).map(|(worth, level)| worth[level]).product()
    }

    /// The same in the units of other weights: over all names a feature is worth as much as there.
    pub(crate) fn in_units_of(mut self, other: &Self, names: &[Vec<Seen>]) -> Self {
        for ((own, other), seen) in self.0.iter_mut().zip(&other.0).zip(names) {
            let whole = |worth: &[f64]| worth.iter().zip(seen).map(|(worth, seen)| worth * seen.names).sum();
            let factor = ratio(whole(other), whole(own));
            own.iter_mut().for_each(|worth| *worth *= factor);
        }
        self
    }
}

/// How many names there were, and how much of them was needed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) names: f64,
    pub(crate) needed: f64,
}

impl Seen {
    pub(crate) fn add(&mut self, needed: f64) {
        self.names += 1.0;
        self.needed += needed;
    }

    pub(crate) fn share(self) -> f64 {
        ratio(self.needed, self.names)
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Kind, Origin};

    #[test]
    fn a_product_is_found_again() {
        let name = |origin, kind, is_needed| LeftName {
            features: Features::of(origin, kind, 0, 1, (0, 1)),
            weight: 1.0,
            is_needed,
        };
        // Chances of 4, 8, 12 and 24 %: twice for paths, three times for the model's own.
        let mut names = Vec::new();
        for (origin, kind, percent) in [
            (Origin::ToolAlone, Kind::Word, 4),
            (Origin::ToolAlone, Kind::Path, 8),
            (Origin::Own, Kind::Word, 12),
            (Origin::Own, Kind::Path, 24),
        ] {
            names.extend((0..20_000).map(|at| name(origin, kind, at % 100 < percent)));
        }
        let weights = Weights::fitted(names.iter(), |name| f64::from(u8::from(name.is_needed)));
        let (origins, kinds) = (&weights.0[0], &weights.0[1]);
        let of_own = origins[Origin::Own as usize] / origins[Origin::ToolAlone as usize];
        let of_paths = kinds[Kind::Path as usize] / kinds[Kind::Word as usize];
        assert!((of_own - 3.0).abs() < 0.01 && (of_paths - 2.0).abs() < 0.01, "{of_own} {of_paths}");
    }

    #[test]
    fn the_source_has_every_constant() {
        Weights::shipped().unwrap();
    }
}
