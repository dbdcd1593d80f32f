//! What goes out: the last recorded view, or a new one.

use super::asked::Asked;
use super::figures::{Figures, Frame};
use super::live::{Current, Live};
use super::records::{attempts_at, choose};
use super::ticket::{Open, Ticket};
use super::trouble::{Halt, unavailable};
use super::{Keeper, heading};
use crate::archive::Archive;
use crate::brain::{Conversation, Decided, Decision, OwnRefusal, Tokens};
use crate::clock::now;
use crate::conversation::{ApplyError, Item, ViewRecord};
use crate::model_request::{Mode, ModelRequest, Purpose};
use crate::outcome::Outcome;
use bytes::Bytes;
use louver::window::{Event, Window};
use louver::wire::PartKind;
use louver_store::{
    ChainQuery, ConversationInfo, DecisionKey, FurtherAttempt, LimitScope, NewContent, NewMessage, Observed, Queued,
    Sequence, StoredDecision,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::OwnedMutexGuard;

/// A history of fewer bytes than this was never cut, whatever the mode, if its model takes more.
const NEVER_CUT_BYTES: u64 = 60_000;

/// A request of so many bytes can take milliseconds to be decided about.
const LARGE_BYTES: usize = 256 << 10;

/// Messages of so many bytes are not put into the archive by one question.
const LARGE_CONTENT: usize = 1 << 20;

/// The smallest window that a model of which nothing is known may have.
const SMALLEST_WINDOW: u64 = 4_000;

/// Which new cuts may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    /// None but what earlier cuts bring about.
    Nothing,
    /// Those without which the request would be refused.
    Forced,
    /// Those that pay.
    Everything,
}

/// What the engine makes of a request.
struct Thought {
    tokens: Tokens,
    /// The view after a new cut.
    cut: Option<NewCut>,
    observed: Option<u64>,
}

/// A cut that is not recorded yet.
struct NewCut {
    record: ViewRecord,
    /// Whether nothing can be sent without it.
    is_forced: bool,
    /// What would be sent without it.
    tokens_before: u64,
}

/// A request while it is decided about.
pub(super) struct Deciding {
    pub(super) asked: Asked,
    pub(super) live: OwnedMutexGuard<Live>,
    pub(super) figures: Figures,
    pub(super) scope: LimitScope,
    pub(super) key: DecisionKey,
    /// The view that applies, where it was decided at a request that is not on this chain.
    taken_over: Option<ViewRecord>,
    frame: Frame,
    may: May,
    is_observed: bool,
}

impl Keeper {
    /// What goes out.
    ///
    /// # Errors
    ///
    /// What the client is told where nothing can be sent.
    pub(super) async fn decide_about(&self, request: &ModelRequest) -> Result<Decision<Ticket>, OwnRefusal> {
        self.insist(|| self.try_to_decide(request)).await
    }

    async fn try_to_decide(&self, request: &ModelRequest) -> Result<Decision<Ticket>, Halt> {
        let Some(mut deciding) = self.begin(request).await? else {
            return Ok(Decision::Send(Decided::passing(Ticket::default())));
        };
        let was_decided = deciding.own_record().is_some();
        let Thought { mut tokens, cut, observed } = beside_others(request.body.len(), || deciding.think());
        let mut outcome = if deciding.live.cut().is_some() { Outcome::Kept } else { Outcome::Passed };
        let mut cut_reason = None;
        let is_undecided = deciding.live.undecided.as_ref() == Some(&deciding.key);
        if let Some(cut) = cut.as_ref().filter(|cut| is_undecided && !cut.is_forced) {
            tokens.sent = cut.tokens_before;
            outcome = self.keep_uncut(&mut deciding).await?;
        } else if let Some(cut) = cut {
            let (reason, tokens_before) = (reason(&cut.record), cut.tokens_before);
            match self.keep_cut(&mut deciding, cut).await? {
                true => (outcome, cut_reason) = (Outcome::Cut, Some(reason)),
                false => tokens.sent = tokens_before,
            }
        }
        self.take_over(&mut deciding).await?;
        let own = deciding.own_record();
        if let Some(current) = deciding.live.cut().filter(|current| !current.record.is_taken_over)
            && own.is_some()
            && outcome == Outcome::Kept
        {
            outcome = if current.record.is_rescue { Outcome::Rescued } else { Outcome::Cut };
        }
        let key = own.map(|stored| stored.decision.key.clone());
        let mut open = self.open(&deciding, tokens, key);
        (open.is_repeat, open.cut_reason) = (was_decided && cut_reason.is_none(), cut_reason);
        open.observed = observed.map(|sent| Observed { sent, cost: None });
        open.cache_break = deciding.cache_break(outcome);
        let decided = deciding.decided(outcome, open);
        self.end(deciding, request.purpose);
        Ok(Decision::Send(decided))
    }

