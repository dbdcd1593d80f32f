//! What one request held, and what it lacked.

use crate::contender::Contender;
use crate::conversation::Conversation;
use crate::error::ReplayError;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::retention::Outcome;
use crate::run::{Run, Step};
use crate::snapshot::Snapshot;
use louver::address::Address;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How many missing references are listed per policy.
const LISTED: usize = 20;

/// What became of a message of the log, and at which request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fate {
    turn: usize,
    is_evicted: bool,
}

/// Says what request `turn` held under each policy, what was evicted when, and which references of the recorded answer
/// were missing. Requests are counted from 1, on through the conversations of a file that was compacted on the way.
///
/// # Errors
///
/// Options that nothing can be replayed with, or a request that is not there.
pub fn explain(conversations: &[Conversation], options: &Options, turn: usize) -> Result<String, ReplayError> {
    let (conversation, turn) = request(conversations, turn)?;
    explain_request(conversation, options, turn)
}

/// The conversation that a request of a file is in, and its number there, from 1.
///
/// # Errors
///
/// There is no such request.
pub fn request(conversations: &[Conversation], turn: usize) -> Result<(&Conversation, usize), ReplayError> {
    let mut before = 0;
    for conversation in conversations {
        let requests = conversation.turns().len();
        if (before + 1..=before + requests).contains(&turn) {
            return Ok((conversation, turn - before));
        }
        before += requests;
    }
    let file = conversations.first().map(|conversation| conversation.file.clone()).unwrap_or_default();
    Err(ReplayError::NoSuchRequest { file, turn, requests: before })
}

fn explain_request(conversation: &Conversation, options: &Options, turn: usize) -> Result<String, ReplayError> {
    let mut prepared = Prepared::new(conversation, options)?;
    let requests = prepared.turns.len();
    let wanted = prepared.turns[turn - 1];
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: request {turn} of {requests}, behind {} messages; the recorded answer is {}",
        conversation.file,
        wanted.at,
        messages(wanted.at..wanted.answer_end),
    );
    let _ = writeln!(text, "it refers to {} earlier identifiers\n", prepared.references[turn - 1].len());
    for contender in &options.contenders {
        explain_one(&mut text, &mut prepared, contender, turn - 1)?;
    }
    Ok(text)
}

fn explain_one(
    text: &mut String,
    prepared: &mut Prepared<'_>,
    contender: &Contender,
    turn: usize,
) -> Result<(), ReplayError> {
    let mut run = Run::new(prepared, contender)?;
    let mut fates: BTreeMap<usize, Fate> = BTreeMap::new();
    for number in 0..=turn {
        let Some(step) = run.step(prepared) else {
            break;
        };
        note_fates(&mut fates, &run.watch.last, prepared, number);
        if number == turn {
            describe(text, &contender.name, prepared, (number, &step), &run.watch.last);
            list_fates(text, &fates);
            list_missing(text, prepared, &step.outcomes, turn);
        }
    }
    text.push('\n');
    Ok(())
}

/// Notes what happened to messages since the request before.
fn note_fates(fates: &mut BTreeMap<usize, Fate>, view: &Snapshot, prepared: &Prepared<'_>, turn: usize) {
    let held: BTreeMap<usize, u32> =
        view.items.iter().filter_map(|item| Some((item.log_index?, item.content))).collect();
    for index in 0..prepared.turns[turn].at {
        match held.get(&index) {
            Some(content) if *content == prepared.log[index] => {}
            Some(_) => drop(fates.entry(index).or_insert(Fate { turn: turn + 1, is_evicted: false })),
            None if fates.get(&index).is_some_and(|fate| fate.is_evicted) => {}
            None => drop(fates.insert(index, Fate { turn: turn + 1, is_evicted: true })),
        }
    }
}

fn describe(text: &mut String, policy: &str, prepared: &Prepared<'_>, (turn, step): (usize, &Step), view: &Snapshot) {
    let held: Vec<usize> = view.items.iter().filter_map(|item| item.log_index).collect();
    let ours = view.items.len() - held.len();
    let _ = writeln!(
        text,
        "{policy}: {} tokens, {} of them read from the cache{}",
        step.tokens,
        step.settled.read,
        if step.change.is_cut { "; a cut" } else { "" }
    );
    let own = if ours > 0 { format!(", and {ours} of its own") } else { String::new() };
    let _ = writeln!(text, "  held {}{own}", messages(held));
    if prepared.overflows(turn, step.tokens) {
        let _ = writeln!(text, "  over the window of {} tokens", prepared.assumptions.budget.context_window());
    }
    if let Some(refusal) = &step.refusal {
        let _ = writeln!(text, "  {refusal}");
    }
    if step.verdict.is_illegal {
        text.push_str("  illegal where the record is not\n");
    }
}

fn list_fates(text: &mut String, fates: &BTreeMap<usize, Fate>) {
    let mut by_fate: BTreeMap<Fate, Vec<usize>> = BTreeMap::new();
    for (index, fate) in fates {
        by_fate.entry(*fate).or_default().push(*index);
    }
    for (Fate { turn, is_evicted }, indices) in by_fate {
        let word = if is_evicted { "evicted" } else { "edited" };
        let _ = writeln!(text, "  {word} at request {turn}: {}", messages(indices));
    }
}

fn list_missing(text: &mut String, prepared: &Prepared<'_>, outcomes: &[Outcome], turn: usize) {
    let references = &prepared.references[turn];
    let missing: Vec<_> =
        references.iter().zip(outcomes).filter(|(_, outcome)| !outcome.is_mentioned || !outcome.has_line).collect();
    if missing.is_empty() {
        text.push_str("  nothing that the answer refers to is missing\n");
        return;
    }
    let names = prepared.contents.numbering.names();
    let _ = writeln!(text, "  missing {} of {} references:", missing.len(), references.len());
    for (reference, outcome) in missing.iter().take(LISTED) {
        let what = match (outcome.is_mentioned, outcome.is_retrieved) {
            (true, _) => "named, but the line is gone",
            (false, true) => "gone, but a search finds it",
            (false, false) => "gone",
        };
        let name = names.get(reference.identifier as usize).copied().unwrap_or_default();
        let _ = writeln!(
            text,
            "    {name}: {what}; last in message {} ({}, {} turns before)",
            reference.message,
            reference.origin.name(),
            reference.age.name(),
        );
    }
    if missing.len() > LISTED {
        let _ = writeln!(text, "    and {} more", missing.len() - LISTED);
    }
}

/// `message 3`, `messages 1-31, 40`.
fn messages(indices: impl IntoIterator<Item = usize>) -> String {
    match Address::of_ranges(indices.into_iter().map(|index| index..index + 1)) {
        None => "no message".to_owned(),
        Some(address) if address.count() == 1 => format!("message {address}"),
        Some(address) => format!("messages {address}"),
    }
}
