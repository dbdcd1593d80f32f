//! After a refusal: once more, smaller or without thinking.

use super::Keeper;
use super::asked::Hashed;
use super::deciding::Deciding;
use super::figures::in_our_tokens;
use super::ticket::{Open, Ticket};
use super::trouble::Halt;
use crate::brain::{AfterRefusal, Decided, OwnRefusal, Refused, Tokens};
use crate::clock::now;
use crate::conversation::ViewRecord;
use crate::model_request::{Mode, ModelRequest};
use crate::outcome::Outcome;
use http::StatusCode;
use louver::refusal::{OverflowFigures, Refusal};
use louver::tokens::Factor;
use louver::wire::{Format, PartKind};
use louver_store::StoredDecision;

/// After so many rescues in a row a conversation is left alone.
const STORM: usize = 3;

/// What is tried where the provider does not say how much it takes: a share of what it refused.
const GUESS_PERCENT: u64 = 70;

/// What is learned there: the refused request was too long, but nobody knows by how much.
const BELOW_REFUSED_PERCENT: u64 = 90;

/// How far the provider's count may be from ours and still be believed.
const BELIEVED: (u64, u64) = (250_000, 4_000_000);

impl Keeper {
    pub(super) async fn after_refusal(
        &self,
        request: &ModelRequest,
        ticket: Ticket,
        refused: Refused,
    ) -> AfterRefusal<Ticket> {
        let Some(open) = ticket.0 else { return AfterRefusal::Pass(ticket) };
        // Bound thinking is refused after a cut of ours: that is mended in every mode.
        let is_left_alone = matches!(request.mode, Mode::Off | Mode::Observe) && refused.refusal.overflow().is_some();
        if !open.is_counted || is_left_alone {
            return AfterRefusal::Pass(Ticket(Some(open)));
        }
        match self.insist(|| self.rescue(request, &open, refused)).await {
            Ok(Some(decided)) => AfterRefusal::Again(decided),
            Ok(None) | Err(_) => AfterRefusal::Pass(Ticket(Some(open))),
        }
    }

    async fn rescue(
        &self,
        request: &ModelRequest,
        open: &Open,
        refused: Refused,
    ) -> Result<Option<Decided<Ticket>>, Halt> {
        let Some(mut deciding) = self.begin(request).await? else { return Ok(None) };
        if deciding.is_left_alone() {
            return Ok(None);
        }
        if let Some(mended) = self.mended_by_another(&deciding, open) {
            return Ok(Some(mended));
        }
        if deciding.is_storm() {
            self.leave_alone(&mut deciding).await?;
            return Ok(None);
        }
        let mended = match refused.refusal {
            Refusal::Overflow(figures) => self.smaller(&mut deciding, open, figures, refused.status).await,
            Refusal::BoundThinking => deciding.without_thinking().map(|record| (record, open.tokens.sent)),
        };
        let Some((record, sent)) = mended else { return Ok(None) };
        let record = ViewRecord { is_rescue: true, is_taken_over: false, ..record };
        let Some(stored) = self.keep_record(&mut deciding, &record).await? else { return Ok(None) };
        let tokens = Tokens { sent, held: open.tokens.held };
        let mut next = self.open(&deciding, tokens, Some(stored.decision.key));
        next.at = open.at;
        next.cut_reason = Some("refused by the provider".to_owned());
        next.cache_break = Some("the history was cut".to_owned());
        Ok(Some(deciding.decided(Outcome::Rescued, next)))
    }

    /// Gives a conversation up: what was decided stays, and nothing more will be.
    async fn leave_alone(&self, deciding: &mut Deciding) -> Result<(), Halt> {
        tracing::error!(conversation = %deciding.live.id, "refused again and again; this conversation is left alone");
        match deciding.present() {
            Ok(record) => {
                let record = ViewRecord { is_left_alone: true, is_taken_over: true, ..record };
                self.keep_record(deciding, &record).await.map(drop)
            }
            Err(error) => {
                tracing::error!(%error, "that a conversation is left alone cannot be recorded");
                Ok(())
            }
        }
    }

    /// The same request was refused twice at once, and the other one has a further attempt already: it is for both.
    fn mended_by_another(&self, deciding: &Deciding, open: &Open) -> Option<Decided<Ticket>> {
        let own = deciding.own_record().filter(|stored| Some(stored.sequence) != open.sequence)?;
        let mut next = self.open(deciding, open.tokens, Some(own.decision.key.clone()));
        (next.at, next.is_repeat) = (open.at, true);
        Some(deciding.decided(Outcome::Rescued, next))
    }

