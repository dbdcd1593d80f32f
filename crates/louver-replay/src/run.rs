//! One conversation under one policy.

use crate::cache::{Book, Settled};
use crate::contender::Contender;
use crate::law::Verdict;
use crate::prepared::Prepared;
use crate::retention::{Outcome, Reference, query};
use crate::snapshot::{EditedNumbers, Snapshot};
use crate::watch::{Change, Watch};
use louver::Window;
use louver::policy::SettingsError;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many messages at a request's end are what a search looks for.
const QUERY_MESSAGES: usize = 3;

/// A replay in progress: request by request.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) window: Window,
    pub(crate) watch: Watch,
    book: Book,
    edited: EditedNumbers,
    turn: usize,
    /// Spent in the window itself.
    pub(crate) spent: Duration,
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
            book: Book::new(assumptions.tariff.cache, prepared.overhead),
            edited: EditedNumbers::default(),
            turn: 0,
            spent: Duration::ZERO,
        })
    }

    /// Makes the next request and measures it; `None` when there is none.
    pub(crate) fn step(&mut self, prepared: &mut Prepared<'_>) -> Option<Step> {
        let number = self.turn;
        let turn = *prepared.turns.get(number)?;
        self.turn += 1;
        let refusal = self.fit(prepared, number, turn.at);
        let view = Snapshot::take(&self.window, &prepared.log, &mut self.edited, &mut prepared.contents);
        let leading = leading(&view, prepared.leading_system);
        let settled = prepared.settle(&mut self.book, number, &view.pieces, leading);
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

    /// Pushes what was recorded before a request and lets the policy decide. Returns why it could not.
    fn fit(&mut self, prepared: &Prepared<'_>, number: usize, at: usize) -> Option<String> {
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

    /// What became of the references of the recorded answer. The search runs only where the view lacks one.
    fn look_up(&self, prepared: &mut Prepared<'_>, turn: usize) -> Vec<Outcome> {
        let references = &prepared.references[turn];
        let mentions = |reference: &Reference| self.watch.presence.mentions(reference.identifier);
        let is_complete = references.iter().all(mentions);
        let retrieved = if is_complete { Vec::new() } else { self.retrieve(prepared) };
        let outcome = |reference: &Reference| {
            let is_mentioned = mentions(reference);
            // A long line that was clipped keeps its start and may lose the identifier all the same.
            let has_line = is_mentioned && self.watch.presence.has_line(reference.line);
            Outcome { is_mentioned, has_line, is_retrieved: retrieved.binary_search(&reference.identifier).is_ok() }
        };
        prepared.references[turn].iter().map(outcome).collect()
    }

    /// The identifiers in the five best hits for the request's last three messages.
    fn retrieve(&self, prepared: &mut Prepared<'_>) -> Vec<u32> {
        let before = self.watch.last.items.len().saturating_sub(QUERY_MESSAGES);
        let query = query(self.window.view().iter().skip(before).map(|sent| sent.message));
        prepared.retrieve(&query, |message| self.watch.is_left_out(message))
    }
}

/// How many of the record's leading system messages still lead.
fn leading(view: &Snapshot, leading_system: usize) -> usize {
    (0..leading_system).take_while(|position| view.log_index(*position) == Some(*position)).count()
}
