//! Rows summed up per policy.

use super::distribution::Distribution;
use super::row::{Measure, RunRow};
use crate::retention::{Age, Share, Tally};
use louver::plain_text::Speaker;
use serde::Serialize;
use std::collections::BTreeMap;

/// A policy over all conversations.
#[derive(Clone, Debug, Serialize)]
pub struct Totals {
    /// The policy.
    pub policy: String,
    /// Over all conversations.
    #[serde(flatten)]
    pub all: Group,
    /// Recall over the references of all conversations together, so that long ones weigh more.
    pub pooled: Pooled,
    /// Mention recall by age, over the weights of all conversations.
    pub recall_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Line recall by age.
    pub line_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Passage recall by age.
    pub passage_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Mention recall by origin.
    pub recall_by_origin: BTreeMap<&'static str, Option<f64>>,
    /// Per wire format.
    pub by_format: BTreeMap<&'static str, Group>,
    /// By the number of requests.
    pub by_length: BTreeMap<&'static str, Group>,
}

/// Recall over the references of all conversations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pooled {
    /// Mentioned in the request.
    pub recall_window: Option<f64>,
    /// The line stands in the request.
    pub recall_line: Option<f64>,
    /// Mentioned, or among the hits of a search.
    pub recall_retrievable: Option<f64>,
}

/// Some conversations under one policy.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Group {
    /// How many.
    pub conversations: usize,
    /// 1 - sum of input costs / sum of baselines.
    pub saving_of_bill: Option<f64>,
    /// The same with output.
    pub saving_of_paid: Option<f64>,
    /// What replay makes of recorded requests, over what they cost; null where nothing is recorded.
    pub simulated_over_recorded: Option<f64>,
    /// The conversation that came out worst against its baseline.
    pub dearest_saving: Option<f64>,
    /// Half of the conversations are below.
    pub median: BTreeMap<&'static str, Option<f64>>,
    /// The averages.
    pub mean: BTreeMap<&'static str, Option<f64>>,
    /// A tenth of the conversations is below.
    pub p10: BTreeMap<&'static str, Option<f64>>,
    /// A tenth is above.
    pub p90: BTreeMap<&'static str, Option<f64>>,
    /// One in twenty is above.
    pub p95: BTreeMap<&'static str, Option<f64>>,
    /// The sums of what can be summed.
    pub sums: BTreeMap<&'static str, f64>,
}

/// The best plans in hindsight, each conversation at the smallest floor that any policy left.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Hindsight {
    /// How many conversations.
    pub conversations: usize,
    /// The median of the savings, of the same conversations that [`Totals::typical`] is of.
    pub median_saving: Option<f64>,
    /// 1 - sum of input costs / sum of baselines.
    pub saving_of_bill: Option<f64>,
    /// The sum of input costs.
    pub input_usd: f64,
}

/// A total per policy, in the order in which the policies first appear.
#[must_use]
pub fn totals(rows: &[RunRow]) -> Vec<Totals> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.policy.as_str()) {
            names.push(&row.policy);
        }
    }
    names.into_iter().map(|policy| Totals::of(policy, rows)).collect()
}

impl Totals {
    fn of(policy: &str, rows: &[RunRow]) -> Self {
        let rows: Vec<&RunRow> = rows.iter().filter(|row| row.policy == policy).collect();
        Self {
            policy: policy.to_owned(),
            all: Group::of(&rows),
            pooled: Pooled {
                recall_window: pool(rows.iter().map(|row| row.detail.tally.mention)),
                recall_line: pool(rows.iter().map(|row| row.detail.tally.line)),
                recall_retrievable: pool(rows.iter().map(|row| row.detail.tally.retrievable)),
            },
            recall_by_age: pooled(Age::ALL.map(Age::name), &rows, |tally| &tally.by_age),
            line_by_age: pooled(Age::ALL.map(Age::name), &rows, |tally| &tally.line_by_age),
            passage_by_age: pooled(Age::ALL.map(Age::name), &rows, |tally| &tally.passage_by_age),
            recall_by_origin: pooled(Speaker::ALL.map(Speaker::name), &rows, |tally| &tally.by_origin),
            by_format: grouped(&rows, |row| row.format.name()),
            by_length: grouped(&rows, |row| length_name(row.requests)),
        }
    }
}

/// So many conversations are enough to speak for themselves.
const ENOUGH: usize = 10;

impl Totals {
    /// The conversations that medians are shown of: the long ones where there are enough of them, since most conversations
    /// are so short that no policy does anything; else all.
    pub fn typical(&self) -> &Group {
        self.by_length.get(LONG).filter(|long| long.conversations >= ENOUGH).unwrap_or(&self.all)
    }

