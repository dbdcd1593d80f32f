//! One conversation under one policy, summed up.

use crate::assumptions::Assumptions;
use crate::baseline::Baseline;
use crate::billed::ratio;
use crate::contender::Contender;
use crate::optimum::OwnCut;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::report::{Bill, ByKind, Conditions, Detail, Origin, Point, RunRow};
use crate::retention::{Age, Lost, Outcome, Recalls, Reference, Share};
use crate::run::{Run, Step};
use louver::catalog::Cost;
use louver::plain_text::Speaker;
use louver::policy::SettingsError;
use std::collections::BTreeMap;

/// Running sums over the requests of a run.
#[derive(Debug, Default)]
struct Sums {
    tokens: ByKind<u64>,
    costs: ByKind<Cost>,
    overflows: u64,
    illegal: u64,
    inherited: u64,
    cuts: u64,
    /// Turns without a cut, and those of them at which the request before was a prefix.
    quiet: u64,
    stable: u64,
    own_cuts: Vec<OwnCut>,
    recalls: Recalled,
    detail: Detail,
}

/// What having back what is missing costs, by what counts as seen and by how much comes back.
#[derive(Debug, Default)]
struct Recalled {
    lines: Recalls,
    passages: Recalls,
    /// The same where a search always finds what is missing.
    found_lines: Recalls,
    found_passages: Recalls,
    /// Whole messages come back.
    whole: Recalls,
}

impl Recalled {
    fn each(&mut self) -> [&mut Recalls; 5] {
        [&mut self.lines, &mut self.passages, &mut self.found_lines, &mut self.found_passages, &mut self.whole]
    }

    fn add(&mut self, prepared: &Prepared<'_>, number: usize, step: &Step) {
        if step.change.is_cut {
            self.each().into_iter().for_each(Recalls::cut);
        }
        let tariff = &prepared.assumptions.at(number).tariff;
        let references = || prepared.references[number].iter().zip(&step.outcomes);
        let lost = |what: u64, reference: &Reference, is_found: bool| {
            let message_tokens = prepared.amounts[reference.message].ceil_tokens();
            Lost { what, message: reference.message, message_tokens, is_found }
        };
        let no_line = || references().filter(|(_, outcome)| !outcome.has_line);
        let no_passage = || references().filter(|(_, outcome)| !outcome.has_passage);
        let by_line = |(one, outcome): (&Reference, &Outcome)| lost(one.line.into(), one, outcome.is_line_retrieved);
        let by_passage = |(one, outcome): (&Reference, &Outcome)| lost(one.passage, one, outcome.is_line_retrieved);
        self.lines.request(tariff, step.settled, no_line().map(by_line));
        self.passages.request(tariff, step.settled, no_passage().map(by_passage));
        let is_found = |lost: Lost| Lost { is_found: true, ..lost };
        self.found_lines.request(tariff, step.settled, no_line().map(by_line).map(is_found));
        self.found_passages.request(tariff, step.settled, no_passage().map(by_passage).map(is_found));
        self.whole.request(tariff, step.settled, no_line().map(|(one, _)| lost(one.line.into(), one, false)));
    }
}

/// Replays a prepared conversation under one policy.
pub(crate) fn measure(
    prepared: &mut Prepared<'_>,
    contender: &Contender,
    baseline: &Baseline,
    options: &Options,
) -> Result<RunRow, SettingsError> {
    let mut run = Run::new(prepared, contender)?;
    let mut sums = Sums::default();
    let mut number = 0;
    while let Some(step) = run.step(prepared) {
        if prepared.counts(number) {
            sums.add(prepared, number, &step);
        }
        number += 1;
    }
    let mut row = sums.into_row(prepared, contender, baseline);
    row.redundancy = run.watch.redundancy.ratio();
    if options.timings && row.requests > 0 {
        row.micros_per_request = Some(run.spent.as_secs_f64() * 1e6 / row.requests as f64);
    }
    Ok(row)
}