    /// Reads a request, finds its conversation and the record that applies to it.
    pub(super) async fn begin(&self, request: &ModelRequest) -> Result<Option<Deciding>, Halt> {
        let read = || Asked::read(request, &self.settings.user, |names| self.lives.histories(names));
        let Some(mut asked) = beside_others(request.body.len(), read) else { return Ok(None) };
        let live = self.lives.meet(&mut asked).await;
        self.lives.weigh(&live, self.settings.max_conversations, self.settings.max_conversation_bytes);
        let scope = self.scope(request, &asked);
        let facts = self.facts(&scope).await;
        let (mut figures, frame) = Figures::of(&asked, &self.settings, facts, live.frame.as_ref());
        figures.config.ledger_heading = Some(heading::of(&asked, &self.settings));
        let key = DecisionKey {
            chain: asked.history.chain.end(),
            upstream: asked.upstream.clone(),
            model: asked.model.clone(),
            attempt: 0,
        };
        let may = may(asked.purpose, request.mode);
        let is_observed = request.mode == Mode::Observe && asked.purpose == Purpose::Generate;
        let mut deciding = Deciding { asked, live, figures, scope, key, taken_over: None, frame, may, is_observed };
        if let Err(error) = self.read_records(&mut deciding).await {
            return if deciding.was_never_cut() { Ok(None) } else { Err(error.into()) };
        }
        match deciding.apply_record() {
            Ok(taken_over) => deciding.taken_over = taken_over,
            Err(ApplyError::Unreadable) => {
                let why = "a decision about this conversation was made by another version of Louver";
                return Err(unavailable(why).into());
            }
            Err(error) => tracing::error!(%error, "a recorded view cannot be built; the history goes out as it came"),
        }
        if deciding.is_left_alone() {
            deciding.may = May::Nothing;
        }
        Ok(Some(deciding))
    }

    /// Asks the store for what was decided on this chain, as far as that is not known.
    async fn read_records(&self, deciding: &mut Deciding) -> Result<(), louver_store::Error> {
        let version = self.store.decisions_version().await?;
        let live = &mut *deciding.live;
        let ends = live.history.chain.ends();
        let is_current = live.asked.version == Some(version);
        if is_current && live.asked.hashes == ends.len() {
            return Ok(());
        }
        let known = if is_current { live.asked.hashes.min(ends.len()) } else { 0 };
        let mut query = ChainQuery {
            upstream: deciding.asked.upstream.clone(),
            hashes: ends[known..].to_vec(),
            after: Sequence::default(),
        };
        let mut is_asked_for = true;
        if !is_current && !live.records.is_empty() {
            // Records are large and never change; only whether they were shown does.
            let heads = self.store.decision_heads_on(query.clone()).await?;
            let unknown = live.keep_known(&heads);
            is_asked_for = unknown.is_some();
            query.after = unknown.map_or(query.after, |first| Sequence(first.0 - 1));
        }
        if is_asked_for {
            let found = self.store.decisions_on(query).await?;
            live.add_records(found);
        }
        live.asked.hashes = live.history.chain.ends().len();
        live.asked.version = Some(version);
        Ok(())
    }

