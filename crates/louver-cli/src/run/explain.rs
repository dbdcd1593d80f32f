//! `trim --explain`: a decision in plain words.

use super::money::reasons;
use crate::printer::{grouped, percent, plural};
use crate::window::{Limit, Window};
use louver::Body;
use louver::plan::{Bound, Trigger};
use louver::policy::{MessagesConfig, PolicyKind, Row, effective_threshold};
use louver::report::{Action, Report};
use louver::tokens::Counter;
use louver::trim::Trimmed;
use louver::unit::units_of;

/// One paragraph: what it is, which limits hold, why something was cut or not, what was left out.
pub(super) fn explain(body: &Body, window: &Window, trimmed: &Trimmed) -> String {
    let report = &trimmed.report;
    let mut sentences = vec![history(body, window, report)];
    sentences.extend(limits(window));
    match &trimmed.account {
        Some(account) => sentences.extend(reasons(account, report.trigger, window.model.as_deref())),
        None if report.action == Action::None && body.is_server_side() => {
            sentences.push("Part of the history is kept by the provider, so nothing may be left out.".to_owned());
        }
        None => sentences.push(reason(&window.config.policy, report)),
    }
    sentences.extend(left_out(report));
    sentences.join(" ")
}

fn history(body: &Body, window: &Window, report: &Report) -> String {
    let messages = body.messages();
    let units = units_of(body.format(), messages.iter().map(|message| &**message)).count();
    format!(
        "This {} history has {} in {} (what must stay together), {} tokens with system and tools, counted {}.",
        body.format(),
        plural(messages.len(), "message"),
        plural(units, "unit"),
        grouped(report.tokens.before),
        counted(&*window.config.counter)
    )
}

/// The counter and how far to trust it.
pub(super) fn counted(counter: &dyn Counter) -> String {
    match counter.stated_error() > 0.0 {
        true => format!("with {}, which may be off by {} %", counter.name(), percent(counter.stated_error(), 0)),
        false => format!("exactly with {}", counter.name()),
    }
}

/// What the policy may not exceed.
fn limits(window: &Window) -> Vec<String> {
    let kind = &window.config.policy;
    let policy = kind.name();
    let mut limits = Vec::new();
    if has_no_limit(kind) {
        let summary = Row::find(policy).map_or("", |row| row.summary);
        limits.push(format!("The policy `{policy}` has no limit: {summary}."));
    }
    if let Some(messages) = kind.messages() {
        let MessagesConfig { max_messages, preserve_first_n, preserve_last_n, .. } = *messages;
        limits.push(match max_messages {
            0 => format!("The policy `{policy}` has no message cap (0 switches it off)."),
            _ => format!(
                "The policy `{policy}` allows {} and always keeps the first {preserve_first_n} and the last \
                 {preserve_last_n}, whole units only.",
                plural(max_messages, "message")
            ),
        });
    }
    if let (Bound::Tokens, Some(Limit { budget: Ok(budget), window_from, reserve_from, .. })) =
        (kind.bound(), window.limit)
    {
        limits.push(format!(
            "The policy `{policy}` allows {} tokens: a context window of {} (from {window_from}) less 10 % and {} for the \
             reply (from {reserve_from}).",
            grouped(budget.allowed_tokens()),
            grouped(budget.context_window()),
            grouped(budget.reserve()),
        ));
    }
    limits
}

/// Whether it neither counts messages nor promises anything about tokens.
fn has_no_limit(policy: &PolicyKind) -> bool {
    policy.messages().is_none() && policy.bound() == Bound::None
}

fn reason(policy: &PolicyKind, report: &Report) -> String {
    let tokens = grouped(report.prev_context_tokens);
    match (report.action, report.trigger) {
        (Action::None, _) if has_no_limit(policy) => "It found nothing to change.".to_owned(),
        (Action::None, _) => "That is within the limits, so nothing was changed.".to_owned(),
        (_, Some(Trigger::MessageCap)) => format!(
            "{} are more than {}, so the oldest between the first and the last had to go.",
            plural(report.metrics.total_messages, "message"),
            grouped(policy.messages().map_or(0, |messages| messages.max_messages as u64))
        ),
        (_, Some(Trigger::CondenseThreshold)) => {
            let threshold = policy.tokens().map_or(0, |tokens| effective_threshold(tokens).0);
            format!("{tokens} tokens reach the condensing threshold of {threshold} % of the window.")
        }
        (_, Some(Trigger::OldResults)) => "Old tool results were replaced by a placeholder.".to_owned(),
        _ => format!("{tokens} tokens are more than that, so the oldest messages that are not pinned had to go."),
    }
}

fn left_out(report: &Report) -> Vec<String> {
    let mut sentences = Vec::new();
    if report.action == Action::None {
        return sentences;
    }
    if !report.evicted.is_empty() {
        sentences.push(format!("Left out: {}.", runs(&report.evicted)));
    }
    if !report.edited.is_empty() {
        sentences.push(format!("Shortened inside (tool output or thinking): {}.", runs(&report.edited)));
    }
    sentences.push(format!(
        "What is sent has {} and {} tokens.",
        plural(report.kept.len(), "message"),
        grouped(report.tokens.after)
    ));
    sentences
}

/// Indices as `message 3`, `messages 1 to 31 and 40`.
fn runs(indices: &[usize]) -> String {
    const SHOWN: usize = 6;
    let spoken = |run: &[usize]| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    };
    let mut words: Vec<String> = indices.chunk_by(|a, b| a + 1 == *b).map(spoken).collect();
    if words.len() > SHOWN {
        let hidden = words.split_off(SHOWN).len();
        words.push(plural(hidden, "more run"));
    }
    let noun = if indices.len() == 1 { "message" } else { "messages" };
    match words.split_last() {
        Some((last, [])) => format!("{noun} {last}"),
        Some((last, rest)) => format!("{noun} {} and {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::runs;

    #[test]
    fn indices_are_told_in_runs() {
        assert_eq!(runs(&[3]), "message 3");
        assert_eq!(runs(&[1, 2, 3, 7]), "messages 1 to 3 and 7");
        assert!(runs(&[1, 3, 5, 7, 9, 11, 13]).ends_with("11 and 1 more run"));
        assert_eq!(runs(&[1, 2, 4, 7, 8]), "messages 1 to 2, 4 and 7 to 8");
    }
}