impl Sums {
    fn add(&mut self, prepared: &Prepared<'_>, number: usize, step: &Step) {
        let tariff = &prepared.assumptions.at(number).tariff;
        let prices = tariff.prices_at(step.tokens);
        self.tokens.uncached += step.settled.uncached;
        self.tokens.written += step.settled.written;
        self.tokens.read += step.settled.read;
        self.tokens.output += step.output_tokens;
        self.costs.uncached += prices.input.of(step.settled.uncached);
        self.costs.written += prices.cache_write.of(step.settled.written);
        self.costs.read += prices.cache_read.of(step.settled.read);
        self.costs.output += tariff.output_cost(step.tokens, step.output_tokens);
        self.overflows += u64::from(prepared.overflows(number, step.tokens));
        self.illegal += u64::from(step.verdict.is_illegal);
        self.inherited += u64::from(step.verdict.inherits);
        if step.change.is_cut {
            self.cuts += 1;
            self.own_cuts.push(OwnCut { turn: number, tokens: step.tokens, read: step.settled.read });
        } else if number > 0 {
            self.quiet += 1;
            self.stable += u64::from(step.change.is_prefix);
        }
        self.recalls.add(prepared, number, step);
        self.detail.series.push(Point { tokens: step.tokens, read: step.settled.read, is_cut: step.change.is_cut });
        for (reference, outcome) in prepared.references[number].iter().zip(&step.outcomes) {
            self.detail.tally.add(reference, *outcome);
        }
    }

    /// A policy that never cuts and still overflows is outside what the best plan may do.
    fn has_regret(&self) -> bool {
        self.cuts > 0 || self.overflows == 0
    }

    /// The smallest view after a cut.
    fn floor_tokens(&self, prepared: &Prepared<'_>) -> u64 {
        let smallest = self.own_cuts.iter().map(|cut| cut.tokens).min();
        smallest.unwrap_or(prepared.assumptions.budget.context_window())
    }

    /// What the best times to cut would have cost. The policy's own are among them.
    fn optimum(&self, prepared: &Prepared<'_>, baseline: &Baseline) -> Cost {
        let own = self.costs.input();
        prepared.optimum(&self.own_cuts, &baseline.everything.reach).map_or(own, |best| best.min(own))
    }

