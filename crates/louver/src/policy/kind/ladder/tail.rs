//! The recent tail of a view.

use super::config::Marks;
use crate::policy::PolicyInput;
use crate::tokens::Millitokens;

/// The newest units that hold as much as is to be kept. What they hold is carried from request to request, so that a
/// request costs O(its new messages); where anything that the sum goes by has changed, it is taken anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    /// Its first message. It never moves back: what stood before it was offered for a cut.
    pub(super) start: usize,
    /// What it holds, no message counting more than its share.
    held: Millitokens,
    /// The model's turns in it.
    turns: u64,
    basis: Basis,
}

/// What the sum goes by. Costs change with a provider's compaction and with a caller's own figure, shares with the
/// budget, and messages leave in ways that no policy is told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Basis {
    /// The length of the log, and how much of it was in the view.
    end: usize,
    kept: usize,
    /// What the tail cost as it came in.
    logged: Millitokens,
    most_of_tail_tokens: u64,
    keep_recent_turns: u64,
}

impl Tail {
    /// Lets the tail start at the newest unit behind which it would not hold enough. O(new messages), amortised.
    pub(super) fn at(mut self, input: &PolicyInput<'_>, marks: Marks) -> Self {
        let new = in_view(input, self.basis.end).count();
        let mut from = self.basis.end;
        if self.basis != self.basis_at(from, input.kept_messages() - new, input, marks) {
            (self.held, self.turns, from) = (Millitokens::ZERO, 0, self.start);
        }
        self.turns += turns_in(input, in_view(input, from));
        self.held += in_view(input, from).map(|index| marks.of_tail(input, index)).sum();
        self.pass(input, marks);
        self.basis = self.basis_at(input.log_len(), input.kept_messages(), input, marks);
        self
    }

    fn basis_at(&self, end: usize, kept: usize, input: &PolicyInput<'_>, marks: Marks) -> Basis {
        let logged = input.logged(self.start..end);
        let Marks { most_of_tail_tokens, keep_recent_turns, .. } = marks;
        Basis { end, kept, logged, most_of_tail_tokens, keep_recent_turns }
    }

    /// Passes the units without which it still holds enough: as many turns as are to be kept, or as many tokens.
    fn pass(&mut self, input: &PolicyInput<'_>, marks: Marks) {
        let keep = Millitokens::from_tokens(marks.keep_recent_tokens);
        let mut position = input.units().partition_point(|unit| unit.range.end <= self.start);
        while let Some(unit) = input.units().get(position) {
            let passed = || unit.range.clone().filter(|index| *index >= self.start);
            let behind = self.held.saturating_sub(passed().map(|index| marks.of_tail(input, index)).sum());
            let turns_behind = self.turns.saturating_sub(turns_in(input, passed()));
            if behind < keep && turns_behind < marks.keep_recent_turns {
                self.start = unit.range.start;
                break;
            }
            (self.start, self.held, self.turns) = (unit.range.end, behind, turns_behind);
            position += 1;
        }
    }
}

/// The model's turns that begin in these messages.
fn turns_in(input: &PolicyInput<'_>, messages: impl Iterator<Item = usize>) -> u64 {
    let is_models = |index: usize| input.original(index).shape().is_from_model();
    messages.filter(|index| is_models(*index) && !(*index > 0 && is_models(*index - 1))).count() as u64
}

/// The messages in the view from an index on. O(those).
fn in_view<'a>(input: &PolicyInput<'a>, from: usize) -> impl Iterator<Item = usize> + use<'a> {
    let units = input.units();
    let position = units.partition_point(|unit| unit.range.end <= from);
    units.range(position..).flat_map(|unit| unit.range.clone()).filter(move |index| *index >= from)
}
