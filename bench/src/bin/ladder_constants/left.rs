//! Names that a cut took out of sight, and which of them an answer referred to before the next cut.

use crate::corpus::Corpus;
use crate::features::{Features, Kind, Origin};
use louver::budget::Budget;
use louver::count::count_message;
use louver::plain_text::Speaker;
use louver::policy::{LadderConfig, PolicyKind};
use louver::tokens::{Counter, CounterChoice, Millitokens};
use louver::window::{Window, WindowConfig};
use louver_replay::retention::{NamesAndLines, Numbering};
use louver_replay::{Conversation, Turn};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

/// A name that stands nowhere in the view but perhaps on the ledger's page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftName {
    pub(crate) features: Features,
    /// One over the messages that hold it, as recall weighs a reference.
    pub(crate) weight: f64,
    /// Whether the first message behind the cut that holds it is an answer.
    pub(crate) is_needed: bool,
}

/// A cut of the shipped ladder.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) fold: usize,
    pub(crate) names: Vec<LeftName>,
}

/// Every cut of the default row over a corpus.
pub(crate) fn cuts(corpus: &Corpus) -> Result<Vec<Cut>, Box<dyn Error>> {
    let counter = CounterChoice::Chars4.resolve(None);
    let mut cuts = Vec::new();
    for (conversation, fold) in corpus.conversations.iter().zip(&corpus.folds) {
        cuts.extend(Follower::new(conversation, Arc::clone(&counter), *fold)?.follow());
    }
    Ok(cuts)
}

/// What is known of a name that was folded, as the engine's ledger knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    message: usize,
    speaker: Speaker,
    was_said_by_model: bool,
    messages: u32,
}

/// Follows one conversation from cut to cut.
struct Follower<'a> {
    conversation: &'a Conversation,
    window: Window,
    numbering: Numbering,
    read: Vec<NamesAndLines>,
    /// Tokens before each message, and of all.
    sums: Vec<Millitokens>,
    known: HashMap<u32, Known>,
    cuts: Vec<Cut>,
    /// Which names of the last cut have not come again yet, and where they stand in it.
    waiting: HashMap<u32, usize>,
    fold: usize,
}

impl<'a> Follower<'a> {
    fn new(conversation: &'a Conversation, counter: Arc<dyn Counter>, fold: usize) -> Result<Self, Box<dyn Error>> {
        let mut sums = vec![Millitokens::ZERO];
        for message in &conversation.messages {
            sums.push(sums[sums.len() - 1] + count_message(&*counter, message));
        }
        let mut numbering = Numbering::default();
        let read = conversation.messages.iter().map(|message| numbering.read(message)).collect();
        let policy = PolicyKind::Ladder(LadderConfig::default());
        let mut config = WindowConfig::new(conversation.format, policy).with_budget(Budget::new(200_000, None)?);
        config.overhead = conversation.overhead(&*counter, None);
        config.counter = counter;
        let window = Window::new(config)?;
        let (known, waiting) = (HashMap::new(), HashMap::new());
        Ok(Self { conversation, window, numbering, read, sums, known, cuts: Vec::new(), waiting, fold })
    }

    fn follow(mut self) -> Vec<Cut> {
        for Turn { at, .. } in self.conversation.turns() {
            self.arrive(at);
            // A request that cannot be made to fit is sent as it is, and nothing is folded.
            if let Ok(fit) = self.window.fit()
                && !fit.evicted.is_empty()
            {
                self.cut(&fit.evicted);
            }
        }
        self.arrive(self.conversation.messages.len());
        self.cuts
    }

    /// Takes in the messages up to a request: a name in an answer was needed, one in anything else came again by itself.
    fn arrive(&mut self, at: usize) {
        for index in self.window.len()..at {
            let message = Arc::clone(&self.conversation.messages[index]);
            for identifier in &self.read[index].identifiers {
                let place = self.waiting.remove(identifier);
                if let (Some(place), Some(cut)) = (place, self.cuts.last_mut()) {
                    cut.names[place].is_needed = message.shape().is_from_model();
                }
            }
            self.window.push(message);
        }
    }

    fn cut(&mut self, evicted: &[Range<usize>]) {
        evicted.iter().cloned().flatten().for_each(|index| self.fold(index));
        let mut standing: HashSet<u32> = HashSet::new();
        for index in self.window.view().iter().filter_map(|sent| sent.origin.index()) {
            standing.extend(&self.read[index].identifiers);
        }
        for text in &self.conversation.system {
            standing.extend(self.numbering.identifiers_of(text));
        }
        let mut in_sight: HashMap<usize, (u32, u32)> = HashMap::new();
        for (name, known) in &self.known {
            let (seen, all) = in_sight.entry(known.message).or_default();
            *seen += u32::from(standing.contains(name));
            *all += 1;
        }
        let names = self.numbering.names();
        let mut left: Vec<(u32, &Known)> = self.known.iter().map(|(name, known)| (*name, known)).collect();
        left.retain(|(name, _)| !standing.contains(name));
        left.sort_unstable_by_key(|(name, _)| *name);
        self.waiting = left.iter().enumerate().map(|(place, (name, _))| (*name, place)).collect();
        let of = |(name, known): &(u32, &Known)| self.left_name(names[*name as usize], known, in_sight[&known.message]);
        let names = left.iter().map(of).collect();
        self.cuts.push(Cut { fold: self.fold, names });
    }

    /// Takes in a message that leaves, as the engine's ledger does.
    fn fold(&mut self, index: usize) {
        for found in &self.read[index].occurrences {
            let fresh = Known { message: index, speaker: found.speaker, was_said_by_model: false, messages: 1 };
            let known = self.known.entry(found.identifier).or_insert(fresh);
            known.messages += u32::from(known.message != index);
            known.was_said_by_model |= found.speaker == Speaker::Own;
            (known.message, known.speaker) = (index, found.speaker);
        }
    }

    fn left_name(&self, name: &str, known: &Known, in_sight: (u32, u32)) -> LeftName {
        let age = self.sums[self.window.len()].saturating_sub(self.sums[known.message]);
        let origin = Origin::of(known.speaker, known.was_said_by_model);
        let features = Features::of(origin, Kind::of(name), age.ceil_tokens(), known.messages, in_sight);
        LeftName { features, weight: 1.0 / f64::from(known.messages), is_needed: false }
    }
}