    /// Which conversations those are.
    pub fn typical_name(&self) -> String {
        let typical = self.typical();
        match typical.conversations < self.all.conversations {
            true => format!("the {} conversations with 100 and more requests", typical.conversations),
            false => "all conversations".to_owned(),
        }
    }
}

fn pooled<const N: usize>(
    names: [&'static str; N],
    rows: &[&RunRow],
    shares: fn(&Tally) -> &[Share; N],
) -> BTreeMap<&'static str, Option<f64>> {
    let pool_at = |at: usize| pool(rows.iter().map(|row| shares(&row.detail.tally)[at]));
    names.into_iter().enumerate().map(|(at, name)| (name, pool_at(at))).collect()
}

fn pool(shares: impl Iterator<Item = Share>) -> Option<f64> {
    let mut sum = Share::default();
    shares.for_each(|share| sum.join(share));
    sum.ratio()
}

fn grouped(rows: &[&RunRow], key: impl Fn(&RunRow) -> &'static str) -> BTreeMap<&'static str, Group> {
    let mut groups: BTreeMap<&'static str, Vec<&RunRow>> = BTreeMap::new();
    rows.iter().for_each(|row| groups.entry(key(row)).or_default().push(row));
    groups.into_iter().map(|(name, rows)| (name, Group::of(&rows))).collect()
}

/// The longest conversations.
const LONG: &str = "100+";

fn length_name(requests: u64) -> &'static str {
    match requests {
        0..10 => "1-9",
        10..50 => "10-49",
        50..100 => "50-99",
        _ => LONG,
    }
}

impl Group {
    fn of(rows: &[&RunRow]) -> Self {
        let mut group = Self { conversations: rows.len(), ..Self::default() };
        for measure in Measure::ALL {
            let values = Distribution::of(rows.iter().map(|row| (measure.of)(row)));
            if measure.name == "micros_per_request" && values.mean().is_none() {
                continue;
            }
            group.median.insert(measure.name, values.quantile(0.5));
            group.mean.insert(measure.name, values.mean());
            group.p10.insert(measure.name, values.quantile(0.1));
            group.p90.insert(measure.name, values.quantile(0.9));
            group.p95.insert(measure.name, values.quantile(0.95));
            if measure.is_summed {
                group.sums.insert(measure.name, values.sum());
            }
        }
        group.saving_of_bill = saving(group.sum("input_usd"), group.sum("baseline_input_usd"));
        group.saving_of_paid = saving(group.sum("cost_usd"), group.sum("baseline_usd"));
        let compared = || rows.iter().filter_map(|row| Some((row.simulated_over_recorded?, row.recorded_usd?)));
        let recorded: f64 = compared().map(|(_, usd)| usd).sum();
        let simulated: f64 = compared().map(|(quotient, usd)| quotient * usd).sum();
        group.simulated_over_recorded = (recorded > 0.0).then(|| simulated / recorded);
        group.dearest_saving = rows.iter().filter_map(|row| row.saving).min_by(f64::total_cmp);
        group
    }

    /// The sum of a field.
    pub fn sum(&self, name: &str) -> f64 {
        self.sums.get(name).copied().unwrap_or(0.0)
    }

    /// The median of a field.
    pub fn median_of(&self, name: &str) -> Option<f64> {
        self.median.get(name).copied().flatten()
    }

    /// The value of a field that a tenth of the conversations are below.
    pub fn p10_of(&self, name: &str) -> Option<f64> {
        self.p10.get(name).copied().flatten()
    }
}

impl Hindsight {
    /// The best plans for the conversations of these rows.
    pub fn of(rows: &[RunRow]) -> Self {
        let mut best: BTreeMap<&str, (f64, &RunRow)> = BTreeMap::new();
        for row in rows {
            let cheapest = best.entry(&row.file).or_insert((f64::INFINITY, row));
            cheapest.0 = cheapest.0.min(row.optimum_input_usd);
        }
        let is_long = |row: &RunRow| length_name(row.requests) == LONG;
        let has_long = best.values().filter(|(_, row)| is_long(row)).count() >= ENOUGH;
        let typical = best.values().filter(|(_, row)| !has_long || is_long(row));
        let savings = Distribution::of(typical.map(|(cost, row)| saving(*cost, row.baseline_input_usd)));
        let input_usd = best.values().map(|(cost, _)| cost).sum();
        let baseline_usd = best.values().map(|(_, row)| row.baseline_input_usd).sum();
        Self {
            conversations: best.len(),
            median_saving: savings.quantile(0.5),
            saving_of_bill: saving(input_usd, baseline_usd),
            input_usd,
        }
    }
}

fn saving(cost: f64, baseline: f64) -> Option<f64> {
    (baseline > 0.0).then(|| 1.0 - cost / baseline)
}
