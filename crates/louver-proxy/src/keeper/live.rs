//! Conversations that are kept in memory.

use super::asked::{Asked, Hashed};
use super::figures::{Figures, Frame};
use super::money::Baseline;
use crate::conversation::{AppliedView, Chain, ViewRecord, extend, window_of};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, Message};
use louver_store::{ConversationId, DecisionHead, DecisionKey, DecisionsVersion, Sequence, StoredDecision};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How many of the last messages a client may rewrite and still be in the same conversation.
const REWRITTEN: usize = 3;

/// How many messages at the end are not settled: clients rewrite them, and what was made of them would be lost.
const UNSETTLED: usize = 4;

/// How many conversations of one name are looked at, the latest first.
const CANDIDATES: usize = 2;

/// A conversation in memory. Everything in it can be had again from its history and the store.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) id: ConversationId,
    pub(super) parent: Option<ConversationId>,
    pub(super) history: Hashed,
    /// What the store said about this chain.
    pub(super) records: Vec<StoredDecision>,
    pub(super) asked: AskedStore,
    /// The record that applies, over the history.
    pub(super) current: Option<Current>,
    /// Everything but the end of the history, with its past decisions.
    settled: Option<Settled>,
    pub(super) frame: Option<Frame>,
    pub(super) baseline: Arc<std::sync::Mutex<Baseline>>,
    pub(super) last_request: Option<Instant>,
    /// The last request that went out without a decision of its own.
    pub(super) undecided: Option<DecisionKey>,
    /// How many messages were archived.
    pub(super) archived: usize,
    /// How many entries the store had lost when that was true.
    pub(super) lost: u64,
}

/// How much of the store is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AskedStore {
    pub(super) version: Option<DecisionsVersion>,
    pub(super) hashes: usize,
}

/// A record that applies.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) sequence: Sequence,
    pub(super) record: Arc<ViewRecord>,
    pub(super) view: AppliedView,
}

#[derive(Debug)]
struct Settled {
    window: Window,
    /// With what it was made.
    model: String,
    sequence: Option<Sequence>,
}

impl Live {
    fn new(id: ConversationId, parent: Option<ConversationId>, format: Format) -> Self {
        let history = Hashed { messages: Vec::new(), links: Vec::new(), chain: Chain::new(format) };
        Self {
            id,
            parent,
            history,
            records: Vec::new(),
            asked: AskedStore::default(),
            current: None,
            settled: None,
            frame: None,
            baseline: Arc::default(),
            last_request: None,
            undecided: None,
            archived: 0,
            lost: 0,
        }
    }

    /// Takes over the history of a request, the first so many messages of which are known.
    pub(super) fn take(&mut self, history: &Hashed, common: usize) {
        if common < self.history.messages.len() {
            // Some of what was asked about lies on another chain now.
            self.asked = AskedStore::default();
            self.records.clear();
            self.archived = self.archived.min(common);
            self.baseline.lock().unwrap_or_else(std::sync::PoisonError::into_inner).rewind();
        }
        // A message can be the same to the chain and another one to send and to count: its thinking is gone, say.
        let pairs = self.history.messages.iter().zip(&history.messages);
        let same = pairs.take_while(|(old, new)| Arc::ptr_eq(old, new)).count();
        if self.settled.as_ref().is_some_and(|settled| settled.window.len() > same) {
            self.settled = None;
        }
        if self.current.as_ref().is_some_and(|current| current.view.at > same) {
            self.current = None;
        }
        self.history = history.clone();
    }

    /// The record that applies, where it is not that everything is sent.
    pub(super) fn cut(&self) -> Option<&Current> {
        self.current.as_ref().filter(|current| !current.record.is_everything())
    }

    /// Keeps those records that still are there, with what has become of them; the first of those that are not known.
    pub(super) fn keep_known(&mut self, heads: &[DecisionHead]) -> Option<Sequence> {
        let heads: HashMap<Sequence, bool> = heads.iter().map(|head| (head.sequence, head.is_shown)).collect();
        self.records.retain_mut(|stored| {
            let head = heads.get(&stored.sequence);
            stored.is_shown |= head.is_some_and(|is_shown| *is_shown);
            head.is_some()
        });
        let is_unknown = |sequence: &&Sequence| self.records.iter().all(|known| known.sequence != **sequence);
        heads.keys().filter(is_unknown).min().copied()
    }

