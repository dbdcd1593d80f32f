//! What replay reports: rows, totals, a table for the terminal, a page for the browser.

mod distribution;
mod html;
mod row;
mod table;
mod totals;

pub use distribution::Distribution;
pub use html::page;
pub use row::{ByKind, Detail, Measure, Point, RunRow};
pub use table::table;
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
    /// A row per conversation and policy.
    pub runs: Vec<RunRow>,
    /// A row per policy.
    pub totals: Vec<Totals>,
    /// The best plans in hindsight, as a reference line.
    pub hindsight: Hindsight,
    /// What could not be read or measured.
    pub skipped: Vec<Skipped>,
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
        Self { note: HONEST_NOTE, runs, totals, hindsight, skipped }
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
