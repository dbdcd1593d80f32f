//! One conversation under one policy.

use crate::cache::Settled;
use crate::contender::Contender;
use crate::conversation::Turn;
use crate::law::Verdict;
use crate::prepared::{Prepared, without_margin};
use crate::retention::{Outcome, Reference, Retrieved, query};
use crate::snapshot::{EditedNumbers, Item, Snapshot};
use crate::terms::Books;
use crate::watch::{Change, Watch};
use louver::Window;
use louver::budget::NothingLeft;
use louver::policy::SettingsError;
use louver::search::Sight;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many messages at a request's end are what a search looks for.
const QUERY_MESSAGES: usize = 3;

/// A replay in progress: request by request.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) window: Window,
    pub(crate) watch: Watch,
    books: Books,
    edited: EditedNumbers,
    /// The names in the request that was last asked about, and the messages that they stand in.
    sight: Sight,
    sighted: Vec<Item>,
    turn: usize,
    /// Whether no margin is kept free.
    is_whole_window: bool,
    /// Spent in the window itself.
    pub(crate) spent: Duration,
}

/// One request as it was made and billed.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) number: usize,
    pub(crate) turn: Turn,
    pub(crate) settled: Settled,
    refusal: Option<String>,
    view: Snapshot,
}

/// What one request came to.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) tokens: u64,
    pub(crate) settled: Settled,
    pub(crate) output_tokens: u64,
    pub(crate) change: Change,
    pub(crate) verdict: Verdict,
    /// Why the policy could not keep its promise.
    pub(crate) refusal: Option<String>,
    /// What became of each reference of the recorded answer.
    pub(crate) outcomes: Vec<Outcome>,
}

impl Run {
    /// Nothing pushed yet.
    pub(crate) fn new(prepared: &Prepared<'_>, contender: &Contender) -> Result<Self, SettingsError> {
        let assumptions = &prepared.assumptions;
        let mut config = assumptions.window.clone();
        (config.policy, config.overhead) = (contender.policy.clone(), prepared.overhead);
        Ok(Self {
            window: Window::new(config)?,
            watch: Watch::default(),
            books: prepared.books(),
            edited: EditedNumbers::default(),
            sight: Sight::default(),
            sighted: Vec::new(),
            turn: 0,
            is_whole_window: false,
            spent: Duration::ZERO,
        })
    }

    /// Makes the policy use all of the window but the reply.
    pub(crate) fn use_whole_window(&mut self) -> Result<(), NothingLeft> {
        self.is_whole_window = true;
        let config = self.window.config().clone();
        let budget = config.budget.map(without_margin).transpose()?;
        self.window.refigure(budget, config.economy, config.overhead);
        Ok(())
    }

    /// Makes the next request and bills it; `None` when there is none.
    pub(crate) fn send(&mut self, prepared: &mut Prepared<'_>) -> Option<Sent> {
        let number = self.turn;
        let turn = *prepared.turns.get(number)?;
        self.turn += 1;
        let refusal = self.fit(prepared, number, turn.at);
        let view = Snapshot::take(&self.window, &prepared.log, &mut self.edited, &mut prepared.contents);
        let leading = leading(&view, prepared.leading_system);
        let settled = prepared.settle(&mut self.books, number, &view.pieces, leading);
        Some(Sent { number, turn, settled, refusal, view })
    }

    /// Makes the next request and measures it; `None` when there is none.
    pub(crate) fn step(&mut self, prepared: &mut Prepared<'_>) -> Option<Step> {
        let Sent { number, turn, settled, refusal, view } = self.send(prepared)?;
        let sent =
            if view.is_whole { Vec::new() } else { self.window.view().iter().map(|sent| sent.message).collect() };
        let verdict = prepared.law.judge(prepared.conversation, number, &view, sent);
        let mut change = self.watch.advance(view, &prepared.log, &prepared.contents);
        change.is_cut &= number > 0;
        Some(Step {
            tokens: settled.total(),
            settled,
            output_tokens: prepared.output_tokens(&turn),
            change,
            verdict,
            refusal,
            outcomes: self.look_up(prepared, number),
        })
    }

    /// Makes the next request and takes in what it holds; `None` when there is none.
    pub(crate) fn look(&mut self, prepared: &mut Prepared<'_>) -> Option<(usize, Turn)> {
        let Sent { number, turn, view, .. } = self.send(prepared)?;
        self.watch.advance(view, &prepared.log, &prepared.contents);
        Some((number, turn))
    }