    /// A view that was decided before the client changed something behind it: it is recorded here, too. Everybody takes the
    /// same one over, so it holds also where that cannot be.
    async fn take_over(&self, deciding: &mut Deciding) -> Result<(), Halt> {
        let record = deciding.taken_over.take().filter(|_| deciding.asked.purpose != Purpose::CountTokens);
        let Some(record) = record else { return Ok(()) };
        match self.keep_record(deciding, &ViewRecord { is_taken_over: true, is_rescue: false, ..record }).await {
            Err(Halt::Store(error)) => {
                tracing::warn!(%error, "a view that is taken over cannot be recorded anew");
                Ok(())
            }
            kept => kept.map(drop),
        }
    }

    /// The same request went out uncut before and may still be in flight: that is settled as a cut would be, so whoever
    /// was there first counts for both.
    async fn keep_uncut(&self, deciding: &mut Deciding) -> Result<Outcome, Halt> {
        let kept = match deciding.present() {
            Ok(record) => self.keep_record(deciding, &ViewRecord { is_taken_over: true, ..record }).await,
            Err(error) => {
                tracing::error!(%error, "a history cannot be decided about; it goes out as it was recorded");
                Ok(None)
            }
        };
        match kept {
            Err(Halt::Store(error)) => tracing::warn!(%error, "that nothing is cut cannot be recorded"),
            kept => drop(kept?),
        }
        Ok(if deciding.live.cut().is_some() { Outcome::Kept } else { Outcome::Passed })
    }

    /// Records a new cut; says whether it is shown. One that only pays is put off where it cannot be recorded.
    async fn keep_cut(&self, deciding: &mut Deciding, cut: NewCut) -> Result<bool, Halt> {
        match self.keep_record(deciding, &cut.record).await {
            Ok(Some(_)) => {
                deciding.taken_over = None;
                Ok(true)
            }
            Ok(None) => Ok(false),
            // One that may stand there all the same has to be asked for first.
            Err(Halt::Store(error)) if !cut.is_forced && !error.is_unclear() => {
                tracing::warn!(%error, "a cut cannot be recorded and is put off");
                Ok(false)
            }
            Err(halt) => Err(halt),
        }
    }

    /// Records a view at this request, durably, as a further attempt where there is one already, and shows the one that
    /// counts; nothing where an answer to another was shown or there have been too many.
    pub(super) async fn keep_record(
        &self,
        deciding: &mut Deciding,
        record: &ViewRecord,
    ) -> Result<Option<StoredDecision>, Halt> {
        self.archive_before_cut(deciding).await?;
        let last = attempts_at(&deciding.live.records, &deciding.key).map(|stored| stored.decision.key.attempt).max();
        let key = DecisionKey { attempt: last.map_or(0, |last| last + 1), ..deciding.key.clone() };
        let decision =
            self.decision(deciding, record, key).ok_or_else(|| unavailable("a decision cannot be written"))?;
        let stored = if last.is_none() {
            self.store.insert_decision(decision).await?.into_winner()
        } else {
            match self.store.insert_attempt(decision).await? {
                FurtherAttempt::Inserted(inserted) => inserted.into_winner(),
                FurtherAttempt::Shown(_) | FurtherAttempt::Exhausted => return Ok(None),
            }
        };
        Ok(deciding.adopt(stored.clone()).is_ok().then_some(stored))
    }

    /// A record as the store takes it.
    pub(super) fn decision(
        &self,
        deciding: &Deciding,
        record: &ViewRecord,
        key: DecisionKey,
    ) -> Option<louver_store::Decision> {
        Some(louver_store::Decision {
            key,
            touches: deciding.live.history.chain.at(record.touches)?,
            conversation: deciding.live.id.clone(),
            at: now(),
            record: record.to_bytes().ok()?.into(),
        })
    }

    /// What a cut hides has to be there before.
    async fn archive_before_cut(&self, deciding: &mut Deciding) -> Result<(), louver_store::Error> {
        if self.settings.archive == Archive::Full {
            // What is written behind comes first: each message names the one before it.
            self.store.flush().await?;
            let lost = self.store.status().lost;
            if lost != deciding.live.lost {
                // Something that was to be written behind never was; whatever is there already stays as it is.
                (deciding.live.archived, deciding.live.lost) = (0, lost);
            }
            for content in deciding.new_content() {
                let bytes: usize = content.messages.iter().map(|message| message.raw.len()).sum();
                // A question has an end, and what is large takes longer; what is written behind has none.
                if bytes > LARGE_CONTENT && self.store.put_content_behind(content.clone()) == Queued::Waiting {
                    self.store.flush().await?;
                    if self.store.status().lost == lost {
                        continue;
                    }
                }
                self.store.put_content(content).await?;
            }
            deciding.live.archived = deciding.live.history.messages.len();
        }
        Ok(())
    }

