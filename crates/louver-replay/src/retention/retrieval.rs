//! What a search over what was left out brings back.

use super::names_and_lines::{Numbering, sort_unique};
use louver::Message;
use louver::plain_text::plain_texts;
use louver::search::{Novelty, ReadPassages, SearchIndex, Sight};
use std::sync::Arc;

/// How many hits a search returns.
const HITS: usize = 5;

/// A conversation, searched as `louver recall` searches it. Made once and shared by all policies, each of which asks it
/// with its own idea of what was left out.
///
/// ```
/// use louver::wire::{Format, Message};
/// use louver::search::Sight;
/// use louver_replay::retention::{Numbering, Retrieval, query};
/// use std::sync::Arc;
///
/// let say = |text: &str| {
///     let raw = format!(r#"{{"role":"user","content":"{text}"}}"#);
///     Arc::new(Message::parse(Format::OpenAiChat, &raw).unwrap())
/// };
/// let messages = [say("See src/budget.rs about it."), say("Then max_output."), say("Where is the budget?")];
/// let (mut retrieval, mut numbering) = (Retrieval::of(&messages), Numbering::default());
/// let sight: Sight = [&*messages[2]].into_iter().collect();
/// let found = retrieval.search(&query([&*messages[2]]), &sight, |message| message < 2, &mut numbering);
/// assert_eq!(found.identifiers, numbering.identifiers_of("src/budget.rs"));
/// ```
#[derive(Debug)]
pub struct Retrieval<'a> {
    messages: &'a [Arc<Message>],
    index: SearchIndex,
    passages: ReadPassages,
}

/// What stands in the hits of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retrieved {
    /// The identifiers, ascending.
    pub identifiers: Vec<u32>,
    /// The lines, ascending.
    pub lines: Vec<u32>,
}

impl<'a> Retrieval<'a> {
    /// Nothing is read before it is searched.
    pub fn of(messages: &'a [Arc<Message>]) -> Self {
        Self { messages, index: SearchIndex::default(), passages: ReadPassages::default() }
    }

    /// What stands in the best hits among the messages that were left out, for whoever sees the others.
    pub fn search(
        &mut self,
        query: &str,
        sight: &Sight,
        is_left_out: impl Fn(usize) -> bool,
        numbering: &mut Numbering,
    ) -> Retrieved {
        self.read_up_to((0..self.messages.len()).rfind(|message| is_left_out(*message)));
        let message = |index: usize| self.messages.get(index).map(|message| &**message);
        let (among, novelty) = (self.index.among(is_left_out), Novelty::default());
        let found = among.search_beyond_by(&novelty, sight, query, HITS, message, &mut self.passages);
        let mut all = Retrieved::default();
        for hit in found.hits {
            let (mut identifiers, mut lines) = numbering.all_of(&hit.text);
            all.identifiers.append(&mut identifiers);
            all.lines.append(&mut lines);
        }
        sort_unique(&mut all.identifiers);
        sort_unique(&mut all.lines);
        all
    }

    /// What nobody left out cannot be found, so what comes after the last that was need not be read yet.
    fn read_up_to(&mut self, last: Option<usize>) {
        let end = last.map_or(0, |last| last + 1);
        let unread = self.messages.get(self.index.messages()..end).unwrap_or_default();
        self.index.extend(unread.iter().map(|message| &**message));
    }
}

/// What is said in messages, as a query.
#[must_use]
pub fn query<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut query = String::new();
    for message in messages {
        plain_texts(message, |_, _, text| {
            query.push_str(text);
            query.push('\n');
        });
    }
    query
}
