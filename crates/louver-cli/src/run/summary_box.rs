//! Figures at the end of a run, in a box.

use crate::printer::{dollars, grouped, plural, safe, truncate};
use louver::catalog::Cost;
use louver_agent::{RunOutcome, RunSummary};

/// The widest line in a box.
const MAX_WIDTH: usize = 96;

/// What a run gave.
pub(super) fn summary_box(summary: &RunSummary) -> String {
    boxed("Execution summary", &rows(summary))
}

fn rows(summary: &RunSummary) -> Vec<(&'static str, String)> {
    let metrics = &summary.conversation_metrics;
    let (estimated, total) = (grouped(metrics.estimated_tokens), plural(metrics.total_messages, "message"));
    let (read, asked) = (summary.usage.cache_read_tokens, summary.usage.prompt_tokens());
    let mut rows = vec![
        ("Outcome", outcome(&summary.outcome)),
        ("Iterations", summary.iterations.to_string()),
        ("Turns", format!("{} ({})", summary.turns, plural(summary.tool_calls, "tool call"))),
        ("Files changed", summary.files_changed.len().to_string()),
        (
            "Conversation",
            format!("{} (~{estimated} tokens, good to about 20 %)", plural(metrics.message_count, "message")),
        ),
        ("Left out", format!("{} of {total}", grouped(metrics.evicted_messages as u64))),
        ("Tokens in", format!("{} ({} from cache)", grouped(asked), grouped(read))),
        ("Tokens out", grouped(summary.usage.output_tokens)),
        ("Cost", cost(summary)),
    ];
    let condensing = &summary.condensing;
    if condensing.asked > 0 {
        let tokens = grouped(condensing.usage.prompt_tokens() + condensing.usage.output_tokens);
        let accepted = format!("{} of {}", condensing.accepted, condensing.asked);
        rows.push(("Summaries", format!("{accepted}, {tokens} tokens, {}", dollars(condensing.cost.usd(), 4))));
    }
    rows.push(("Time", format!("{:.1} s", summary.duration.as_secs_f64())));
    rows
}

fn outcome(outcome: &RunOutcome) -> String {
    match outcome {
        RunOutcome::Completed(_) => "completed".to_owned(),
        RunOutcome::Blocked(reason) => format!("blocked: {reason}"),
        RunOutcome::OutOfIterations => "out of iterations".to_owned(),
        RunOutcome::OutOfBudget => "out of budget".to_owned(),
        RunOutcome::Cancelled => "cancelled".to_owned(),
        // The reason does not fit into a box; it stands below, on a line of its own.
        RunOutcome::Failed(error) => format!("failed ({})", error.category),
    }
}

/// Nothing paid for something means that nobody knows the price.
fn cost(summary: &RunSummary) -> String {
    match summary.cost == Cost::ZERO && summary.usage.prompt_tokens() > 0 {
        true => "unknown: the catalogue has no price for this model".to_owned(),
        false => dollars(summary.cost.usd(), 4),
    }
}

/// Rows of a name and a value under a title.
pub(super) fn boxed(title: &str, rows: &[(&str, String)]) -> String {
    let label = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or_default();
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<label$}  {}", safe(value))).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default().clamp(40, MAX_WIDTH);
    let mut text = format!(
        "\u{256d}\u{2500} {title} {}\u{256e}\n",
        "\u{2500}".repeat(width.saturating_sub(title.chars().count() + 1))
    );
    for line in lines {
        text.push_str(&format!("\u{2502} {:<width$} \u{2502}\n", truncate(&line, width)));
    }
    text.push_str(&format!("\u{2570}{}\u{256f}\n", "\u{2500}".repeat(width + 2)));
    text
}

#[cfg(test)]
mod tests {
    use super::{boxed, rows};
    use louver_agent::{ConversationMetrics, RunOutcome, RunSummary, Usage};

    #[test]
    fn the_rows_are_the_figures_of_the_run() {
        let metrics = ConversationMetrics {
            total_messages: 1_234,
            preserved_messages: 34,
            evicted_messages: 1_200,
            estimated_tokens: 56_789,
            message_count: 35,
        };
        let usage = Usage { input_tokens: 1_000, cache_read_tokens: 9_000, ..Usage::default() };
        let summary = RunSummary { conversation_metrics: metrics, usage, tool_calls: 1, ..RunSummary::default() };
        let rows = rows(&summary);
        let row = |name: &str| rows.iter().find(|(row, _)| *row == name).map(|(_, value)| value.as_str());
        assert_eq!(row("Outcome"), Some("out of iterations"));
        assert_eq!(row("Turns"), Some("0 (1 tool call)"));
        assert_eq!(row("Conversation"), Some("35 messages (~56,789 tokens, good to about 20 %)"));
        assert_eq!(row("Left out"), Some("1,200 of 1,234 messages"));
        assert_eq!(row("Tokens in"), Some("10,000 (9,000 from cache)"));
        assert_eq!(row("Cost"), Some("unknown: the catalogue has no price for this model"));
        assert_eq!(row("Summaries"), None);
    }

    #[test]
    fn a_model_cannot_draw_outside_the_box() {
        let summary = RunSummary { outcome: RunOutcome::Blocked("x\n\u{1b}[2J".repeat(50)), ..RunSummary::default() };
        let text = boxed("Execution summary", &rows(&summary));
        let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == 100), "{text}");
        assert!(!text.contains('\u{1b}'));
    }
}