    pub(super) fn open(&self, deciding: &Deciding, tokens: Tokens, key: Option<DecisionKey>) -> Open {
        Open {
            at: now(),
            conversation: deciding.info(),
            key,
            scope: deciding.scope.clone(),
            figures: deciding.figures.clone(),
            tokens,
            observed: None,
            cut_reason: None,
            cache_break: None,
            is_repeat: false,
            is_counted: deciding.asked.purpose != Purpose::CountTokens,
            baseline: Arc::clone(&deciding.live.baseline),
            sequence: deciding.live.current.as_ref().map(|current| current.sequence),
        }
    }

    /// Lets go of a conversation: what was seen stays in memory.
    fn end(&self, mut deciding: Deciding, purpose: Purpose) {
        if purpose != Purpose::CountTokens {
            deciding.live.frame = Some(deciding.frame.clone());
            deciding.live.last_request = Some(Instant::now());
            deciding.live.undecided = deciding.own_record().is_none().then(|| deciding.key.clone());
            if self.settings.archive == Archive::Full {
                let mut queued = deciding.new_content().into_iter().map(|run| self.store.put_content_behind(run));
                // What was lost is tried again with the next request.
                if queued.all(|one| one == Queued::Waiting) {
                    deciding.live.archived = deciding.live.history.messages.len();
                }
            }
        }
    }
}

fn may(purpose: Purpose, mode: Mode) -> May {
    match (purpose, mode) {
        (Purpose::CountTokens, _) | (_, Mode::Off | Mode::Observe) => May::Nothing,
        (Purpose::Summarise, _) | (_, Mode::Rescue) => May::Forced,
        (Purpose::Generate, Mode::Keep) => May::Everything,
    }
}

/// Works on a request of so many bytes. Where that can take long, other streams of this thread move to another one first.
fn beside_others<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match runtime {
        Ok(RuntimeFlavor::MultiThread) if bytes >= LARGE_BYTES => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Why a cut was made, in a word.
fn reason(record: &ViewRecord) -> String {
    let trigger = record.trigger.and_then(|trigger| serde_json::to_value(trigger).ok());
    trigger
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| "follows from an earlier cut".to_owned())
}

impl Deciding {
    /// Applies the record that counts. A record whose own key is not on this chain is returned, to be recorded anew.
    fn apply_record(&mut self) -> Result<Option<ViewRecord>, ApplyError> {
        let live = &mut *self.live;
        let Some(chosen) = choose(&live.records, &live.history.chain, &self.asked.model) else {
            live.current = None;
            return Ok(None);
        };
        let sequence = chosen.stored.sequence;
        if live.current.as_ref().is_none_or(|current| current.sequence != sequence) {
            live.current = None;
            let mut record = ViewRecord::parse(&chosen.stored.decision.record)?;
            if !chosen.is_on_chain {
                record = record.clipped_to(live.history.chain.counted().len());
            }
            let format = self.asked.body.format();
            let view = record.apply(format, &live.history.messages, &live.history.chain)?;
            live.current = Some(Current { sequence, record: Arc::new(record), view });
        }
        let taken_over = live.current.as_ref().map(|current| ViewRecord::clone(&current.record));
        Ok(taken_over.filter(|_| !chosen.is_on_chain))
    }

    /// Whether the history is too small for any mode to have cut it: a token has at least a byte.
    fn was_never_cut(&self) -> bool {
        let limit = self.figures.limit.map_or(SMALLEST_WINDOW, |limit| limit.saturating_sub(self.figures.reserve));
        let bytes = self.asked.body.text().len() as u64;
        bytes < limit.min(NEVER_CUT_BYTES) && self.live.records.is_empty()
    }

