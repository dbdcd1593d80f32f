//! What a name is worth: how likely it is referred to again before the next cut.
//!
//! A product of five tables, fitted to what left real conversations and was needed again (`docs/ladder.md`).

use super::ledger::Fact;
use super::names::NameKind;
use crate::plain_text::Speaker;
use crate::policy::PolicyInput;

/// What the product is divided by, so that worths add up in small numbers: [`CHANCE_OF_A_MILLION`] times a millionth of
/// a worth is the chance.
const SCALE: u64 = 10_000;
/// The chance of a name of worth 1,000,000: in ten thousandths.
pub(super) const CHANCE_OF_A_MILLION: u64 = 102;

/// By age in tokens, in hundredths, and what beyond the last.
const BY_AGE: [(u64, u64); 5] = [(5_000, 294), (10_000, 237), (20_000, 162), (40_000, 83), (80_000, 62)];
const BY_GREAT_AGE: u64 = 22;
/// By how many messages hold it; the last for as many and more.
const BY_MESSAGES: [u64; 5] = [64, 117, 105, 93, 121];
/// By the share of its message's names that still stand in the view, in percent.
const BY_NEIGHBOURS: [(u32, u64); 4] = [(2, 80), (8, 103), (20, 155), (40, 175)];
const BY_MANY_NEIGHBOURS: u64 = 191;

/// The first messages that are less than so many tokens old.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ages([u32; BY_AGE.len()]);

impl Ages {
    pub(super) fn of(input: &PolicyInput<'_>) -> Self {
        let first_younger = |tokens: u64| {
            let (mut young, mut old) = (input.log_len(), 0);
            while old < young {
                let middle = old.midpoint(young);
                let age = input.logged(middle..input.log_len()).thousandths() / 1_000;
                (young, old) = if age < tokens { (middle, old) } else { (young, middle + 1) };
            }
            u32::try_from(young).unwrap_or(u32::MAX)
        };
        Self(BY_AGE.map(|(tokens, _)| first_younger(tokens)))
    }

    fn worth(self, message: u32) -> u64 {
        let found = self.0.iter().zip(BY_AGE).find(|(first, _)| message >= **first);
        found.map_or(BY_GREAT_AGE, |(_, (_, worth))| worth)
    }
}

/// What a message says of the worth of all its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    by_age: u64,
    by_neighbours: u64,
}

impl Surroundings {
    /// `in_sight` says how many of the message's names still stand in the view, and of how many.
    pub(super) fn of(message: u32, ages: Ages, in_sight: Option<(u32, u32)>) -> Self {
        let by_neighbours = in_sight.map_or(100, |(seen, all)| {
            let found = BY_NEIGHBOURS.iter().find(|(percent, _)| seen * 100 < percent * all.max(1));
            found.map_or(BY_MANY_NEIGHBOURS, |(_, worth)| *worth)
        });
        Self { by_age: ages.worth(message), by_neighbours }
    }
}

/// What a name is worth.
pub(super) fn worth(fact: &Fact, around: Surroundings) -> u64 {
    let by_speaker = match (fact.speaker, fact.own_uses) {
        (Speaker::Own, _) => 444,
        (Speaker::User, _) => 48,
        (Speaker::Tool, 0) => 63,
        (Speaker::Tool, _) => 268,
    };
    let by_kind = match fact.kind {
        NameKind::Dotted => 112,
        NameKind::Path => 126,
        NameKind::Word => 116,
        NameKind::Number => 28,
        NameKind::Hash => 48,
        NameKind::Address => 39,
    };
    let by_messages = BY_MESSAGES[usize::from(fact.messages.max(1) - 1).min(BY_MESSAGES.len() - 1)];
    by_speaker * by_kind * around.by_age * by_messages / SCALE * around.by_neighbours
}