    #[expect(clippy::too_many_lines, reason = "a line for each figure of a row")]
    fn into_row(self, prepared: &Prepared<'_>, contender: &Contender, baseline: &Baseline) -> RunRow {
        let (input, sent, requests) = (self.costs.input(), self.tokens.input(), counted_requests(prepared));
        let (floor_tokens, optimum) = (self.floor_tokens(prepared), self.optimum(prepared, baseline));
        let (paid, usually) = (input + self.costs.output, baseline.input + baseline.output);
        let saved = |cost: Cost| ratio(cost, usually).map(|share| 1.0 - share);
        let of_input = |cost: Cost| ratio(cost, baseline.input).map(|share| 1.0 - share);
        let tally = &self.detail.tally;
        RunRow {
            file: prepared.conversation.file.clone(),
            format: prepared.conversation.format,
            model: prepared.assumptions.model.clone(),
            policy: contender.name.clone(),
            requests,
            cost_usd: paid.usd(),
            baseline: baseline.rival.name(),
            baseline_usd: usually.usd(),
            baseline_overflows: baseline.everything.overflows,
            saving: of_input(input),
            saving_of_paid: saved(paid),
            saving_after_recall: saved(paid + self.recalls.lines.cost),
            saving_after_recall_passage: saved(paid + self.recalls.passages.cost),
            saving_after_found_recall: saved(paid + self.recalls.found_lines.cost),
            saving_after_found_recall_passage: saved(paid + self.recalls.found_passages.cost),
            input_saving_after_found_recall: of_input(input + self.recalls.found_lines.cost),
            input_saving_after_found_recall_passage: of_input(input + self.recalls.found_passages.cost),
            saving_after_reread: saved(paid + self.recalls.whole.cost),
            recalls_per_request: share(self.recalls.lines.requests, requests),
            everything_usd: (baseline.everything.input + baseline.everything.output).usd(),
            everything_input_usd: baseline.everything.input.usd(),
            recorded_usd: baseline.recorded.map(Cost::usd),
            simulated_over_recorded: baseline.quotient,
            regret: ratio(input, optimum).filter(|_| self.has_regret()),
            overflows: self.overflows,
            illegal: self.illegal,
            inherited: self.inherited,
            prefix_stability: share(self.stable, self.quiet).unwrap_or(1.0),
            hit_rate: share(self.tokens.read, sent),
            tokens_kept: share(sent, baseline.everything.tokens),
            recall_window: tally.mention.ratio(),
            recall_line: tally.line.ratio(),
            recall_line_intact: tally.line_intact.ratio(),
            recall_line_old: tally.line_old.ratio(),
            recall_passage: tally.passage.ratio(),
            recall_retrievable: tally.retrievable.ratio(),
            edit_recall: tally.edit.ratio(),
            user_recall: tally.user.ratio(),
            cuts: self.cuts,
            redundancy: None,
            input_usd: input.usd(),
            baseline_input_usd: baseline.input.usd(),
            optimum_input_usd: optimum.usd(),
            floor_tokens,
            tokens: self.tokens,
            usd: self.costs.map(Cost::usd),
            recall_by_age: named(Age::ALL.map(Age::name), &tally.by_age),
            line_by_age: named(Age::ALL.map(Age::name), &tally.line_by_age),
            passage_by_age: named(Age::ALL.map(Age::name), &tally.passage_by_age),
            recall_by_origin: named(Speaker::ALL.map(Speaker::name), &tally.by_origin),
            conditions: conditions(prepared),
            origin: origin(prepared),
            warnings: warnings(&prepared.assumptions, baseline.quotient),
            micros_per_request: None,
            detail: Detail { is_all_billed: prepared.is_all_billed(), ..self.detail },
        }
    }
}

/// The requests that no other record of the same session has already been billed for.
fn counted_requests(prepared: &Prepared<'_>) -> u64 {
    (prepared.turns.len() - prepared.conversation.counted_elsewhere) as u64
}

/// What the reader should know of a conversation.
fn warnings(assumptions: &Assumptions, quotient: Option<f64>) -> Vec<String> {
    let is_off = quotient.is_some_and(Bill::is_off);
    let off = is_off.then(|| "replay's bill of everything is more than 10 % off the recorded one".to_owned());
    assumptions.warnings.iter().cloned().chain(off).collect()
}

fn conditions(prepared: &Prepared<'_>) -> Conditions {
    let assumptions = &prepared.assumptions;
    Conditions {
        counter: assumptions.counter().name().to_owned(),
        counter_factor: prepared.fitted.map(|fitted| fitted.factor.millionths() as f64 / 1e6),
        overhead_tokens: prepared.overhead.ceil_tokens(),
        cache_life_seconds: lives(assumptions),
        context_window: assumptions.budget.context_window(),
    }
}

fn origin(prepared: &Prepared<'_>) -> Origin {
    let conversation = prepared.conversation;
    Origin {
        session: conversation.session.clone(),
        project: conversation.project.clone(),
        last_time: conversation.last_time(),
    }
}

/// How long what is written to the cache lives, each life once.
fn lives(assumptions: &Assumptions) -> Vec<u64> {
    let lives = assumptions.terms.iter().map(|terms| terms.tariff.cache.ttl_millis / 1000);
    let mut lives: Vec<u64> = lives.map(|seconds| u64::try_from(seconds).unwrap_or(0)).collect();
    lives.sort_unstable();
    lives.dedup();
    lives
}

fn named<const N: usize>(names: [&'static str; N], shares: &[Share; N]) -> BTreeMap<&'static str, Option<f64>> {
    names.into_iter().zip(shares.iter().map(|share| share.ratio())).collect()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