    /// Adds records that are not known yet.
    pub(super) fn add_records(&mut self, found: Vec<StoredDecision>) {
        for stored in found {
            if self.records.iter().all(|known| known.sequence != stored.sequence) {
                self.records.push(stored);
            }
        }
    }

    /// The window of the whole history with its past decisions, decided about with these figures.
    ///
    /// # Errors
    ///
    /// See [`window_of`].
    pub(super) fn window(&mut self, figures: &Figures, model: &str) -> Result<Window, louver::Error> {
        let config = &figures.config;
        let sequence = self.current.as_ref().map(|current| current.sequence);
        let is_usable = |settled: &Settled| {
            settled.sequence == sequence
                && settled.model == model
                && settled.window.config().thinking == config.thinking
                && settled.window.config().budget == config.budget
        };
        let settled = self.settled.take().filter(is_usable);
        let end = self.history.messages.len().saturating_sub(UNSETTLED);
        let mut window = match settled {
            Some(settled) => settled.window,
            None => {
                let view = self.current.as_ref().map(|current| &current.view);
                let end = end.max(view.map_or(0, |view| view.at));
                window_of(config.clone(), &self.history.messages[..end], view)?
            }
        };
        window.refigure(config.budget, config.economy.clone(), config.overhead);
        if window.len() < end {
            extend(&mut window, &self.history.messages[..end]);
        }
        let mut whole = window.clone();
        whole.head_ledgers(config.ledger_heading.clone());
        self.settled = Some(Settled { window, model: model.to_owned(), sequence });
        extend(&mut whole, &self.history.messages);
        Ok(whole)
    }

    /// A window of the whole history with other settings, which is kept nowhere.
    pub(super) fn other_window(&self, config: &WindowConfig) -> Result<Window, louver::Error> {
        window_of(config.clone(), &self.history.messages, self.current.as_ref().map(|current| &current.view))
    }

    fn bytes(&self) -> usize {
        // Messages, their shapes, the window's books.
        let messages = self.history.messages.iter().map(|message| message.raw().len() + 512).sum::<usize>() * 5 / 4;
        messages + self.records.iter().map(|stored| stored.decision.record.len() + 256).sum::<usize>()
    }
}

/// All conversations in memory; the ones not used for longest leave.
#[derive(Debug, Default)]
pub(super) struct Lives {
    shelf: std::sync::Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    places: HashMap<ConversationId, Place>,
    /// The places by when they were last used.
    order: BTreeMap<u64, ConversationId>,
    by_name: HashMap<String, Vec<ConversationId>>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Place {
    live: Arc<Mutex<Live>>,
    names: Vec<String>,
    used: u64,
    bytes: usize,
}

impl Lives {
    /// The conversation that a request belongs to, locked, with the request's history taken over.
    pub(super) async fn meet(&self, asked: &mut Asked) -> OwnedMutexGuard<Live> {
        let names = std::mem::take(&mut asked.names);
        let mut best: Option<(usize, Hashed, OwnedMutexGuard<Live>)> = None;
        for candidate in self.candidates(&names) {
            let live = candidate.lock_owned().await;
            let mut history = asked.history.clone();
            let common = history.meet(Some(&live.history), asked.format());
            let is_better = best.as_ref().is_none_or(|(most, ..)| common > *most);
            if common > 0 && is_better {
                best = Some((common, history, live));
            }
        }
        let fork_of = match best {
            Some((common, history, mut live)) => {
                asked.history = history;
                let is_fork = live.history.messages.len() - common > REWRITTEN && asked.history.messages.len() > common;
                if !is_fork {
                    live.take(&asked.history, common);
                    self.touch(&live.id, &names);
                    return live;
                }
                Some((live.id.clone(), common))
            }
            None => {
                asked.history.meet(None, asked.format());
                None
            }
        };
        let id = new_id(asked, fork_of.as_ref().map(|(_, common)| *common));
        let live = self.place(&id, fork_of.map(|(parent, _)| parent), asked.format(), &names);
        let mut live = live.lock_owned().await;
        let same = asked.history.links.iter().zip(&live.history.links).take_while(|(new, old)| new == old);
        let common = same.count();
        live.take(&asked.history, common);
        live
    }

    /// The histories of these names that are in memory, but for those that somebody is using.
    pub(super) fn histories(&self, names: &[String]) -> Vec<Vec<Arc<Message>>> {
        let candidates = self.candidates(names);
        candidates.iter().filter_map(|live| Some(live.try_lock().ok()?.history.messages.clone())).collect()
    }