    /// Takes a recorded decision for the one that counts.
    pub(super) fn adopt(&mut self, stored: StoredDecision) -> Result<(), ApplyError> {
        let live = &mut *self.live;
        let record = ViewRecord::parse(&stored.decision.record)?;
        let view = record.apply(self.asked.body.format(), &live.history.messages, &live.history.chain)?;
        live.current = Some(Current { sequence: stored.sequence, record: Arc::new(record), view });
        live.records.push(stored);
        // What was asked of the store is no longer all there is.
        live.asked.version = None;
        Ok(())
    }

    /// The record at this request's own key that applies.
    pub(super) fn own_record(&self) -> Option<StoredDecision> {
        let sequence = self.live.current.as_ref()?.sequence;
        attempts_at(&self.live.records, &self.key).find(|stored| stored.sequence == sequence).cloned()
    }

    /// Whether no count can change anything: nothing was cut, and even if every byte were a token, nothing would be.
    fn needs_no_count(&self) -> bool {
        let bytes = self.asked.body.text().len() as u64;
        let Some((ladder, budget)) = self.figures.config.policy.ladder().zip(self.figures.config.budget) else {
            return false;
        };
        let shows_pictures = || {
            let mut parts = self.asked.history.messages.iter().flat_map(|message| &message.shape().parts);
            parts.any(|part| matches!(part.kind, PartKind::Media(_)))
        };
        self.live.records.is_empty() && ladder.leaves_alone(bytes, budget) && !shows_pictures()
    }

    /// What the engine makes of it. A panic there is nothing but no new cut.
    fn think(&mut self) -> Thought {
        let nothing = Thought { tokens: Tokens { sent: 0, held: 0 }, cut: None, observed: None };
        if self.needs_no_count() {
            return nothing;
        }
        let thought = catch_unwind(AssertUnwindSafe(|| self.try_to_think()));
        match thought {
            Ok(Ok(thought)) => thought,
            Ok(Err(error)) => {
                tracing::error!(%error, "a history cannot be decided about; it goes out as it was recorded");
                nothing
            }
            Err(_) => {
                tracing::error!("deciding panicked; the history goes out as it was recorded");
                nothing
            }
        }
    }

    fn try_to_think(&mut self) -> Result<Thought, louver::Error> {
        let mut window = self.live.window(&self.figures, &self.asked.model)?;
        let held = self.scaled(window.log_tokens());
        let has_arrivals = window.events().iter().any(|(_, event)| matches!(event, Event::Arrived(_)));
        let observed = self.is_observed.then(|| fitted(&window)).flatten().map(|window| self.scaled(window.tokens()));
        let may_fit = match self.may {
            May::Nothing => false,
            May::Forced => window.is_over(),
            May::Everything => true,
        };
        let is_repeated = self.own_record().is_some_and(|stored| stored.is_shown);
        let (tokens_before, is_forced) = (self.scaled(window.tokens()), window.is_over() || has_arrivals);
        let is_cut = may_fit && !is_repeated && self.fit(&mut window);
        let makes_record = self.asked.purpose != Purpose::CountTokens && (is_cut || has_arrivals);
        let cut = makes_record.then(|| NewCut { record: self.record(&window), is_forced, tokens_before });
        Ok(Thought { tokens: Tokens { sent: self.scaled(window.tokens()), held }, cut, observed })
    }

    /// Whether fitting changed the view. One that cannot be is left to the provider, who may count otherwise.
    fn fit(&self, window: &mut Window) -> bool {
        // A view that was recorded at this very request counts as fitted, whatever its model takes.
        if let Some(budget) = self.figures.config.budget.filter(|_| window.is_over()) {
            window.limit_to(budget);
        }
        match window.fit() {
            Ok(fit) => fit.is_cut(),
            Err(overflow) => {
                tracing::warn!(conversation = %self.live.id, %overflow, "a history cannot be made to fit");
                false
            }
        }
    }

    /// Whether this conversation was given up: its view stays, and nothing more is tried.
    pub(super) fn is_left_alone(&self) -> bool {
        self.live.current.as_ref().is_some_and(|current| current.record.is_left_alone)
    }

    /// What goes out without a new decision, as a record.
    pub(super) fn present(&self) -> Result<ViewRecord, louver::Error> {
        Ok(self.record(&self.live.other_window(&self.figures.config)?))
    }

