//! The table behind a name's worth: what the engine's source has, beside what the conversations say.

use crate::corpus::FOLDS;
use crate::features::FEATURES;
use crate::left::{Cut, LeftName};
use crate::percent;
use crate::weights::{Seen, Weights};

/// How much of a name was needed, as recall weighs it: a name that stands everywhere counts little.
pub(crate) fn weighed_need(name: &LeftName) -> f64 {
    if name.is_needed { name.weight } else { 0.0 }
}

/// Whether a name was needed.
pub(crate) fn plain_need(name: &LeftName) -> f64 {
    f64::from(u8::from(name.is_needed))
}

/// All names of the cuts of some parts.
pub(crate) fn names<'a>(cuts: &'a [Cut], is_wanted: impl Fn(usize) -> bool + 'a) -> impl Iterator<Item = &'a LeftName> {
    cuts.iter().filter(move |cut| is_wanted(cut.fold)).flat_map(|cut| &cut.names)
}

/// Prints the table.
pub(crate) fn report(cuts: &[Cut]) -> Result<(), String> {
    let shipped = Weights::shipped()?;
    let seen = seen(cuts);
    let in_units = |weights: Weights| weights.in_units_of(&shipped, &seen);
    let plain = in_units(Weights::fitted(names(cuts, |_| true), plain_need));
    let weighed = in_units(Weights::fitted(names(cuts, |_| true), weighed_need));
    let without = |fold: usize| in_units(Weights::fitted(names(cuts, move |other| other != fold), weighed_need));
    let folds: Vec<Weights> = (0..FOLDS).map(without).collect();
    let needed = names(cuts, |_| true).filter(|name| name.is_needed).count();
    println!(
        "{} cuts took {} names out of sight; {needed} of them stood in an answer before the next cut and nowhere else.",
        cuts.len(),
        names(cuts, |_| true).count(),
    );
    println!(
        "source: the engine's. fitted: the product of five that explains best what was needed, each name weighed by one"
    );
    println!(
        "over the messages that hold it (low to high: with a fifth of the conversations left out); plain: not weighed."
    );
    for (at, feature) in FEATURES.iter().enumerate() {
        println!("\n{:<30}   names  needed   share | source  fitted   low  high | plain", feature.name);
        let places = if shipped.0[at][0] < 10.0 { 2 } else { 0 };
        for (level, about) in feature.levels.iter().enumerate() {
            let range = folds.iter().map(|weights| weights.0[at][level]);
            println!(
                "  {:<28} {:>7} {:>7} {} | {:>6.places$}  {:>6.places$} {:>5.places$} {:>5.places$} | {:>5.places$}",
                about.name,
                seen[at][level].names,
                seen[at][level].needed,
                percent(seen[at][level].share()),
                shipped.0[at][level],
                weighed.0[at][level],
                range.clone().fold(f64::INFINITY, f64::min),
                range.fold(0.0, f64::max),
                plain.0[at][level],
            );
        }
    }
    Ok(())
}

/// Each level of each feature by itself.
fn seen(cuts: &[Cut]) -> Vec<Vec<Seen>> {
    let mut seen: Vec<Vec<Seen>> = FEATURES.iter().map(|feature| vec![Seen::default(); feature.levels.len()]).collect();
    for name in names(cuts, |_| true) {
        seen.iter_mut().zip(name.features.0).for_each(|(levels, level)| levels[level].add(plain_need(name)));
    }
    seen
}