    fn candidates(&self, names: &[String]) -> Vec<Arc<Mutex<Live>>> {
        let shelf = lock(&self.shelf);
        let named = names.iter().filter_map(|name| shelf.by_name.get(name));
        // As many by each name, so that a session with many conversations leaves room for the first message.
        let mut found: Vec<&ConversationId> = named.flat_map(|ids| ids.iter().rev().take(CANDIDATES)).collect();
        found.sort();
        found.dedup();
        // In one order for everybody, so that nobody waits for somebody who waits.
        found.into_iter().filter_map(|id| shelf.places.get(id)).map(|place| Arc::clone(&place.live)).collect()
    }

    fn touch(&self, id: &ConversationId, names: &[String]) {
        let mut shelf = lock(&self.shelf);
        shelf.name(id, names);
        shelf.touch(id);
    }

    fn place(
        &self,
        id: &ConversationId,
        parent: Option<ConversationId>,
        format: Format,
        names: &[String],
    ) -> Arc<Mutex<Live>> {
        let mut shelf = lock(&self.shelf);
        let fresh = || {
            let live = Arc::new(Mutex::new(Live::new(id.clone(), parent, format)));
            Place { live, names: Vec::new(), used: 0, bytes: 0 }
        };
        let place = shelf.places.entry(id.clone()).or_insert_with(fresh);
        let live = Arc::clone(&place.live);
        shelf.name(id, names);
        shelf.touch(id);
        live
    }

    /// Notes how large a conversation is now, and lets others go if there are too many.
    pub(super) fn weigh(&self, live: &Live, max: usize, max_bytes: usize) {
        let bytes = live.bytes();
        let mut shelf = lock(&self.shelf);
        if let Some(place) = shelf.places.get_mut(&live.id) {
            let before = std::mem::replace(&mut place.bytes, bytes);
            shelf.bytes = shelf.bytes - before + bytes;
        }
        while shelf.places.len() > 1 && (shelf.places.len() > max || shelf.bytes > max_bytes) {
            let Some((_, oldest)) = shelf.order.pop_first() else { return };
            shelf.remove(&oldest);
        }
    }

    /// How many there are, and how many bytes they have.
    pub(super) fn size(&self) -> (usize, usize) {
        let shelf = lock(&self.shelf);
        (shelf.places.len(), shelf.bytes)
    }
}

impl Shelf {
    /// Notes that a conversation was used just now.
    fn touch(&mut self, id: &ConversationId) {
        let Some(place) = self.places.get_mut(id) else { return };
        self.clock += 1;
        self.order.remove(&std::mem::replace(&mut place.used, self.clock));
        self.order.insert(self.clock, id.clone());
    }

    fn name(&mut self, id: &ConversationId, names: &[String]) {
        for name in names {
            let ids = self.by_name.entry(name.clone()).or_default();
            ids.retain(|known| known != id);
            ids.push(id.clone());
        }
        if let Some(place) = self.places.get_mut(id) {
            place.names.extend(names.iter().filter(|name| !place.names.contains(name)).cloned().collect::<Vec<_>>());
        }
    }

    fn remove(&mut self, id: &ConversationId) {
        let Some(place) = self.places.remove(id) else { return };
        self.order.remove(&place.used);
        self.bytes -= place.bytes;
        for name in place.names {
            if let Some(ids) = self.by_name.get_mut(&name) {
                ids.retain(|known| known != id);
                if ids.is_empty() {
                    self.by_name.remove(&name);
                }
            }
        }
    }
}

fn lock(shelf: &std::sync::Mutex<Shelf>) -> std::sync::MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The name of a conversation that begins here, or of a fork behind so many messages.
fn new_id(asked: &Asked, fork: Option<usize>) -> ConversationId {
    let mut hasher = blake3::Hasher::new();
    let chain = &asked.history.chain;
    let beginning = chain.at(chain.count_before(fork.map_or(1, |common| common + 1))).unwrap_or(chain.end());
    for text in [&asked.upstream, asked.reader.as_str(), asked.session.as_deref().unwrap_or_default()] {
        hasher.update(text.as_bytes()).update(&[0]);
    }
    hasher.update(&beginning.0);
    hasher.finalize().to_hex()[..16].to_owned().into()
}
