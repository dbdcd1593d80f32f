//! What a recorded answer refers to.

use super::names_and_lines::{NamesAndLines, Occurrence};
use crate::conversation::Turn;
use louver::plain_text::Speaker;
use std::collections::HashMap;

/// How many turns ago something last stood in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Age {
    /// This turn or the one before.
    Fresh,
    /// 2 to 5 turns.
    UpTo5,
    /// 6 to 20 turns.
    UpTo20,
    /// 21 to 100 turns.
    UpTo100,
    /// More than 100 turns.
    Over100,
}

impl Age {
    /// All ages, youngest first.
    pub const ALL: [Self; 5] = [Self::Fresh, Self::UpTo5, Self::UpTo20, Self::UpTo100, Self::Over100];

    /// The most turns of each bucket, and its name in reports.
    const BUCKETS: [(usize, &str); 5] = [(1, "0-1"), (5, "2-5"), (20, "6-20"), (100, "21-100"), (usize::MAX, ">100")];

    /// The bucket of an age in turns.
    pub fn of_turns(turns: usize) -> Self {
        Self::ALL[Self::BUCKETS.partition_point(|(most, _)| turns > *most)]
    }

    /// Whether it is more than five turns: about what is younger nearly every window knows.
    pub fn is_old(self) -> bool {
        self > Self::UpTo5
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        Self::BUCKETS[self as usize].1
    }
}

/// An identifier of a recorded answer that stood in an earlier message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// The identifier.
    pub identifier: u32,
    /// One over the number of earlier messages that hold it.
    pub weight: f64,
    /// The line in which it last stood.
    pub line: u32,
    /// That line with its neighbours.
    pub passage: u64,
    /// The message in which it last stood.
    pub message: usize,
    /// How long ago that was.
    pub age: Age,
    /// Whose line it was.
    pub origin: Speaker,
    /// Whether the user ever wrote it.
    pub is_users: bool,
    /// Whether the answer uses it as an argument of a file edit.
    pub is_edit: bool,
}

/// What is known of an identifier from the messages so far.
#[derive(Clone, Copy, Debug)]
struct Trace {
    messages: u32,
    last: Occurrence,
    last_message: usize,
    is_users: bool,
}

/// The references of every turn. `known_from_start` are the identifiers of the system prompt and of the first user
/// message, ascending; they never count.
#[must_use]
pub fn references(messages: &[&NamesAndLines], turns: &[Turn], known_from_start: &[u32]) -> Vec<Vec<Reference>> {
    let mut traces: HashMap<u32, Trace> = HashMap::new();
    let mut turn_of = vec![0; messages.len()];
    let mut read = 0;
    let mut all = Vec::with_capacity(turns.len());
    for (number, turn) in turns.iter().enumerate() {
        for index in read..turn.at {
            turn_of[index] = number;
            trace(&mut traces, index, messages[index]);
        }
        read = turn.at;
        let used = used(&messages[turn.at..turn.answer_end]);
        let referred = used.into_iter().filter(|(identifier, _)| known_from_start.binary_search(identifier).is_err());
        let found = referred.filter_map(|(identifier, is_edit)| {
            let trace = traces.get(&identifier)?;
            let passage = messages[trace.last_message].passage(trace.last.at);
            let turns = number - turn_of[trace.last_message];
            Some(Reference { passage, ..reference(identifier, is_edit, trace, turns) })
        });
        all.push(found.collect());
    }
    all
}

fn reference(identifier: u32, is_edit: bool, trace: &Trace, turns: usize) -> Reference {
    Reference {
        identifier,
        weight: 1.0 / f64::from(trace.messages),
        line: trace.last.line,
        passage: 0,
        message: trace.last_message,
        age: Age::of_turns(turns),
        origin: trace.last.speaker,
        is_users: trace.is_users,
        is_edit,
    }
}

/// The identifiers of an answer, ascending, and whether an edit uses them.
fn used(answer: &[&NamesAndLines]) -> Vec<(u32, bool)> {
    let mut used: Vec<(u32, bool)> = answer
        .iter()
        .flat_map(|message| message.occurrences.iter().map(|occurrence| (occurrence.identifier, occurrence.is_edit)))
        .collect();
    // An edit sorts behind a mention, and the last of equal identifiers is kept.
    used.sort_unstable();
    used.reverse();
    used.dedup_by_key(|(identifier, _)| *identifier);
    used.reverse();
    used
}

fn trace(traces: &mut HashMap<u32, Trace>, index: usize, message: &NamesAndLines) {
    for occurrence in &message.occurrences {
        let is_users = occurrence.speaker == Speaker::User;
        let fresh = Trace { messages: 0, last: *occurrence, last_message: usize::MAX, is_users };
        let trace = traces.entry(occurrence.identifier).or_insert(fresh);
        trace.messages += u32::from(trace.last_message != index);
        trace.last = *occurrence;
        trace.last_message = index;
        trace.is_users |= is_users;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::Numbering;
    use louver::wire::{Format, Message};

    /// Who says what, one message each; the model's messages are the answers.
    fn references_of(said: &[(&str, &str)], known: &str) -> (Vec<Vec<Reference>>, Numbering) {
        let mut numbering = Numbering::default();
        let messages: Vec<NamesAndLines> = said
            .iter()
            .map(|(role, text)| {
                let raw = format!(r#"{{"role":"{role}","content":{}}}"#, louver::json::text::encode(text));
                numbering.read(&Message::parse(Format::OpenAiChat, &raw).unwrap())
            })
            .collect();
        let answers = said.iter().enumerate().filter(|(_, (role, _))| *role == "assistant");
        let turns: Vec<Turn> = answers.map(|(at, _)| Turn { at, answer_end: at + 1 }).collect();
        let known = numbering.identifiers_of(known);
        (references(&messages.iter().collect::<Vec<_>>(), &turns, &known), numbering)
    }

    #[test]
    fn a_reference_weighs_one_over_the_messages_that_hold_it() {
        let said = [
            ("user", "look at old_name and at task_name"),
            ("tool", "old_name twice: old_name\nnew_name here"),
            ("assistant", "old_name, new_name, task_name and own_name"),
        ];
        let (found, numbering) = references_of(&said, "task_name");
        let names = numbering.names();
        let weights: Vec<_> = found[0].iter().map(|one| (names[one.identifier as usize], one.weight)).collect();
        assert_eq!(weights, [("old_name", 0.5), ("new_name", 1.0)]);
        assert!(found[0][0].is_users && !found[0][1].is_users);
        assert_eq!((found[0][0].message, found[0][0].origin), (1, Speaker::Tool));
    }

    #[test]
    fn the_line_is_the_last_one_and_the_age_counts_from_it() {
        let said = [
            ("user", "the_thing is one"),
            ("assistant", "Yes."),
            ("user", "and the_thing is two"),
            ("assistant", "Well."),
            ("user", "So?"),
            ("assistant", "the_thing"),
        ];
        let (found, _) = references_of(&said, "");
        assert!(found[0].is_empty() && found[1].is_empty());
        let last = found[2][0];
        assert_eq!((last.message, last.age, last.weight), (2, Age::Fresh, 0.5));
    }

    #[test]
    fn ages_fall_into_five_buckets() {
        let names = [0, 1, 2, 5, 6, 20, 21, 100, 101].map(|turns| Age::of_turns(turns).name());
        assert_eq!(names, ["0-1", "0-1", "2-5", "2-5", "6-20", "6-20", "21-100", "21-100", ">100"]);
    }
}
