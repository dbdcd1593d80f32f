//! One decision over a whole input: the command line's, as functions.

use crate::{Fault, Resolved, Sent, Settings};
use louver::address::Address;
use louver::inspect::{Figures, Piece, pieces};
use louver::legality::{self, RepairError, Repaired};
use louver::report::{Action, Report};
use louver::search::{Excerpt, SearchIndex, Sight};
use louver::trim::{TrimError, trimmed_window};
use louver::wire::{Fix, Violation};
use louver::{Body, Format, Role};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A conversation with another history.
#[derive(Debug)]
pub struct Output {
    /// As text, in the form of the input.
    pub json: String,
    /// Its messages.
    pub sent: Vec<Sent>,
}

/// Reads the name of a wire format.
///
/// # Errors
///
/// Where there is none of that name.
pub fn format_named(name: Option<&str>) -> Result<Option<Format>, Fault> {
    name.map(|name| name.parse().map_err(Fault::settings)).transpose()
}

/// Leaves messages out until the conversation fits. Gives nothing where nothing has to be done.
///
/// # Errors
///
/// Where the settings come to nothing, or it cannot be made to fit.
pub fn trim(body: &Body, settings: &Settings) -> Result<(Option<Output>, Report), Fault> {
    let trimmed = louver::trim::trim(body, settings.resolve(body)?.trim_options())?;
    let sent = || trimmed.window.view().iter().map(|sent| Sent::of(sent.origin, sent.message)).collect();
    let output = match trimmed.report.action {
        Action::None => None,
        _ => Some(Output { sent: sent(), json: trimmed.json }),
    };
    Ok((output, trimmed.report))
}

/// A rule that the provider would refuse a conversation for, in its own words.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    path: String,
    rule: String,
    index: usize,
    message: String,
}

/// Every rule that the provider would refuse this conversation for.
pub fn check(body: &Body) -> Vec<Finding> {
    findings(body, &legality::check(body))
}

fn findings(body: &Body, violations: &[Violation]) -> Vec<Finding> {
    let finding = |violation: &Violation| Finding {
        path: violation.path(body.history_path()),
        rule: violation.rule.to_owned(),
        index: violation.index,
        message: violation.message.to_string(),
    };
    violations.iter().map(finding).collect()
}

/// One change that made a history legal.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    index: usize,
    change: &'static str,
    reason: String,
}

/// A history that was mended as far as it goes.
#[derive(Debug)]
pub struct Mended {
    /// The history; nothing where nothing had to be done.
    pub output: Option<Output>,
    /// Each change.
    pub changes: Vec<Change>,
    /// What is still refused, and the sentence that says so.
    pub left: Option<(String, Vec<Finding>)>,
}

/// The smallest legal history.
///
/// # Errors
///
/// Where the engine cannot mend at all; what it can mend in part is given with what is left.
pub fn repair(body: &Body) -> Result<Mended, Fault> {
    match legality::repair(body) {
        Ok(repaired) => Ok(mended(body, &repaired, None)),
        Err(error) => {
            let message = error.to_string();
            let RepairError::Unmended { repaired, left } = error else { return Err(Fault::settings(error)) };
            let reached = Body::parse(&repaired.json, Some(body.format())).map_err(|error| Fault::from(&error))?;
            Ok(mended(body, &repaired, Some((message, findings(&reached, &left)))))
        }
    }
}

fn mended(body: &Body, repaired: &Repaired, left: Option<(String, Vec<Finding>)>) -> Mended {
    let own = |index: usize, raw: &str| body.messages().get(index).is_some_and(|message| message.raw() == raw);
    let sent = |(origin, raw): (Option<usize>, &str)| match origin {
        Some(index) if own(index, raw) => Sent::Same(index),
        like => Sent::New { raw: raw.to_owned(), like },
    };
    let output = (!repaired.fixes.is_empty())
        .then(|| Output { json: repaired.json.clone(), sent: repaired.messages(body).map(sent).collect() });
    Mended { output, changes: repaired.fixes.iter().map(change).collect(), left }
}

fn change(fix: &Fix) -> Change {
    let change = match fix {
        Fix::Remove { .. } => "removed",
        Fix::Replace { .. } => "changed",
        Fix::Insert { .. } => "inserted before",
    };
    Change { index: fix.index(), change, reason: fix.reason().to_owned() }
}

/// What fills the window: a row per message, and totals.
///
/// # Errors
///
/// Where the settings come to nothing.
pub fn inspect(body: &Body, settings: &Settings) -> Result<Figures, Fault> {
    Ok(Figures::of(body, settings.resolve(body)?.subject()))
}

/// A message that was had back.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Where it stands in the history.
    pub index: usize,
    role: Role,
    parts: Vec<Piece>,
    /// The passage or the excerpt that was found; nothing where the message was asked for by its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What was left out: by its address, or by words that stand in it.
///
/// # Errors
///
/// Where an address is meant but none is given, or the settings come to nothing.
pub fn recall(body: &Body, wanted: &str, limit: usize, settings: Settings) -> Result<Vec<Row>, Fault> {
    let found = match wanted.parse::<Address>() {
        Ok(address) => {
            let is_there = |index: &usize| *index < body.messages().len();
            address.indices().filter(is_there).map(|index| (index, None)).collect()
        }
        Err(error) if Address::is_meant_by(wanted) => return Err(Fault::settings(error)),
        Err(_) => search(body, &settings.taken_as_known().resolve(body)?, wanted, limit)?,
    };
    Ok(rows(body, found))
}

/// Message and excerpt of the best hits in what was left out; where the policy cannot decide, in everything.
fn search(
    body: &Body,
    resolved: &Resolved,
    query: &str,
    limit: usize,
) -> Result<Vec<(usize, Option<String>)>, TrimError> {
    let all = || ((0..body.messages().len()).collect(), Sight::default());
    let (left_out, sight): (HashSet<usize>, Sight) = match resolved.lacks_window() {
        true => all(),
        false => match trimmed_window(body, resolved.trim_options()) {
            Ok(window) => {
                let sight = window.view().iter().map(|sent| sent.message).collect();
                (window.left_out().map(|(index, _)| index).collect(), sight)
            }
            Err(TrimError::Overflow(_)) => all(),
            Err(error) => return Err(error),
        },
    };
    let index: SearchIndex = body.messages().iter().map(|message| &**message).collect();
    let among = index.among(|message| left_out.contains(&message));
    let message = |index: usize| body.messages().get(index).map(|message| &**message);
    let found = among.search_beyond(&sight, query, limit, message);
    Ok(found.hits.into_iter().map(|Excerpt { message, text }| (message, Some(text))).collect())
}

fn rows(body: &Body, found: Vec<(usize, Option<String>)>) -> Vec<Row> {
    let mut tools = HashMap::new();
    let parts: Vec<_> = body.messages().iter().map(|message| pieces(message, &mut tools)).collect();
    let row = |(index, text)| {
        let (message, parts) = body.messages().get(index).zip(parts.get(index))?;
        Some(Row { index, role: message.shape().role, parts: parts.clone(), text })
    };
    found.into_iter().filter_map(row).collect()
}
