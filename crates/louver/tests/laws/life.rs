//! A conversation as an agent would have it, under the laws.

use super::{Binding, Observed, Script};
use super::{
    conserves, fits, floor_is_named, idempotent, legal_stays_legal, no_trace_and_rebuildable, order_and_bytes,
    pins_stay, planning_changes_nothing, raw, recorded_decisions_hold, records, same, stable, transcript_is_enough,
};
use louver::catalog::ThinkingBinding;
use louver::condense::SUMMARY_PROMPT;
use louver::plan::{Bound, Overflow};
use louver::window::{Fit, Log, Record, Usage, Window, WindowConfig};
use louver::wire::{Message, PartKind};
use std::sync::Arc;

/// Lives through a conversation as an agent would and checks the laws at every `stride`-th request and the last. (A
/// check of the whole view costs its length, so a long conversation is sampled.) Says how many fits failed.
pub(crate) fn hold(config: &WindowConfig, messages: &[Arc<Message>], script: &Script, stride: usize) -> usize {
    let mut life = Life::new(config, script);
    let points = request_points(messages);
    for (index, message) in messages.iter().enumerate() {
        life.push(message);
        if let Ok(number) = points.binary_search(&(index + 1)) {
            let is_looked_at = number % stride == 0 || index + 1 == messages.len();
            life.request(number, is_looked_at);
        }
    }
    no_trace_and_rebuildable(&life.window, config);
    if script.is_plain() {
        transcript_is_enough(&life.window, config, messages);
    }
    recorded_decisions_hold(&life.window, config);
    life.failed
}

fn request_points(messages: &[Arc<Message>]) -> Vec<usize> {
    let mut points: Vec<usize> = Log::of_transcript(messages.to_vec()).events.into_iter().map(|(at, _)| at).collect();
    points.dedup();
    points
}

/// A window in the middle of a conversation.
struct Life<'c> {
    config: &'c WindowConfig,
    script: &'c Script,
    window: Window,
    /// What the policy promised before the provider took less.
    bound: Bound,
    /// Others that have to go on as it does: a clone, and one that was opened from its records.
    twins: Vec<Window>,
    /// One that was opened from its records under other settings.
    stranger: Option<Stranger>,
    before: Option<Observed>,
    binding: Binding,
    /// What the provider has still to say about the last request.
    owed: Option<Usage>,
    failed: usize,
}

impl<'c> Life<'c> {
    fn new(config: &'c WindowConfig, script: &'c Script) -> Self {
        let window = Window::new(config.clone()).unwrap();
        Self {
            config,
            script,
            bound: window.bound(),
            window,
            twins: Vec::new(),
            stranger: None,
            before: None,
            binding: Binding::default(),
            owed: None,
            failed: 0,
        }
    }

    fn observed(&self) -> Observed {
        let is_rescued = self.window.bound() != self.bound;
        Observed { is_rescued, has_total: self.script.total.is_some(), ..Observed::of(&self.window) }
    }

    fn push(&mut self, message: &Arc<Message>) {
        if self.config.thinking == ThinkingBinding::Prefix && message.shape().has(PartKind::Thinking) {
            self.binding.note(self.window.len(), &self.window);
        }
        for window in std::iter::once(&mut self.window).chain(&mut self.twins) {
            window.push(Arc::clone(message));
        }
        if let Some(stranger) = &mut self.stranger {
            stranger.push(message);
        }
        if let Some(usage) = self.owed.take() {
            for window in std::iter::once(&mut self.window).chain(&mut self.twins) {
                window.report_usage(usage);
            }
        }
    }

    fn request(&mut self, number: usize, is_looked_at: bool) {
        self.branch(number);
        let mut was_changed = false;
        for window in std::iter::once(&mut self.window).chain(&mut self.twins) {
            was_changed |= self.script.before_request(number, window);
        }
        if is_looked_at {
            planning_changes_nothing(&self.window);
        }
        let fit = self.window.fit();
        self.failed += usize::from(fit.is_err());
        self.twins.iter_mut().for_each(|twin| lives_on(twin, &self.window, &fit));
        if is_looked_at {
            self.look(&fit, was_changed);
        }
        if let Some(stranger) = &mut self.stranger {
            stranger.request();
        }
        self.owed = self.script.usage_of(number, &self.window).filter(|_| self.script.is_usage_late());
        let job = fit.ok().and_then(|fit| fit.job);
        for window in std::iter::once(&mut self.window).chain(&mut self.twins) {
            self.script.after_request(number, window, job.clone());
        }
        self.before = is_looked_at.then(|| self.observed());
    }

