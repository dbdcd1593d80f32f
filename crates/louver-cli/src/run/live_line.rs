//! The line that shows a run while it lasts.

use crate::printer::{dollars, percent_of, plural};
use louver::catalog::Cost;
use louver_agent::LiveState;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// How wide the bar is.
const BAR: usize = 10;

/// Where nobody knows how wide the terminal is.
const DEFAULT_COLUMNS: usize = 80;

/// How far a run is, on one line: a wrapped line could not be written over. What there is no room for is left out from
/// the end.
pub(super) fn live_line(live: &LiveState, elapsed: Duration, columns: Option<usize>) -> String {
    // A terminal moves the cursor on when its last column is filled.
    let room = columns.unwrap_or(DEFAULT_COLUMNS).saturating_sub(1);
    let parts = parts(live, elapsed);
    let lines = (0..=parts.len()).rev().map(|count| parts[..count].join("  "));
    lines.into_iter().find(|line| line.width() <= room).unwrap_or_default()
}

/// What there is to say, the most important first.
fn parts(live: &LiveState, elapsed: Duration) -> Vec<String> {
    let messages = live.conversation_message_count.unwrap_or_default();
    let mut parts = vec![
        format!("iteration {}", live.iteration),
        plural(live.tool_calls, "call"),
        match live.max_messages {
            Some(cap) => format!("{messages}/{cap} messages"),
            None => plural(messages, "message"),
        },
        match live.context_window {
            Some(window) => format!("{}/{} tokens", short(live.prompt_tokens), short(window)),
            None => format!("{} tokens", short(live.prompt_tokens)),
        },
        format!("{} left out", live.evicted_messages),
    ];
    // Nothing paid means that nobody has answered yet or that nobody knows the price.
    if live.cost > Cost::ZERO {
        parts.push(dollars(live.cost.usd(), 4));
    }
    if live.summaries > 0 {
        let ending = if live.summaries == 1 { "y" } else { "ies" };
        parts.push(format!("{} summar{ending}", live.summaries));
    }
    parts.extend([bar(live), format!("{} s", elapsed.as_secs())]);
    parts
}

/// How full the window is, by the bound that is closer.
fn bar(live: &LiveState) -> String {
    let messages = live.conversation_message_count.unwrap_or_default() as u64;
    let by_messages = live.max_messages.map(|cap| percent_of(messages, cap as u64));
    let by_tokens = live.context_window.map(|window| percent_of(live.prompt_tokens, window));
    let percent = by_messages.max(by_tokens).unwrap_or_default();
    let filled = usize::try_from(percent).map_or(BAR, |percent| (BAR * percent).div_ceil(100).min(BAR));
    format!("[{}{}] {percent} %", "\u{2588}".repeat(filled), "\u{2591}".repeat(BAR - filled))
}

/// A number of tokens as people say it: `950`, `4.9k`, `200k`, `1.0M`.
fn short(tokens: u64) -> String {
    let tenths = |unit: u64| (tokens * 10).div_euclid(unit);
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..100_000 => format!("{}.{}k", tenths(1_000) / 10, tenths(1_000) % 10),
        100_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tenths(1_000_000) / 10, tenths(1_000_000) % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::{live_line, short};
    use louver_agent::{LiveState, Usage};
    use std::time::Duration;
    use unicode_width::UnicodeWidthStr;

    fn live() -> LiveState {
        let model = louver::catalog::Catalog::builtin().find("claude-sonnet-4-5").unwrap().model;
        LiveState {
            iteration: 2,
            tool_calls: 42,
            conversation_message_count: Some(24),
            max_messages: Some(30),
            prompt_tokens: 4_863,
            context_window: Some(200_000),
            evicted_messages: 36,
            summaries: 1,
            cost: Usage { input_tokens: 100_000, cache_read_tokens: 10_000, ..Usage::default() }.cost(&model),
        }
    }

    fn line(columns: usize) -> String {
        live_line(&live(), Duration::from_millis(7_900), Some(columns))
    }

    #[test]
    fn everything_stands_on_a_wide_line_and_the_figures_on_a_usual_one() {
        let figures = "iteration 2  42 calls  24/30 messages  4.8k/200k tokens  36 left out  $0.3030";
        assert_eq!(line(120), format!("{figures}  1 summary  [████████░░] 80 %  7 s"));
        assert_eq!(line(80), figures);
        assert_eq!(line(20), "iteration 2");
    }

    #[test]
    fn the_line_never_reaches_the_last_column() {
        for columns in 0..130 {
            assert!(line(columns).width() < columns.max(1), "{columns}: {}", line(columns));
        }
    }

    #[test]
    fn what_is_not_bounded_or_not_known_has_no_share() {
        let unbounded = LiveState { max_messages: None, context_window: None, cost: Default::default(), ..live() };
        let said = live_line(&unbounded, Duration::ZERO, Some(200));
        assert_eq!(
            said,
            "iteration 2  42 calls  24 messages  4.8k tokens  36 left out  1 summary  [░░░░░░░░░░] 0 %  0 s"
        );
    }

    #[test]
    fn tokens_are_said_shortly() {
        let said = [0, 999, 1_000, 99_999, 100_000, 999_999, 1_048_576].map(short);
        assert_eq!(said, ["0", "999", "1.0k", "99.9k", "100k", "999k", "1.0M"]);
    }
}
