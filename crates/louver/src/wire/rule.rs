//! What a provider refuses, as a table: a rule, how it is found, and what makes it legal.

use super::pairing::{PartPlace, Unpaired, in_message};
use super::repair::{Change, Repair, Spot, leaves_only_thinking, spots};
use super::{Fix, History, Violation, Wire};

/// One thing that a provider refuses.
///
/// Fixes are made in the order of the table, from what stands alone to what depends on neighbours: a message that goes
/// lets its neighbours meet.
#[derive(Debug)]
pub struct Rule {
    /// Its short name, such as `tool-use-without-result`. Two rows may share one.
    pub(super) name: &'static str,
    /// The provider's own words. `{index}` stands for the message, `{path}` for the place as Anthropic writes it,
    /// `{id}` and `{what}` for what was found there.
    pub(super) wording: &'static str,
    /// What is so in a legal history: the reason for each change.
    pub(super) law: &'static str,
    /// Where a history breaks it.
    pub(super) check: fn(&Case<'_>) -> Vec<Finding>,
    /// Makes what was found legal, as far as it can be.
    pub(super) fix: fn(&mut Repair<'_>, &[Finding]),
}

/// Something that a provider is said to refuse, though real histories hold it: worth a warning, no violation.
#[derive(Debug)]
pub struct Advice {
    /// Its short name, such as `tool-use-id-repeats`.
    pub(super) name: &'static str,
    /// The words it is refused with, filled in as those of a [`Rule`].
    pub(super) wording: &'static str,
    /// Where a history goes against it.
    pub(super) check: fn(&Case<'_>) -> Vec<Finding>,
}

/// A history on trial.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) history: &'a History<'a>,
    /// Calls and results that did not find each other.
    pub(super) unpaired: Unpaired,
}

impl<'a> Case<'a> {
    fn of(wire: &Wire, history: &'a History<'a>) -> Self {
        Self { history, unpaired: Unpaired::of(wire.pairing, &history.messages) }
    }

    /// A finding for each message of which this is true.
    pub(super) fn messages_where(&self, is_refused: impl Fn(Spot<'_>) -> bool) -> Vec<Finding> {
        spots(&self.history.messages).filter(|spot| is_refused(*spot)).map(|spot| Finding::at(spot.index)).collect()
    }

    /// What is found in each message.
    pub(super) fn each(&self, find: impl Fn(Spot<'a>) -> Vec<Finding>) -> Vec<Finding> {
        spots(&self.history.messages).flat_map(find).collect()
    }
}

/// A place where a rule is broken.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// The message; the number of messages where it is something at the end.
    pub(super) index: usize,
    /// The parts it is about, none where it is about the whole message.
    pub(super) parts: Vec<usize>,
    /// Where inside the message, such as `.content[2]`.
    pub(super) place: String,
    pub(super) id: String,
    pub(super) what: String,
}

impl Finding {
    /// A whole message.
    pub(super) fn at(index: usize) -> Self {
        Self { index, ..Self::default() }
    }

    fn violation(self, rule: &'static str, wording: &str) -> Violation {
        let message = self.words(wording);
        Violation { rule, index: self.index, place: self.place, message }
    }

    fn words(&self, wording: &str) -> String {
        let mut pieces = wording.split('{');
        let mut words = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
            match name {
                "index" => words += &self.index.to_string(),
                "path" => words += &format!("messages.{}{}", self.index, self.place.replace('[', ".").replace(']', "")),
                "id" => words += &self.id,
                _ => words += &self.what,
            }
            words += rest;
        }
        words
    }
}

/// What rules and advice have in common: name, wording, check.
type Row = (&'static str, &'static str, fn(&Case<'_>) -> Vec<Finding>);

impl Wire {
    /// Every rule that the provider would refuse this history for, in message order.
    pub fn check(&self, history: &History<'_>) -> Vec<Violation> {
        self.found(history, self.rules.iter().map(|rule| (rule.name, rule.wording, rule.check)))
    }

    /// Everything about this history that a provider may refuse and that is no violation, in message order.
    pub fn advise(&self, history: &History<'_>) -> Vec<Violation> {
        self.found(history, self.advice.iter().map(|advice| (advice.name, advice.wording, advice.check)))
    }

    fn found(&self, history: &History<'_>, table: impl Iterator<Item = Row>) -> Vec<Violation> {
        let case = Case::of(self, history);
        let mut violations = Vec::new();
        for (name, wording, check) in table {
            violations.extend(check(&case).into_iter().map(|finding| finding.violation(name, wording)));
        }
        violations.sort_by_key(|violation| violation.index);
        violations
    }

    /// The smallest set of changes after which `check` is empty, in message order; as near to it as
    /// they get where something cannot be mended.
    pub fn repair(&'static self, history: &History<'_>) -> Vec<Fix> {
        let mut repair = Repair::of(self, history);
        // No fix undoes another, so the table is gone through once per row at most; the bound is for one that might.
        for _ in 0..4 * self.rules.len() {
            if !self.mend(&mut repair) {
                break;
            }
        }
        repair.fixes()
    }

    /// Makes the fixes of the first rule that can be mended and says whether there was one. A change may let another
    /// rule be broken, or an earlier one be mended better, so what the others found is of no use then.
    fn mend(&self, repair: &mut Repair<'_>) -> bool {
        let history = repair.history();
        let case = Case::of(self, &history);
        let found: Vec<_> = self.rules.iter().map(|rule| (rule, (rule.check)(&case))).collect();
        let mut broken = found.iter().filter(|(_, found)| !found.is_empty());
        broken.any(|(rule, found)| {
            let changes = repair.changes;
            repair.reason = rule.law;
            (rule.fix)(repair, found);
            repair.changes > changes
        })
    }
}

/// A finding for each message that holds some of these parts. `describe` gets the message's index and its parts.
pub(super) fn by_message(places: &[PartPlace], describe: impl Fn(usize, Vec<usize>) -> Finding) -> Vec<Finding> {
    let messages = places.chunk_by(|a, b| a.index == b.index).map(|places| places[0].index);
    messages.map(|index| describe(index, in_message(places, index))).collect()
}

/// The findings in one message.
fn found_at(found: &[Finding], index: usize) -> &[Finding] {
    let start = found.partition_point(|finding| finding.index < index);
    let end = found.partition_point(|finding| finding.index <= index);
    &found[start..end]
}

/// Takes the messages out.
pub(super) fn remove(repair: &mut Repair<'_>, found: &[Finding]) {
    repair.pass(|spot| if found_at(found, spot.index).is_empty() { Change::Keep } else { Change::Remove });
}

/// Takes the parts out, and messages of which nothing is left.
pub(super) fn drop_parts(repair: &mut Repair<'_>, found: &[Finding]) {
    repair.pass(|spot| match parts_found(found, spot.index) {
        parts if parts.is_empty() => Change::Keep,
        parts => Change::DropParts(parts),
    });
}

/// The same, but thinking does not stay behind alone: it led to what goes.
pub(super) fn drop_parts_and_lone_thinking(repair: &mut Repair<'_>, found: &[Finding]) {
    drop_found_and_lone_thinking(repair, |spot| parts_found(found, spot.index));
}

/// The same for other parts than those that were found.
pub(super) fn drop_found_and_lone_thinking(repair: &mut Repair<'_>, find: impl Fn(Spot<'_>) -> Vec<usize>) {
    repair.pass(|spot| {
        let mut parts = find(spot);
        parts.sort_unstable();
        match parts.is_empty() {
            true => Change::Keep,
            false if leaves_only_thinking(spot.message, &parts) => Change::Remove,
            false => Change::DropParts(parts),
        }
    });
}

/// The parts that were found in one message.
pub(super) fn parts_found(found: &[Finding], index: usize) -> Vec<usize> {
    let mut parts: Vec<_> = found_at(found, index).iter().flat_map(|finding| finding.parts.iter().copied()).collect();
    parts.sort_unstable();
    parts
}

/// Puts a message of the user before each.
pub(super) fn precede(repair: &mut Repair<'_>, found: &[Finding]) {
    repair.pass(|spot| if found_at(found, spot.index).is_empty() { Change::Keep } else { Change::Precede });
}

/// Puts a message of the user at the end.
pub(super) fn append(repair: &mut Repair<'_>, _found: &[Finding]) {
    repair.append_bridge();
}
