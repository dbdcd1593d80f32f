//! Counting every request once.
//!
//! A branch repeats the stem that it leaves, a resumed session repeats the one it goes on from, a sub-agent's lines can
//! stand in two files, and people name a folder and a file in it. What was billed has a name of its own; where nothing
//! has one, a conversation that is the same from start to end is the same.

use crate::conversation::Conversation;
use crate::fitted::find;
use std::collections::HashSet;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A request's name, or a whole conversation's, as a number.
pub(crate) type Name = u128;

/// What a conversation has in common with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// The names of its requests in order, as far as they have any.
    Requests(Vec<Option<Name>>),
    /// No request has a name, but all of it has.
    Whole(Name),
}

impl Names {
    pub(crate) fn of(conversation: &Conversation) -> Self {
        let name = |at| find(&conversation.billed, at).and_then(|one| one.id.as_deref());
        let names: Vec<Option<Name>> =
            conversation.turns().iter().map(|turn| name(turn).map(|id| xxh3_128(id.as_bytes()))).collect();
        if names.iter().any(Option::is_some) { Self::Requests(names) } else { Self::Whole(whole(conversation)) }
    }

    /// Text that is one conversation, or several without names.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::Whole(xxh3_128(text.as_bytes()))
    }
}

fn whole(conversation: &Conversation) -> Name {
    let mut hash = Xxh3::new();
    for message in &conversation.messages {
        hash.update(&message.raw().len().to_le_bytes());
        hash.update(message.raw().as_bytes());
    }
    hash.digest128()
}

/// Everything that was met so far.
#[derive(Debug, Default)]
pub(crate) struct Met(HashSet<Name>);

/// What is new in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Everything but so many requests at the start.
    From(usize),
    /// Nothing.
    Copy,
}

impl Met {
    /// Takes note of a conversation, and says what of it is new.
    pub(crate) fn meet(&mut self, names: &Names) -> Share {
        match names {
            Names::Whole(name) if self.0.insert(*name) => Share::From(0),
            Names::Whole(_) => Share::Copy,
            Names::Requests(names) => {
                let is_met = |name: &&Option<Name>| name.is_some_and(|name| self.0.contains(&name));
                let met = names.iter().take_while(is_met).count();
                self.0.extend(names.iter().flatten());
                if met == names.len() { Share::Copy } else { Share::From(met) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(names: &[u128]) -> Names {
        Names::Requests(names.iter().copied().map(Some).collect())
    }

    #[test]
    fn what_two_conversations_have_in_common_counts_in_the_first() {
        let mut met = Met::default();
        assert_eq!(met.meet(&requests(&[1, 2, 3])), Share::From(0));
        assert_eq!(met.meet(&requests(&[1, 2, 9, 10])), Share::From(2));
        assert_eq!(met.meet(&requests(&[1, 2])), Share::Copy);
        assert_eq!(met.meet(&requests(&[9, 10])), Share::Copy);
    }

    #[test]
    fn without_names_only_the_same_from_start_to_end_is_a_copy() {
        let mut met = Met::default();
        let shares = ["a", "b", "a"].map(|text| met.meet(&Names::of_text(text)));
        assert_eq!(shares, [Share::From(0), Share::From(0), Share::Copy]);
    }
}
