//! The table for people.

use crate::printer::{grouped, percent, plural, safe};
use anstyle::{AnsiColor, Style};
use louver::Role;
use louver::inspect::{Figures, Piece, Row};
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells of a bar.
const BAR: usize = 16;
/// Columns of everything but the description.
const FIXED: usize = 59;
/// The narrowest description that still says something.
const MIN_WHAT: usize = 18;
/// Wider lines are harder to read.
const MAX_COLUMNS: usize = 140;
/// A preview shorter than this is noise.
const MIN_PREVIEW: usize = 8;

const TITLE: Style = Style::new().bold();
const FAINT: Style = AnsiColor::BrightBlack.on_default();
const PIN: Style = AnsiColor::Yellow.on_default().bold();
const OVER: Style = AnsiColor::Red.on_default();

/// How much room there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Columns of the description.
    what: usize,
    /// The most messages to show; 0 shows all.
    limit: usize,
}

impl Layout {
    pub(crate) fn new(columns: usize, limit: usize) -> Self {
        Self { what: columns.min(MAX_COLUMNS).saturating_sub(FIXED).max(MIN_WHAT), limit }
    }
}

/// Draws everything.
pub(crate) fn table(source: &str, figures: &Figures, layout: &Layout) -> String {
    let mut text = title(source, figures);
    let what = layout.what;
    let _ = writeln!(text, "{FAINT}{:>9}  {:<9}  {:<what$}  {:>9}  fill{FAINT:#}", "#", "role", "what", "tokens");
    let mut before = 0;
    for outer in &figures.overhead {
        let bar = bar(figures, before, outer.cumulative_tokens, role_style(Role::System));
        let name = styled(role_style(Role::System), &fit(outer.name, 9));
        let _ = writeln!(text, "{:>9}  {name}  {:what$}  {:>9}  {bar}", "", "", grouped(outer.tokens));
        before = outer.cumulative_tokens;
    }
    rows(&mut text, figures, layout, before);
    text.push('\n');
    totals(&mut text, figures);
    text
}

fn title(source: &str, figures: &Figures) -> String {
    let mut text = String::new();
    let model = figures.model.as_deref().map(|model| format!(", {}", safe(model))).unwrap_or_default();
    let _ = writeln!(
        text,
        "{TITLE}{}{TITLE:#}: {}{model}, {} in {}",
        safe(source),
        figures.format,
        plural(figures.messages.len(), "message"),
        plural(figures.units, "unit")
    );
    let error = figures.counter.stated_error;
    let trust = if error > 0.0 { format!("±{} %", percent(error, 0)) } else { "exact".to_owned() };
    let counter = format!("{} tokens by {}, {trust}", grouped(figures.total_tokens), figures.counter.name);
    let limit = match (figures.context_window, figures.allowed_tokens) {
        (Some(window), Some(allowed)) => {
            format!("context window of {} tokens, {} of them for the conversation", grouped(window), grouped(allowed))
        }
        (Some(window), None) => format!("context window of {} tokens", grouped(window)),
        _ => "no context window known, fill is of the total".to_owned(),
    };
    let _ = writeln!(text, "{counter}\n{limit}\n");
    text
}

/// All rows, or those at both ends with a line for what is between.
fn rows(text: &mut String, figures: &Figures, layout: &Layout, mut before: u64) {
    let count = figures.messages.len();
    let shown = if layout.limit == 0 { count } else { layout.limit.min(count) };
    let (head, tail) = (shown.div_ceil(2), shown / 2);
    for (index, row) in figures.messages.iter().enumerate() {
        if index < head || index >= count - tail {
            let _ = writeln!(text, "{}", message(figures, layout, row, before));
        } else if index == head {
            let hidden = &figures.messages[head..count - tail];
            let _ = writeln!(text, "{}", elided(hidden, before));
        }
        before = row.cumulative_tokens;
    }
}

fn elided(hidden: &[Row], before: u64) -> String {
    let (first, last) = (hidden.first().map_or(0, |row| row.index), hidden.last().map_or(0, |row| row.index));
    let tokens = hidden.last().map_or(0, |row| row.cumulative_tokens) - before;
    let count = plural(hidden.len(), "message");
    let (tokens, first, last) = (grouped(tokens), grouped(first as u64), grouped(last as u64));
    format!("{FAINT}{:>9}  {count} not shown (#{first} to #{last}), {tokens} tokens; --limit 0 shows all{FAINT:#}", "⋮")
}

fn message(figures: &Figures, layout: &Layout, row: &Row, before: u64) -> String {
    let pin = if row.pinned { styled(PIN, "◆") } else { " ".to_owned() };
    let border = match row.ends {
        (true, true) => " ",
        (true, false) => "┌",
        (false, false) => "│",
        (false, true) => "└",
    };
    let style = role_style(row.role);
    format!(
        "{pin}{FAINT}{border}{FAINT:#} {:>6}  {}  {}  {:>9}  {}",
        row.index,
        styled(style, &fit(row.role.name(), 9)),
        what(row, layout.what),
        grouped(row.tokens),
        bar(figures, before, row.cumulative_tokens, style)
    )
}

