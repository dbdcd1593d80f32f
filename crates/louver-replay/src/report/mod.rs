//! What replay reports: rows, totals, a table for the terminal, a page for the browser.

mod assumed;
mod distribution;
mod html;
mod money;
mod place;
mod row;
mod sessions;
mod table;
mod totals;

pub(crate) use assumed::assumed;
pub use distribution::Distribution;
pub use html::page;
pub use row::{ByKind, Conditions, Detail, Measure, Origin, Point, RunRow};
pub use sessions::{Session, sessions};
pub use table::{session_table, table};
pub use totals::{Group, Hindsight, Pooled, Totals, totals};

use serde::Serialize;

/// What must be said beside the numbers.
pub const HONEST_NOTE: &str = "Replay is off-policy: the recorded answers are given whatever a request held, and a real agent would have read \
     evicted files again. Recall is necessary, not sufficient; nothing here is task success.";

/// A whole replay.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// How to read it.
    pub note: &'static str,
    /// The command that made it, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What was assumed and what was recorded: overhead, prices, counter, window, cache life.
    pub assumed: String,
    /// A row per conversation and policy.
    pub runs: Vec<RunRow>,
    /// A row per policy.
    pub totals: Vec<Totals>,
    /// The best plans in hindsight, as a reference line.
    pub hindsight: Hindsight,
    /// The sessions, dearest first.
    pub sessions: Vec<Session>,
    /// Conversations that are counted in others from start to end.
    pub copies: usize,
    /// What could not be read or measured.
    pub skipped: Vec<Skipped>,
}

/// What was really paid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bill {
    /// Conversations with a recorded bill.
    pub conversations: usize,
    /// How many of these have a bill for each of their requests.
    pub whole: usize,
    /// The sum of their bills.
    pub recorded_usd: f64,
    /// What replay makes of the same requests under `everything`, over what was paid.
    pub quotient: Option<f64>,
}

impl Bill {
    /// How far replay may be off before it has to be said.
    const TOLERANCE: f64 = 0.1;

    /// Whether a simulated bill is further from the recorded one than it should be.
    pub fn is_off(quotient: f64) -> bool {
        (quotient - 1.0).abs() > Self::TOLERANCE
    }
}

/// A file that is not in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

impl Report {
    /// Totals over rows.
    pub fn of(runs: Vec<RunRow>, skipped: Vec<Skipped>) -> Self {
        let totals = totals(&runs);
        let hindsight = Hindsight::of(&runs);
        let sessions = sessions(&runs);
        let assumed = String::new();
        Self { note: HONEST_NOTE, command: None, assumed, runs, totals, hindsight, sessions, copies: 0, skipped }
    }

    /// What was really paid, over all conversations that have a recorded bill.
    pub fn bill(&self) -> Option<Bill> {
        let Totals { policy, all, .. } = self.totals.first()?;
        let rows = || self.runs.iter().filter(|row| row.policy == *policy);
        let conversations = rows().filter(|row| row.recorded_usd.is_some()).count();
        let whole = rows().filter(|row| row.recorded_whole_usd().is_some()).count();
        let (recorded_usd, quotient) = (all.sum("recorded_usd"), all.simulated_over_recorded);
        (conversations > 0).then_some(Bill { conversations, whole, recorded_usd, quotient })
    }

    /// The report as JSON: the same bytes for the same input.
    ///
    /// # Errors
    ///
    /// Never in practice: every value is a plain one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        Ok(json)
    }
}

/// A count, thousands apart.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn grouped(value: f64) -> String {
    louver::display::grouped(value.round() as u64)
}
