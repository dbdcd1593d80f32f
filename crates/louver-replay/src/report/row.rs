//! One conversation under one policy, in numbers.

use crate::retention::Tally;
use louver::Format;
use serde::Serialize;
use std::collections::BTreeMap;

/// One conversation under one policy. Shares are fractions; a share without data is null.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// The file.
    pub file: String,
    /// The wire format.
    pub format: Format,
    /// The model whose prices hold.
    pub model: String,
    /// The policy.
    pub policy: String,
    /// Requests replayed.
    pub requests: u64,
    /// What all of them cost, the recorded answers included.
    pub cost_usd: f64,
    /// The same for sending everything with caching.
    pub baseline_usd: f64,
    /// At how many requests sending everything would have overflowed the window.
    pub baseline_overflows: u64,
    /// 1 - input cost / input cost of sending everything.
    pub saving: Option<f64>,
    /// Input cost over that of the best plan in hindsight with the same floor.
    pub regret: Option<f64>,
    /// Requests over the window.
    pub overflows: u64,
    /// Requests with a violation that the record does not have.
    pub illegal: u64,
    /// Requests with a violation that the record has too.
    pub inherited: u64,
    /// The share of turns without a cut at which the request before is a byte prefix.
    pub prefix_stability: f64,
    /// The share of input tokens that were read from the cache.
    pub hit_rate: Option<f64>,
    /// Input tokens over those of sending everything.
    pub tokens_kept: Option<f64>,
    /// What the answers refer to and the request mentions.
    pub recall_window: Option<f64>,
    /// What the answers refer to and the request still has the line of.
    pub recall_line: Option<f64>,
    /// The same as `recall_window`, or among the five best hits of a search over what was left out.
    pub recall_retrievable: Option<f64>,
    /// Mention recall of the arguments of file edits.
    pub edit_recall: Option<f64>,
    /// Mention recall of what the user wrote.
    pub user_recall: Option<f64>,
    /// Turns at which something of the request before was edited or evicted.
    pub cuts: u64,
    /// Stubbed bytes that what is kept still says, over all stubbed bytes.
    pub redundancy: Option<f64>,
    /// The input's share of `cost_usd`.
    pub input_usd: f64,
    /// The input's share of `baseline_usd`.
    pub baseline_input_usd: f64,
    /// The input cost of the best plan in hindsight with this policy's floor.
    pub optimum_input_usd: f64,
    /// The smallest request right after a cut; the window where there was none.
    pub floor_tokens: u64,
    /// Tokens by what they were billed as.
    pub tokens: ByKind<u64>,
    /// Dollars by what they were paid for.
    pub usd: ByKind<f64>,
    /// Mention recall by age in turns.
    pub recall_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Line recall by age in turns.
    pub line_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Mention recall by who said it last.
    pub recall_by_origin: BTreeMap<&'static str, Option<f64>>,
    /// The counter.
    pub counter: String,
    /// The window.
    pub context_window: u64,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Microseconds of the window itself per request, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros_per_request: Option<f64>,
    /// What charts and totals need besides.
    #[serde(skip)]
    pub detail: Detail,
}

/// Input and output by how they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ByKind<T> {
    /// Input that is not cached.
    pub uncached: T,
    /// Input written to the cache.
    pub written: T,
    /// Input read from the cache.
    pub read: T,
    /// Output.
    pub output: T,
}

impl<T> ByKind<T> {
    pub(crate) fn map<U>(self, of: fn(T) -> U) -> ByKind<U> {
        ByKind { uncached: of(self.uncached), written: of(self.written), read: of(self.read), output: of(self.output) }
    }
}

/// What charts and totals need of a run.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    /// The size of each request.
    pub series: Vec<Point>,
    /// Recall as weights.
    pub tally: Tally,
}

/// The size of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Its tokens.
    pub tokens: u64,
    /// How many of them the cache had.
    pub read: u64,
    /// Whether it is a cut.
    pub is_cut: bool,
}

/// A number of a row that is summed up over conversations.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its field.
    pub name: &'static str,
    /// Whether a sum over conversations says something.
    pub is_summed: bool,
    /// Reads it.
    pub of: fn(&RunRow) -> Option<f64>,
}

/// A number of which a sum says nothing.
const fn each(name: &'static str, of: fn(&RunRow) -> Option<f64>) -> Measure {
    Measure { name, is_summed: false, of }
}

const fn summed(name: &'static str, of: fn(&RunRow) -> Option<f64>) -> Measure {
    Measure { name, is_summed: true, of }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
impl Measure {
    /// Every number that is summed up.
    pub const ALL: &[Self] = &[
        summed("requests", |row| Some(row.requests as f64)),
        summed("cost_usd", |row| Some(row.cost_usd)),
        summed("baseline_usd", |row| Some(row.baseline_usd)),
        summed("baseline_overflows", |row| Some(row.baseline_overflows as f64)),
        each("saving", |row| row.saving),
        each("regret", |row| row.regret),
        summed("overflows", |row| Some(row.overflows as f64)),
        summed("illegal", |row| Some(row.illegal as f64)),
        summed("inherited", |row| Some(row.inherited as f64)),
        each("prefix_stability", |row| Some(row.prefix_stability)),
        each("hit_rate", |row| row.hit_rate),
        each("tokens_kept", |row| row.tokens_kept),
        each("recall_window", |row| row.recall_window),
        each("recall_line", |row| row.recall_line),
        each("recall_retrievable", |row| row.recall_retrievable),
        each("edit_recall", |row| row.edit_recall),
        each("user_recall", |row| row.user_recall),
        summed("cuts", |row| Some(row.cuts as f64)),
        each("redundancy", |row| row.redundancy),
        summed("input_usd", |row| Some(row.input_usd)),
        summed("baseline_input_usd", |row| Some(row.baseline_input_usd)),
        summed("optimum_input_usd", |row| Some(row.optimum_input_usd)),
        each("micros_per_request", |row| row.micros_per_request),
    ];
}