/// What a message holds, and how it begins where there is room.
fn what(row: &Row, columns: usize) -> String {
    let pieces = if row.parts.is_empty() { "empty".to_owned() } else { safe(&told(&row.parts)) };
    let room = columns.saturating_sub(pieces.width() + 2);
    if room < MIN_PREVIEW || row.preview.is_empty() {
        return fit(&pieces, columns);
    }
    let preview = fit(&safe(&row.preview), room);
    format!("{pieces}  {FAINT}{preview}{FAINT:#}")
}

/// `thinking, text, call read_file ×2, search`: a kind is named once.
pub(crate) fn told(parts: &[Piece]) -> String {
    let mut text = String::new();
    let mut kind = "";
    for piece in parts {
        let comma = if text.is_empty() { "" } else { ", " };
        let repeated = if piece.count > 1 { format!(" ×{}", piece.count) } else { String::new() };
        // Writing to a string cannot fail.
        let _ = match &piece.name {
            Some(name) if piece.kind == kind => write!(text, "{comma}{name}{repeated}"),
            Some(name) => write!(text, "{comma}{} {name}{repeated}", piece.kind),
            None => write!(text, "{comma}{}{repeated}", piece.kind),
        };
        kind = piece.kind;
    }
    text
}

/// How full the window is after a message: what came before faint, its own share in its colour.
fn bar(figures: &Figures, before: u64, after: u64, style: Style) -> String {
    let full = figures.full();
    let eighths = |tokens: u64| {
        let eighths = u128::from(tokens) * (BAR as u128 * 8) / u128::from(full);
        usize::try_from(eighths).unwrap_or(usize::MAX).min(BAR * 8)
    };
    let (start, end) = (eighths(before) / 8, eighths(after));
    let own_cells = (end / 8).saturating_sub(start);
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][end % 8];
    let own = "█".repeat(own_cells) + rest;
    let blank = " ".repeat(BAR.saturating_sub(start + own_cells + usize::from(!rest.is_empty())));
    let style = if after > figures.allowed_tokens.unwrap_or(full) { OVER } else { style };
    let percent = fine_percent(after, full);
    let past = "█".repeat(start);
    format!("{FAINT}{past}{FAINT:#}{style}{own}{style:#}{blank} {percent:>5} %")
}

/// Finer where the figure is small.
fn fine_percent(tokens: u64, full: u64) -> String {
    let tenths = (u128::from(tokens) * 1000 / u128::from(full)).min(99_999);
    if tenths < 100 { format!("{}.{}", tenths / 10, tenths % 10) } else { (tenths / 10).to_string() }
}

fn totals(text: &mut String, figures: &Figures) {
    let total = figures.total_tokens.max(1);
    for (category, tokens) in &figures.totals {
        let share = fine_percent(*tokens, total);
        let cells = usize::try_from(tokens * 40 / total).unwrap_or(0);
        let bar = "█".repeat(cells);
        let style = if *tokens == 0 { FAINT } else { Style::new() };
        let (name, tokens) = (category.replace('_', " "), grouped(*tokens));
        let _ = writeln!(text, "{style}  {name:<16}{tokens:>11}  {share:>5} %{style:#}  {FAINT}{bar}{FAINT:#}");
    }
    let tokens = grouped(figures.total_tokens);
    let _ = writeln!(text, "{TITLE}  {:<16}{tokens:>11}{TITLE:#}", "total");
    let _ = writeln!(
        text,
        "\n{PIN}◆{PIN:#} kept by `{}` ({})   {FAINT}┌ └{FAINT:#} one unit: kept or left out together",
        figures.policy, figures.pinned
    );
}

pub(crate) fn role_style(role: Role) -> Style {
    match role {
        Role::System | Role::Developer => AnsiColor::Magenta.on_default(),
        Role::User => AnsiColor::Cyan.on_default(),
        Role::Assistant => AnsiColor::Green.on_default(),
        Role::Tool => AnsiColor::Blue.on_default(),
    }
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A text in exactly so many columns.
fn fit(text: &str, columns: usize) -> String {
    let width = text.width();
    if width <= columns {
        return format!("{text}{}", " ".repeat(columns - width));
    }
    let mut fitted = String::new();
    let mut used = 0;
    for letter in text.chars() {
        let next = letter.width().unwrap_or(0);
        if used + next + 1 > columns {
            break;
        }
        used += next;
        fitted.push(letter);
    }
    format!("{fitted}…{}", " ".repeat(columns.saturating_sub(used + 1)))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("日本語です", 5), "日本…");
        assert_eq!(fit("日本語です", 6), "日本… ");
    }
}
