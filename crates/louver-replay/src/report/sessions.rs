//! What each session cost, and what it could have cost.

use super::RunRow;
use serde::Serialize;
use std::collections::HashMap;

/// One session: a history with its branches, compactions and sub-agents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Session {
    /// Its own name, or else its file.
    pub name: String,
    /// The file that it was found in first.
    pub file: String,
    /// The folder that was worked in, if the record says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The newest time of its records, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_time: Option<i64>,
    /// Its conversations.
    pub conversations: usize,
    /// Its requests.
    pub requests: u64,
    /// What was really paid, where all of its requests have a recorded bill.
    pub recorded_usd: Option<f64>,
    /// What the baseline costs.
    pub baseline_usd: f64,
    /// The policy that it is compared under.
    pub policy: String,
    /// What it costs under that policy.
    pub cost_usd: f64,
    /// 1 - cost / baseline, output included.
    pub saving_of_paid: Option<f64>,
}

/// The sessions of some rows, dearest first.
#[must_use]
pub fn sessions(rows: &[RunRow]) -> Vec<Session> {
    let Some(policy) = shown_policy(rows) else {
        return Vec::new();
    };
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut sessions: Vec<Session> = Vec::new();
    for row in rows.iter().filter(|row| row.policy == policy) {
        let name = row.origin.session.as_deref().unwrap_or(file_of(row));
        let at = *numbers.entry(name).or_insert(sessions.len());
        match sessions.get_mut(at) {
            Some(session) => session.add(row),
            None => sessions.push(Session::of(name, row)),
        }
    }
    for session in &mut sessions {
        session.saving_of_paid = (session.baseline_usd > 0.0).then(|| 1.0 - session.cost_usd / session.baseline_usd);
    }
    sessions.sort_by(|a, b| b.paid_usd().total_cmp(&a.paid_usd()).then(a.name.cmp(&b.name)));
    sessions
}

/// The ladder if it is among the policies, else the last of them: people put what they are curious about behind what they
/// have.
fn shown_policy(rows: &[RunRow]) -> Option<&str> {
    let names = || rows.iter().map(|row| row.policy.as_str());
    names().find(|name| *name == "ladder").or(names().next_back())
}

/// The file without the part of it that a conversation is.
fn file_of(row: &RunRow) -> &str {
    row.file.split('#').next().unwrap_or(&row.file)
}

impl Session {
    fn of(name: &str, row: &RunRow) -> Self {
        Self {
            name: name.to_owned(),
            file: file_of(row).to_owned(),
            project: row.origin.project.clone(),
            last_time: row.origin.last_time,
            conversations: 1,
            requests: row.requests,
            recorded_usd: row.recorded_whole_usd(),
            baseline_usd: row.baseline_usd,
            policy: row.policy.clone(),
            cost_usd: row.cost_usd,
            saving_of_paid: None,
        }
    }

    fn add(&mut self, row: &RunRow) {
        self.conversations += 1;
        self.requests += row.requests;
        self.recorded_usd = self.recorded_usd.zip(row.recorded_whole_usd()).map(|(sum, more)| sum + more);
        self.baseline_usd += row.baseline_usd;
        self.cost_usd += row.cost_usd;
        self.last_time = self.last_time.max(row.origin.last_time);
    }

    /// What was paid, or else what the baseline says.
    pub fn paid_usd(&self) -> f64 {
        self.recorded_usd.unwrap_or(self.baseline_usd)
    }
}
