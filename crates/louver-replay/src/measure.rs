//! One conversation under one policy, summed up.

use crate::contender::Contender;
use crate::options::Options;
use crate::prepared::{Baseline, Prepared};
use crate::report::{ByKind, Detail, Point, RunRow};
use crate::retention::{Age, Share};
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
    floor_tokens: Option<u64>,
    detail: Detail,
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
        sums.add(prepared, number, &step);
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
        let tariff = &prepared.assumptions.tariff;
        let prices = tariff.prices_at(step.tokens);
        self.tokens.uncached += step.settled.uncached;
        self.tokens.written += step.settled.written;
        self.tokens.read += step.settled.read;
        self.tokens.output += step.output_tokens;
        self.costs.uncached += prices.input.of(step.settled.uncached);
        self.costs.written += prices.cache_write.of(step.settled.written);
        self.costs.read += prices.cache_read.of(step.settled.read);
        self.costs.output += tariff.output_cost(step.tokens, step.output_tokens);
        self.overflows += u64::from(prepared.overflows(step.tokens));
        self.illegal += u64::from(step.verdict.is_illegal);
        self.inherited += u64::from(step.verdict.inherits);
        if step.change.is_cut {
            self.cuts += 1;
            self.floor_tokens = Some(self.floor_tokens.map_or(step.tokens, |floor| floor.min(step.tokens)));
        } else if number > 0 {
            self.quiet += 1;
            self.stable += u64::from(step.change.is_prefix);
        }
        self.detail.series.push(Point { tokens: step.tokens, read: step.settled.read, is_cut: step.change.is_cut });
        for (reference, outcome) in prepared.references[number].iter().zip(&step.outcomes) {
            self.detail.tally.add(reference, *outcome);
        }
    }

    fn into_row(self, prepared: &Prepared<'_>, contender: &Contender, baseline: &Baseline) -> RunRow {
        let assumptions = &prepared.assumptions;
        let input = self.costs.uncached + self.costs.written + self.costs.read;
        let sent = self.tokens.uncached + self.tokens.written + self.tokens.read;
        let window = assumptions.budget.context_window();
        let floor_tokens = self.floor_tokens.unwrap_or(window);
        let optimum = prepared.optimum(floor_tokens);
        // A policy that never cuts and still overflows is outside what the best plan may do.
        let is_comparable = self.cuts > 0 || self.overflows == 0;
        let tally = &self.detail.tally;
        RunRow {
            file: prepared.conversation.file.clone(),
            format: prepared.conversation.format,
            model: assumptions.model.clone(),
            policy: contender.name.clone(),
            requests: prepared.turns.len() as u64,
            cost_usd: (input + self.costs.output).usd(),
            baseline_usd: (baseline.input + baseline.output).usd(),
            baseline_overflows: baseline.overflows,
            saving: ratio(input, baseline.input).map(|share| 1.0 - share),
            regret: ratio(input, optimum).filter(|_| is_comparable),
            overflows: self.overflows,
            illegal: self.illegal,
            inherited: self.inherited,
            prefix_stability: share(self.stable, self.quiet).unwrap_or(1.0),
            hit_rate: share(self.tokens.read, sent),
            tokens_kept: share(sent, baseline.tokens),
            recall_window: tally.mention.ratio(),
            recall_line: tally.line.ratio(),
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
            recall_by_origin: named(Speaker::ALL.map(Speaker::name), &tally.by_origin),
            counter: assumptions.counter().name().to_owned(),
            context_window: window,
            warnings: assumptions.warnings.clone(),
            micros_per_request: None,
            detail: self.detail,
        }
    }
}

fn named<const N: usize>(names: [&'static str; N], shares: &[Share; N]) -> BTreeMap<&'static str, Option<f64>> {
    names.into_iter().zip(shares.iter().map(|share| share.ratio())).collect()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn ratio(cost: Cost, other: Cost) -> Option<f64> {
    (other > Cost::ZERO).then(|| cost.picodollars() as f64 / other.picodollars() as f64)
}