    /// Tells the window on which terms the next request is made.
    fn take_terms(&mut self, prepared: &Prepared<'_>, number: usize) {
        if prepared.assumptions.terms.len() > 1 {
            let terms = prepared.assumptions.at(number);
            let whole = self.is_whole_window.then(|| without_margin(terms.budget).ok()).flatten();
            let budget = Some(whole.unwrap_or(terms.budget));
            self.window.refigure(budget, terms.tariff.economy(), prepared.overhead);
        }
    }

    /// Pushes what was recorded before a request and lets the policy decide. Returns why it could not.
    fn fit(&mut self, prepared: &Prepared<'_>, number: usize, at: usize) -> Option<String> {
        self.take_terms(prepared, number);
        let started = Instant::now();
        for index in self.window.len()..at {
            let message = Arc::clone(&prepared.conversation.messages[index]);
            self.window.push_counted(message, prepared.amounts[index]);
        }
        if prepared.is_cold(number) {
            self.window.cache_expired();
        }
        let fit = self.window.fit();
        self.spent += started.elapsed();
        match fit {
            Ok(fit) => {
                for index in &fit.edited {
                    self.edited.remove(index);
                }
                if let Some(job) = fit.job {
                    // Replay calls no model, so the policy goes on as after a summariser that failed.
                    self.window.answer(job.id, Err("replay calls no model".to_owned()));
                }
                None
            }
            Err(overflow) => Some(overflow.to_string()),
        }
    }

    /// What became of the references of the recorded answer. The search runs only where the view lacks one, or its
    /// passage.
    fn look_up(&mut self, prepared: &mut Prepared<'_>, turn: usize) -> Vec<Outcome> {
        let seen: Vec<Outcome> = prepared.references[turn].iter().map(|reference| self.see(reference)).collect();
        if seen.iter().all(|outcome| outcome.has_passage && outcome.has_line) {
            return seen;
        }
        let found = self.retrieve(prepared);
        let search = |(outcome, reference): (Outcome, &Reference)| Outcome {
            is_retrieved: found.identifiers.binary_search(&reference.identifier).is_ok(),
            is_line_retrieved: found.lines.binary_search(&reference.line).is_ok(),
            ..outcome
        };
        seen.into_iter().zip(&prepared.references[turn]).map(search).collect()
    }

    /// What the view says of a reference.
    pub(crate) fn see(&self, reference: &Reference) -> Outcome {
        let Watch { presence, .. } = &self.watch;
        let is_mentioned = presence.mentions(reference.identifier);
        let is_whole = self.watch.is_intact(reference.message);
        Outcome {
            is_mentioned,
            // A long line that was clipped keeps its start and may lose the identifier all the same.
            has_line: is_mentioned && presence.has_line(reference.line),
            is_intact: is_mentioned && presence.has_line_intact(reference.line),
            has_passage: is_mentioned && (is_whole || presence.quotes(reference.passage)),
            ..Outcome::default()
        }
    }

    /// What the request's last three messages say.
    pub(crate) fn query(&self) -> String {
        let before = self.watch.last.items.len().saturating_sub(QUERY_MESSAGES);
        query(self.window.view().iter().skip(before).map(|sent| sent.message))
    }

    /// The names that stand in the request. As long as requests only grow, O(what is new).
    pub(crate) fn sight(&mut self) -> &Sight {
        let items = &self.watch.last.items;
        if !items.starts_with(&self.sighted) {
            (self.sight, self.sighted) = Default::default();
        }
        self.sight.extend(self.window.view().iter().skip(self.sighted.len()).map(|sent| sent.message));
        self.sighted.extend_from_slice(&items[self.sighted.len()..]);
        &self.sight
    }

    /// What stands in the five best hits for its last three messages.
    fn retrieve(&mut self, prepared: &mut Prepared<'_>) -> Retrieved {
        let query = self.query();
        self.sight();
        prepared.retrieve(&query, &self.sight, |message| self.watch.is_left_out(message))
    }
}

/// How many of the record's leading system messages still lead.
fn leading(view: &Snapshot, leading_system: usize) -> usize {
    (0..leading_system).take_while(|position| view.log_index(*position) == Some(*position)).count()
}
