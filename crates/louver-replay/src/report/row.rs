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
    /// What it is compared with: `everything` where that fits, else `full-cut`: nobody could have sent more.
    pub baseline: &'static str,
    /// What the baseline costs, with caching, the recorded answers included.
    pub baseline_usd: f64,
    /// At how many requests sending everything would have overflowed the window.
    pub baseline_overflows: u64,
    /// 1 - input cost / input cost of the baseline.
    pub saving: Option<f64>,
    /// The same with the answers, which cost the same under every policy.
    pub saving_of_paid: Option<f64>,
    /// The same when every answer that needs a line that its request lacks costs a recall.
    pub saving_after_recall: Option<f64>,
    /// The same when a line has to stand there with its neighbours.
    pub saving_after_recall_passage: Option<f64>,
    /// As `saving_after_recall`, where the search always finds what is missing, so that no message is read again.
    pub saving_after_found_recall: Option<f64>,
    /// The same by passages.
    pub saving_after_found_recall_passage: Option<f64>,
    /// As `saving_after_found_recall`, of input alone: output is left out of both sides, but for what asking takes.
    pub input_saving_after_found_recall: Option<f64>,
    /// The same by passages.
    pub input_saving_after_found_recall_passage: Option<f64>,
    /// As `saving_after_recall`, but whole messages are read again.
    pub saving_after_reread: Option<f64>,
    /// Recalls that missing lines make necessary, per request.
    pub recalls_per_request: Option<f64>,
    /// What sending everything would cost, accepted or not.
    pub everything_usd: f64,
    /// The input's share of `everything_usd`.
    pub everything_input_usd: f64,
    /// What was really paid, by the recorded usage at the catalogue's prices; null where nothing is recorded.
    /// A request without usage is not in it.
    pub recorded_usd: Option<f64>,
    /// What replay makes of the same requests under `everything`, over what was paid; null also where prices or pauses
    /// are assumed.
    pub simulated_over_recorded: Option<f64>,
    /// Input cost over that of the best times to cut in hindsight, each cut leaving what the policy's own cut at that time
    /// left.
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
    /// The same, the line standing in its whole message.
    pub recall_line_intact: Option<f64>,
    /// Line recall of what is older than five turns.
    pub recall_line_old: Option<f64>,
    /// The line with two on each side stands together.
    pub recall_passage: Option<f64>,
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
    /// The input cost of the best times to cut in hindsight.
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
    /// Passage recall by age in turns.
    pub passage_by_age: BTreeMap<&'static str, Option<f64>>,
    /// Mention recall by who said it last.
    pub recall_by_origin: BTreeMap<&'static str, Option<f64>>,
    /// What it was measured by.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
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

impl RunRow {
    /// What was really paid, where each request has a recorded bill.
    pub fn recorded_whole_usd(&self) -> Option<f64> {
        self.recorded_usd.filter(|_| self.detail.is_all_billed)
    }
}

/// What a conversation was measured by.
#[derive(Clone, Debug, Serialize)]
pub struct Conditions {
    /// The counter.
    pub counter: String,
    /// What its figures are multiplied by, from the recorded usage; null where nothing is recorded.
    pub counter_factor: Option<f64>,
    /// What system and tools cost in every request: as recorded, as counted, or as assumed.
    pub overhead_tokens: u64,
    /// How long what is written to the cache lives.
    pub cache_life_seconds: Vec<u64>,
    /// The window.
    pub context_window: u64,
}

/// Where a conversation comes from, as far as its record says.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    /// The session that it is of, if that has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder that was worked in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The newest time of the record, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_time: Option<i64>,
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

impl<T: Copy + std::ops::Add<Output = T>> ByKind<T> {
    /// All input.
    pub fn input(self) -> T {
        self.uncached + self.written + self.read
    }
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
    /// Whether each of its requests has a recorded bill.
    pub is_all_billed: bool,
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
        each("saving_of_paid", |row| row.saving_of_paid),
        each("saving_after_recall", |row| row.saving_after_recall),
        each("saving_after_recall_passage", |row| row.saving_after_recall_passage),
        each("saving_after_found_recall", |row| row.saving_after_found_recall),
        each("saving_after_found_recall_passage", |row| row.saving_after_found_recall_passage),
        each("input_saving_after_found_recall", |row| row.input_saving_after_found_recall),
        each("input_saving_after_found_recall_passage", |row| row.input_saving_after_found_recall_passage),
        each("saving_after_reread", |row| row.saving_after_reread),
        each("recalls_per_request", |row| row.recalls_per_request),
        summed("everything_usd", |row| Some(row.everything_usd)),
        summed("everything_input_usd", |row| Some(row.everything_input_usd)),
        summed("recorded_usd", |row| row.recorded_usd),
        each("simulated_over_recorded", |row| row.simulated_over_recorded),
        each("regret", |row| row.regret),
        summed("overflows", |row| Some(row.overflows as f64)),
        summed("illegal", |row| Some(row.illegal as f64)),
        summed("inherited", |row| Some(row.inherited as f64)),
        each("prefix_stability", |row| Some(row.prefix_stability)),
        each("hit_rate", |row| row.hit_rate),
        each("tokens_kept", |row| row.tokens_kept),
        each("recall_window", |row| row.recall_window),
        each("recall_line", |row| row.recall_line),
        each("recall_line_intact", |row| row.recall_line_intact),
        each("recall_line_old", |row| row.recall_line_old),
        each("recall_passage", |row| row.recall_passage),
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