    /// Windows that go on beside this one.
    fn branch(&mut self, number: usize) {
        if self.script.cloned_at == Some(number) {
            self.twins.push(self.window.clone());
        }
        if self.script.opened_at == Some(number) {
            let opened = Window::open(self.config.clone(), records(&self.window)).unwrap();
            same(&opened, &self.window, "law 13: restored in mid-life");
            self.twins.push(opened);
        }
        if let Some(config) = self.script.moves_to(number, self.config) {
            self.stranger = Some(Stranger::open(config, &self.window));
        }
    }

    fn look(&mut self, fit: &Result<Fit, Overflow>, was_changed: bool) {
        let now = self.observed();
        order_and_bytes(&now);
        pins_stay(&now, self.config);
        legal_stays_legal(&now, self.config);
        conserves(&now, self.config);
        match fit {
            Ok(fit) => {
                fits(&now, fit, self.config);
                sizes_agree(fit, now.tokens);
                if let Some(before) = self.before.as_ref().filter(|_| !fit.is_cut() && !was_changed) {
                    stable(before, &now);
                }
                if let Some(job) = &fit.job {
                    let prompt = self.config.custom_condensing_prompt.as_deref().unwrap_or(SUMMARY_PROMPT);
                    assert!(job.prompt.starts_with(prompt), "a summary is asked for in other words: {}", job.prompt);
                }
            }
            Err(overflow) => floor_is_named(overflow, &now, self.config),
        }
        self.binding.check(&self.window);
        idempotent(&mut self.window, &now, fit.is_ok());
    }
}

/// What a fit says about the size of the view, beforehand and afterwards.
pub(crate) fn sizes_agree(fit: &Fit, tokens: u64) {
    assert_eq!(fit.tokens_after, tokens, "law 6: the fit reports another size than the view has");
    let expected = fit.tokens_expected.unwrap_or(tokens);
    assert_eq!(expected, tokens, "law 6: the plan counted another size than the view has");
}

/// A clone or a restored window decides as the one that lived.
fn lives_on(twin: &mut Window, lived: &Window, fit: &Result<Fit, Overflow>) {
    let again = twin.fit();
    match (fit, &again) {
        (Ok(fit), Ok(again)) => {
            assert_eq!(again.trigger, fit.trigger, "law 13: decides for another reason");
            assert_eq!((&again.evicted, &again.edited), (&fit.evicted, &fit.edited), "law 13: decides otherwise");
            assert_eq!(again.job, fit.job, "law 13: asks for another summary");
        }
        (Err(overflow), Err(again)) => assert_eq!(again, overflow, "law 13: fails otherwise"),
        _ => panic!("law 13: one fits and the other does not: {fit:?} {again:?}"),
    }
    same(twin, lived, "law 13: clone or restored window lives on");
}

/// A window that was opened under other settings than those its decisions were made with.
struct Stranger {
    config: WindowConfig,
    window: Window,
    /// What it sent last.
    sent: Vec<String>,
}

/// Recorded decisions give the same bytes under any settings.
pub(crate) fn holds_elsewhere(config: &WindowConfig, records: Vec<Record>, lived: &Window) -> Window {
    let window = Window::open(config.clone(), records).unwrap();
    assert_eq!(raw(&window), raw(lived), "law 13: other settings, other bytes");
    window
}

impl Stranger {
    fn open(config: WindowConfig, lived: &Window) -> Self {
        let window = holds_elsewhere(&config, records(lived), lived);
        Self { config, sent: owned(&window), window }
    }

    fn push(&mut self, message: &Arc<Message>) {
        self.window.push(Arc::clone(message));
        assert!(owned(&self.window).starts_with(&self.sent), "law 13: no decision, and other bytes");
    }

    /// What was pinned under the new settings may have left under the old ones; everything else holds.
    fn request(&mut self) {
        planning_changes_nothing(&self.window);
        let fit = self.window.fit();
        let sent = owned(&self.window);
        let is_cut = fit.as_ref().is_ok_and(Fit::is_cut);
        assert!(is_cut || sent.starts_with(&self.sent), "law 13: no decision, and other bytes");
        self.sent = sent;
        let now = Observed::of(&self.window);
        order_and_bytes(&now);
        legal_stays_legal(&now, &self.config);
        if let Ok(fit) = &fit {
            sizes_agree(fit, now.tokens);
        }
        idempotent(&mut self.window, &now, fit.is_ok());
    }
}

fn owned(window: &Window) -> Vec<String> {
    raw(window).into_iter().map(str::to_owned).collect()
}