    /// The view of a window as a record, with what it was decided by.
    pub(super) fn record(&self, window: &Window) -> ViewRecord {
        let mut record = ViewRecord::of(window, &self.live.history.chain);
        record.facts = serde_json::json!({
            "model": self.asked.model,
            "limit": self.figures.limit,
            "reserve": self.figures.reserve,
            "factor": self.figures.factor.millionths(),
        });
        record
    }

    /// Our tokens as the provider's.
    pub(super) fn scaled(&self, tokens: u64) -> u64 {
        louver::tokens::Millitokens::from_tokens(tokens).scaled(self.figures.factor).ceil_tokens()
    }

    /// What is sent and said.
    pub(super) fn decided(&self, outcome: Outcome, open: Open) -> Decided<Ticket> {
        let tokens = Some(open.tokens).filter(|tokens| tokens.held > 0);
        let is_near = |limit: u64| open.tokens.sent > limit / 2;
        Decided {
            body: self.body(),
            outcome,
            conversation: Some(Conversation {
                id: self.live.id.as_str().into(),
                parent: self.live.parent.as_ref().map(|parent| parent.as_str().into()),
            }),
            tokens,
            holds_leading_events: self.figures.limit.is_none_or(is_near),
            ticket: Ticket(Some(Box::new(open))),
        }
    }

    /// The request with the view in the place of the history; nothing where it goes out as it came.
    fn body(&self) -> Option<Bytes> {
        let current = self.live.cut()?;
        let messages = &self.asked.history.messages;
        let items = current.view.items(messages.len()).map(|item| match item {
            Item::Kept(index) => (Some(index), messages[index].raw()),
            Item::Edited(index, message) => (Some(index), message.raw()),
            Item::Ours(message) => (None, message.raw()),
        });
        Some(Bytes::from(self.asked.body.render(items)))
    }

    pub(super) fn info(&self) -> ConversationInfo {
        ConversationInfo {
            id: self.live.id.clone(),
            parent: self.live.parent.clone(),
            reader: self.asked.reader.clone(),
            format: self.asked.body.format(),
            model: self.asked.model.clone(),
        }
    }

    /// Why the provider cannot have this request's beginning in its cache, where there is a reason.
    fn cache_break(&self, outcome: Outcome) -> Option<String> {
        let changed = self.live.frame.as_ref().and_then(|before| self.frame.change_since(before));
        if let Some(changed) = changed {
            return Some(changed.to_owned());
        }
        if matches!(outcome, Outcome::Cut | Outcome::Rescued) {
            return Some("the history was cut".to_owned());
        }
        let idle = self.live.last_request?.elapsed().as_secs();
        let ttl = self.figures.model.as_ref()?.traits.cache_ttl_seconds;
        (idle > ttl).then(|| format!("nothing was asked for {idle} s"))
    }

    /// Messages that are not archived yet, in runs: what is nothing but thinking has a place, but is on no chain.
    fn new_content(&self) -> Vec<NewContent> {
        let Live { history, archived, .. } = &*self.live;
        let chain = &history.chain;
        let mut runs: Vec<NewContent> = Vec::new();
        let mut end = usize::MAX;
        for (index, message) in history.messages.iter().enumerate().skip(*archived) {
            let before = chain.count_before(index);
            let (Some(hash), Ok(number)) = (chain.at(before + 1), u32::try_from(index)) else { continue };
            if !chain.is_counted(index) {
                continue;
            }
            let message = NewMessage { chain: hash, raw: message.raw().into() };
            match runs.last_mut().filter(|_| end == index) {
                Some(run) => run.messages.push(message),
                None => runs.push(NewContent {
                    conversation: self.info(),
                    at: now(),
                    index: number,
                    previous: before.checked_sub(1).and_then(|_| chain.at(before)),
                    messages: vec![message],
                }),
            }
            end = index + 1;
        }
        runs
    }
}

/// A window after what its policy wants.
fn fitted(window: &Window) -> Option<Window> {
    let mut window = window.clone();
    window.fit().ok()?;
    Some(window)
}