    /// A view that the provider should take, and its tokens. What it said is learned.
    async fn smaller(
        &self,
        deciding: &mut Deciding,
        open: &Open,
        figures: OverflowFigures,
        status: StatusCode,
    ) -> Option<(ViewRecord, u64)> {
        // Small requests go out uncounted.
        let ours = match open.tokens.sent {
            0 => deciding.live.other_window(&deciding.figures.config).ok()?.tokens(),
            sent => in_our_tokens(sent, open.figures.factor),
        };
        let refused = figures.input_tokens.unwrap_or(open.tokens.sent.max(ours)).max(1);
        // Chat Completions may count the reply that was asked for with the input: what is nearer to our count is the input.
        let reply = deciding.asked.body.max_output().filter(|_| deciding.asked.format() == Format::OpenAiChat);
        let without_reply = reply.and_then(|reply| refused.checked_sub(reply)).filter(|input| *input > 0);
        let counts = without_reply.into_iter().chain([refused]).min_by_key(|input| input.abs_diff(ours));
        let seen = counts.and_then(|input| Factor::ratio(input, ours.max(1)));
        let believed = seen.filter(|seen| (BELIEVED.0..=BELIEVED.1).contains(&seen.millionths()));
        let factor = believed.filter(|_| figures.input_tokens.is_some()).unwrap_or(open.figures.factor);
        let percent = |tokens: u64, percent: u64| tokens.saturating_mul(percent) / 100;
        let named = figures.limit_tokens.filter(|limit| *limit > 0).map(|limit| input_limit(limit, figures, open));
        // Too many bytes say nothing of tokens.
        let guessed = (status != StatusCode::PAYLOAD_TOO_LARGE).then(|| percent(refused, BELOW_REFUSED_PERCENT));
        self.learn(deciding, named.or(guessed), factor).await;
        let limit = named.unwrap_or(percent(refused, GUESS_PERCENT));
        // Where the limit alone asks for no cut, something else was too much.
        [limit, percent(refused, GUESS_PERCENT).min(percent(limit, 90))].into_iter().find_map(|limit| {
            let figures = deciding.figures.clone().limited_to(limit, factor, &self.settings.policy)?;
            let mut window = deciding.live.other_window(&figures.config).ok()?;
            // A view that was recorded at this very request counts as fitted: it has to be looked at once more.
            window.limit_to(figures.config.budget?);
            let is_cut = window.fit().is_ok_and(|fit| fit.is_cut());
            is_cut.then(|| {
                deciding.figures = figures;
                (deciding.record(&window), deciding.scaled(window.tokens()))
            })
        })
    }

    async fn learn(&self, deciding: &Deciding, limit: Option<u64>, factor: Factor) {
        let scope = deciding.scope.clone();
        let learned = async {
            if let Some(limit) = limit {
                self.store.learn_limit(scope.clone(), limit, now()).await?;
            }
            if factor != deciding.figures.factor {
                self.store.learn_calibration(scope.served.clone(), factor).await?;
            }
            Ok::<(), louver_store::Error>(())
        };
        if let Err(error) = learned.await {
            tracing::warn!(%error, "what a provider said about its limit could not be kept");
        }
        self.forget_facts(&deciding.scope);
    }

    /// Notes that an answer to a recorded view is about to be seen.
    pub(super) async fn mark_shown(&self, ticket: &mut Ticket, status: StatusCode) -> Result<(), OwnRefusal> {
        let Some(open) = ticket.0.as_deref().filter(|_| status.is_success()) else { return Ok(()) };
        let Some(key) = open.key.clone() else { return Ok(()) };
        self.insist(|| self.store.mark_shown(key.clone())).await.map(drop)
    }
}

/// How much input is taken, where a limit counts the reply, too: what is left of it, and the reserve that is kept anyway.
fn input_limit(limit: u64, figures: OverflowFigures, open: &Open) -> u64 {
    match figures.reply_tokens {
        Some(reply) => limit.saturating_sub(reply).saturating_add(open.figures.reserve).min(limit),
        None => limit,
    }
}

impl Deciding {
    /// The present view without thinking, if there is one of ours.
    fn without_thinking(&self) -> Option<ViewRecord> {
        let current = self.live.cut()?;
        let Hashed { messages, chain, .. } = &self.live.history;
        let last = messages.iter().rposition(|message| message.shape().has(PartKind::Thinking));
        let last = last.map_or(0, |index| chain.count_before(index + 1));
        Some(ViewRecord::clone(&current.record).without_thinking(chain.counted().len(), last))
    }

    /// Whether the last decisions were all made after refusals.
    fn is_storm(&self) -> bool {
        let chain = &self.live.history.chain;
        let mut records: Vec<(usize, &StoredDecision)> = self
            .live
            .records
            .iter()
            .filter_map(|stored| Some((chain.position(stored.decision.key.chain)?, stored)))
            .collect();
        records.sort_by_key(|(boundary, stored)| (*boundary, stored.sequence));
        let read = records.iter().rev().filter_map(|(_, stored)| ViewRecord::parse(&stored.decision.record).ok());
        let last: Vec<bool> =
            read.filter(|record| !record.is_taken_over).take(STORM).map(|record| record.is_rescue).collect();
        last.len() == STORM && last.into_iter().all(|is_rescue| is_rescue)
    }
}
