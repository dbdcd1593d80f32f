//! `louver recall`: what was left out?

use super::{Deliverable, Exit, Shell};
use crate::args::Recall;
use crate::output::json_list;
use crate::printer::safe;
use crate::recall::{Columns, Excerpt, Row, excerpts, hits, messages, rows};
use crate::settings::Wanted;
use crate::window::{Window, WindowChoice};
use louver::address::Address;
use louver::search::{SearchIndex, Sight};
use louver::trim::{TrimError, trimmed_window};
use louver::{Body, Message};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// The width where nobody sits at a terminal, and what a hit is indented by.
const COLUMNS: usize = 100;
const INDENT: usize = 4;

/// What is said where words are not found.
pub(super) const NO_SUCH_WORDS: &str = "none of these words stands in what was left out";

pub(super) fn run(
    job: &Recall,
    wanted: &Wanted<'_>,
    choice: WindowChoice<'_>,
    shell: &mut Shell<'_>,
) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    shell.warn_if_ambiguous(&body);
    match wanted {
        Wanted::Address(address) => fetch(job, address, &body, shell),
        // Addresses are what the ladder writes; where it cannot decide, all is searched, and no other policy is asked.
        Wanted::Query(query) => search(job, query, &choice.taken_as_known().resolve(&body)?, &body, shell),
    }
}

/// The messages of an address, as they came.
fn fetch(job: &Recall, address: &Address, body: &Body, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    if let Err(missing) = address.check(body.messages().len()) {
        let hint = format!("{missing} (in quotes, '\"{address}\"' is searched for)");
        return nothing(job, &hint, shell);
    }
    let found: Vec<&Message> =
        address.indices().filter_map(|index| body.messages().get(index)).map(|message| &**message).collect();
    show_messages(job, rows(body, address.indices()), &found, shell)
}

/// Messages as they came.
pub(super) fn show_messages<'m>(
    job: &Recall,
    mut rows: Vec<Row<'m>>,
    found: &[&'m Message],
    shell: &mut Shell<'_>,
) -> anyhow::Result<Exit> {
    if job.json {
        let raws: Vec<&RawValue> =
            found.iter().map(|message| serde_json::from_str(message.raw())).collect::<Result<_, _>>()?;
        rows.iter_mut().zip(raws).for_each(|(row, raw)| row.message = Some(raw));
        return deliver(job, Deliverable::Json(&json_list(&rows)?), shell);
    }
    deliver(job, Deliverable::Text(&messages(&rows, found.iter().copied())), shell)
}

/// The best passages of what was left out.
fn search(job: &Recall, query: &str, window: &Window, body: &Body, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let (left_out, sight) = left_out(window, body, shell)?;
    if left_out.is_empty() {
        let policy = window.config.policy.name();
        return nothing(
            job,
            &format!("the policy `{policy}` leaves nothing out, so there is nothing to search"),
            shell,
        );
    }
    let index: SearchIndex = body.messages().iter().map(|message| &**message).collect();
    let among = index.among(|message| left_out.contains(&message));
    let message = |index: usize| body.messages().get(index).map(|message| &**message);
    let found = excerpts(among.search_beyond(&sight, query, job.limit, message));
    if found.is_empty() {
        return nothing(job, NO_SUCH_WORDS, shell);
    }
    show_hits(job, rows(body, found.iter().map(|excerpt| excerpt.message)), &found, shell)
}

/// What was found, each with the message that it stands in.
pub(super) fn show_hits<'e>(
    job: &Recall,
    mut rows: Vec<Row<'e>>,
    found: &'e [Excerpt],
    shell: &mut Shell<'_>,
) -> anyhow::Result<Exit> {
    if job.json {
        rows.iter_mut().zip(found).for_each(|(row, excerpt)| row.text = Some(&excerpt.text));
        return deliver(job, Deliverable::Json(&json_list(&rows)?), shell);
    }
    let is_seen = shell.stdout_is_terminal && job.output.file().is_none();
    let columns = shell.columns.filter(|_| is_seen).unwrap_or(COLUMNS).saturating_sub(INDENT);
    deliver(job, Deliverable::Text(&hits(&rows, found, Columns(columns))), shell)
}

/// What the policy leaves out, and what is seen in what it sends; where it cannot decide, everything and nothing.
fn left_out(window: &Window, body: &Body, shell: &mut Shell<'_>) -> anyhow::Result<(HashSet<usize>, Sight)> {
    let all = || ((0..body.messages().len()).collect(), Sight::default());
    window.warning.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
    shell.warn_of_idle_settings(window);
    if window.config.policy.needs_budget() && window.limit.is_none() {
        shell.printer.note(
            "No context window is known (--model or --context-window says it), so the whole history is searched.",
        );
        return Ok(all());
    }
    let decided = match trimmed_window(body, window.trim_options()?) {
        Err(TrimError::Overflow(overflow)) => {
            shell.printer.note(&format!("The whole history is searched: {}", safe(&overflow.to_string())));
            return Ok(all());
        }
        decided => decided?,
    };
    let left_out = decided.left_out().map(|(index, _)| index).collect();
    Ok((left_out, decided.view().iter().map(|sent| sent.message).collect()))
}

fn deliver(job: &Recall, result: Deliverable<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    shell.deliver(result, &job.output)?;
    Ok(Exit::Done)
}

/// Programs get an empty list, people a sentence.
fn nothing(job: &Recall, reason: &str, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    nothing_in(&job.input.to_string(), job, reason, shell)
}

pub(super) fn nothing_in(place: &str, job: &Recall, reason: &str, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    if job.json {
        deliver(job, Deliverable::Json(&json_list::<Row<'_>>(&[])?), shell)?;
    }
    shell.printer.note(&format!("{}: {}", safe(place), safe(reason)));
    Ok(Exit::Finding)
}
