//! Which names the ledger's page would hold, by other weights and costs than the shipped ones.
//!
//! A page is as long as the one that the ladder wrote, and is filled as the ladder fills it: lines by what their names
//! are worth per character, then bare names. Requests, files and commands are taken to use half of what is not lines.

use crate::corpus::FOLDS;
use crate::left::{Cut, LeftName};
use crate::shares::{names, plain_need, weighed_need};
use crate::weights::Weights;
use crate::{percent, source};
use louver::policy::LadderConfig;
use std::collections::{BTreeMap, HashSet};

const LINE_COSTS: [f64; 6] = [0.0, 4.0, 8.0, 16.0, 32.0, 64.0];
const NAME_COSTS: [f64; 5] = [0.0, 1.0, 2.0, 4.0, 8.0];
const FACTS: [usize; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Characters of a line that are kept.
const LINE_CHARS: u64 = 400;

/// How a page is filled.
#[derive(Clone, Debug)]
struct Filling {
    weights: Weights,
    line_cost: f64,
    name_cost: f64,
    /// How many names are remembered.
    facts: usize,
}

/// How much of what was needed stood on the pages.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    needed: f64,
    line: f64,
    mention: f64,
}

impl Held {
    fn of<'a>(cuts: impl Iterator<Item = &'a Cut>, filling: &Filling) -> Self {
        let mut held = Self::default();
        cuts.for_each(|cut| held.add(cut, filling));
        held
    }

    fn join(mut self, other: Self) -> Self {
        (self.needed, self.line) = (self.needed + other.needed, self.line + other.line);
        self.mention += other.mention;
        self
    }

    fn add(&mut self, cut: &Cut, filling: &Filling) {
        let known = filling.remembered(&cut.names);
        let lines_percent = u64::from(LadderConfig::default().lines_percent);
        let lines = filling.lines(&known, cut.page_chars * lines_percent / 100);
        let bare = filling.bare_names(&known, &lines, cut.page_chars * (100 - lines_percent) / 200);
        for (at, name) in cut.names.iter().enumerate().filter(|(_, name)| name.is_needed) {
            let has_line = lines.contains(&name.line);
            self.needed += name.weight;
            self.line += if has_line { name.weight } else { 0.0 };
            self.mention += if has_line || bare.contains(&at) { name.weight } else { 0.0 };
        }
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", percent(self.line / self.needed), percent(self.mention / self.needed))
    }
}

impl Filling {
    fn shipped() -> Result<Self, String> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small whole number")]
        let facts = source::number("FACTS: usize = ")? as usize;
        let (line_cost, name_cost) = (source::number("LINE_COST: u64 = ")?, source::number("NAME_COST: u64 = ")?);
        Ok(Self { weights: Weights::shipped()?, line_cost, name_cost, facts })
    }

    /// The names worth most, by position.
    fn remembered<'a>(&self, names: &'a [LeftName]) -> Vec<(usize, &'a LeftName)> {
        let mut known: Vec<(usize, &LeftName)> = names.iter().enumerate().collect();
        if known.len() > self.facts {
            let worth = |name: &LeftName| self.weights.of(name.features);
            known.select_nth_unstable_by(self.facts, |(_, a), (_, b)| worth(b).total_cmp(&worth(a)));
            known.truncate(self.facts);
        }
        known
    }

    fn lines(&self, known: &[(usize, &LeftName)], room_chars: u64) -> HashSet<u32> {
        let mut worth: BTreeMap<u32, (f64, u64)> = BTreeMap::new();
        for (_, name) in known {
            let line = worth.entry(name.line).or_insert((0.0, name.line_chars.min(LINE_CHARS)));
            line.0 += self.weights.of(name.features);
        }
        let density =
            |(line, (worth, chars)): (u32, (f64, u64))| (worth / (chars as f64 + self.line_cost), chars, line);
        fill(worth.into_iter().map(density).collect(), room_chars)
    }

    fn bare_names(&self, known: &[(usize, &LeftName)], lines: &HashSet<u32>, room_chars: u64) -> HashSet<usize> {
        let density = |(at, name): &(usize, &LeftName)| {
            (self.weights.of(name.features) / (name.name_chars as f64 + self.name_cost), name.name_chars, *at)
        };
        fill(known.iter().filter(|(_, name)| !lines.contains(&name.line)).map(density).collect(), room_chars)
    }
}

/// What there is room for, the densest first, each with a character between; of equals the newest.
fn fill<T: Copy + Ord + std::hash::Hash>(mut candidates: Vec<(f64, u64, T)>, room_chars: u64) -> HashSet<T> {
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.2.cmp(&a.2)));
    let mut room = room_chars;
    let mut taken = HashSet::new();
    for (_, chars, item) in candidates {
        if chars < room {
            room -= chars + 1;
            taken.insert(item);
        }
    }
    taken
}

/// Prints what other weights and costs would make of the page.
pub(crate) fn report(cuts: &[Cut]) -> Result<(), String> {
    let shipped = Filling::shipped()?;
    println!("of what was needed and out of sight, how much stands on a page of the same length      line mention");
    let show = |name: &str, held: Held| println!("  {name:<70} {held}");
    show("as shipped", Held::of(cuts.iter(), &shipped));
    show("all names worth the same", Held::of(cuts.iter(), &Filling { weights: Weights::equal(), ..shipped.clone() }));
    show("fitted weights, held out", held_out(cuts, &shipped, weighed_need));
    show("fitted weights, not weighed by rarity, held out", held_out(cuts, &shipped, plain_need));
    for line_cost in LINE_COSTS {
        show(&format!("LINE_COST {line_cost}"), Held::of(cuts.iter(), &Filling { line_cost, ..shipped.clone() }));
    }
    for name_cost in NAME_COSTS {
        show(&format!("NAME_COST {name_cost}"), Held::of(cuts.iter(), &Filling { name_cost, ..shipped.clone() }));
    }
    for facts in FACTS {
        show(&format!("FACTS {facts}"), Held::of(cuts.iter(), &Filling { facts, ..shipped.clone() }));
    }
    Ok(())
}

/// Each part of the conversations by weights that were fitted to the others.
fn held_out(cuts: &[Cut], shipped: &Filling, need: fn(&LeftName) -> f64) -> Held {
    let of = |fold: usize| {
        let weights = Weights::fitted(names(cuts, move |other| other != fold), need);
        Held::of(cuts.iter().filter(|cut| cut.fold == fold), &Filling { weights, ..shipped.clone() })
    };
    (0..FOLDS).map(of).fold(Held::default(), Held::join)
}
