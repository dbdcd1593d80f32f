//! The tables for the terminal.

use super::money::Dollars;
use super::place::{day, last_part};
use super::totals::Totals;
use super::{HONEST_NOTE, Report, Session, grouped};
use louver::display;
use std::fmt::Write;

/// How wide a table may be.
const WIDTH: usize = 80;
/// How wide a policy's name is, with a space behind it.
const NAME: usize = 15;

/// How a column's numbers are written, and which of them wins.
#[derive(Clone, Copy)]
enum Kind {
    /// Dollars, all with the same decimals.
    Dollars,
    /// Per cent; the most has a star.
    Winning,
    /// Per cent.
    Percent,
    /// A number per request.
    Rate,
}

/// One column: what it is called and where its number comes from.
struct Column {
    /// What stands above the titles of this column and those behind it.
    over: &'static str,
    title: &'static str,
    width: usize,
    kind: Kind,
    value: fn(&Totals) -> Option<f64>,
}

#[rustfmt::skip]
const COLUMNS: &[Column] = &[
    Column { over: "", title: "cost", width: 8, kind: Kind::Dollars, value: |t| Some(t.all.sum("cost_usd")) },
    Column { over: "saving", title: "median", width: 8, kind: Kind::Winning, value: |t| t.typical().median_of("saving") },
    Column { over: "", title: "input", width: 6, kind: Kind::Percent, value: |t| t.all.saving_of_bill },
    Column { over: "", title: "paid", width: 7, kind: Kind::Winning, value: |t| t.all.saving_of_paid },
    Column { over: "after recall", title: "lines", width: 7, kind: Kind::Winning, value: |t| t.typical().median_of("saving_after_recall") },
    Column { over: "", title: "passage", width: 8, kind: Kind::Winning, value: |t| t.typical().median_of("saving_after_recall_passage") },
    Column { over: "", title: "each", width: 5, kind: Kind::Rate, value: |t| t.typical().median_of("recalls_per_request") },
    Column { over: "lines", title: "all", width: 5, kind: Kind::Percent, value: |t| t.typical().median_of("recall_line") },
    Column { over: "", title: "whole", width: 6, kind: Kind::Percent, value: |t| t.typical().median_of("recall_line_intact") },
    Column { over: "", title: "old", width: 5, kind: Kind::Percent, value: |t| t.typical().median_of("recall_line_old") },
];

const LEGEND: &str = "Cost with output, all together. Saving against the practical baseline: everything as long as it fits, \
    then cut in half (output left out but under `paid`); the median, and of all input and all that is paid together. \
    After recall: the same of what is paid if an answer that refers to a line (or to a passage of five lines) that its request \
    lacks takes one more request that brings it back; each: such requests per request. Lines that answers refer to and \
    requests still hold: all, whole (in their whole message, `recall_line_intact`), old (older than five turns). * best of its column.";

/// The totals as a table of at most 80 columns, with what they mean and under which conditions. The winner of each column
/// has a star; ties all have one, but nobody where all tie.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    wrapped(&mut text, &heading(report));
    text.push('\n');
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| has_values(column, report)).collect();
    titles(&mut text, &columns);
    for totals in &report.totals {
        line(&mut text, totals, &columns, &report.totals);
    }
    reference(&mut text, report, &columns);
    text.push('\n');
    for paragraph in
        [beyond(report), recorded(report), medians(report), LEGEND.to_owned(), marks(report), HONEST_NOTE.to_owned()]
    {
        wrapped(&mut text, &paragraph);
    }
    wrapped(&mut text, &conditions(report));
    text
}

/// The dearest sessions as a table of at most 80 columns, each with what it would have cost.
#[must_use]
pub fn session_table(report: &Report, top: usize) -> String {
    let mut text = String::new();
    let Some(policy) = report.sessions.first().map(|session| session.policy.as_str()).filter(|_| top > 0) else {
        return text;
    };
    let listed = || report.sessions.iter().take(top);
    let is_recorded = listed().any(|session| session.recorded_usd.is_some());
    let is_usual = |session: &Session| is_recorded && session.recorded_usd.is_none();
    let paid = if is_recorded { "paid" } else { "usual" };
    let under = display::truncate(policy, 14);
    let _ = writeln!(text, "{:<38}{:>9}{paid:>10}{under:>15}{:>8}", "dearest sessions", "requests", "saves");
    let money = Dollars::of(listed().map(Session::paid_usd));
    for session in listed() {
        let (paid, saving) = (session.paid_usd(), session.saving_of_paid);
        let none = || "-".to_owned();
        let _ = writeln!(
            text,
            "{:<38}{:>9}{:>10}{:>15}{:>8}",
            label(session),
            display::grouped(session.requests),
            format!("{}{}", if is_usual(session) { "~" } else { "" }, money.show(paid)),
            saving.map_or_else(none, |saving| money.show(paid * (1.0 - saving))),
            saving.map_or_else(none, percent),
        );
    }
    if listed().any(is_usual) {
        text.push_str("~ as usually sent: not all of its requests have a recorded bill\n");
    }
    if let Some(more) = report.sessions.len().checked_sub(top).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {more} more (--top {} lists them)", report.sessions.len());
    }
    text.push('\n');
    text
}

/// Where a session was, when, and the start of its name, in 37 columns.
fn label(session: &Session) -> String {
    let day = day(session.last_time).map(|day| format!("{day} ")).unwrap_or_default();
    let place = session.project.as_deref().map(last_part).unwrap_or_default();
    let name = last_part(&session.name).to_owned();
    let name = if place.is_empty() { name } else { format!("{place} {name}") };
    let name: String = name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    format!("{day}{}", display::truncate(&name, 37 - day.len()))
}

fn heading(report: &Report) -> String {
    let group = report.totals.first().map(|totals| &totals.all);
    let conversations = group.map_or(0, |group| group.conversations);
    let requests = group.map_or(0.0, |group| group.sum("requests"));
    let baseline = group.map_or(0.0, |group| group.sum("baseline_usd"));
    let plural = |is_one: bool| if is_one { "" } else { "s" };
    let (many, often) = (plural(conversations == 1), plural(requests == 1.0));
    let (conversations, requests) = (display::grouped(conversations as u64), grouped(requests));
    format!("{conversations} conversation{many}, {requests} request{often}, {} as usually sent.", dollars(baseline))
}

/// What was really paid, and what replay makes of it.
fn recorded(report: &Report) -> String {
    let Some(bill) = report.bill() else {
        return String::new();
    };
    let quotient =
        bill.quotient.map(|quotient| format!("; replay makes {quotient:.2} times as much of the same requests"));
    let (paid, conversations) = (dollars(bill.recorded_usd), bill.conversations);
    let plural = if conversations == 1 { "" } else { "s" };
    format!("Recorded: {paid} paid for {conversations} conversation{plural}{}.", quotient.unwrap_or_default())
}

/// The same savings as the ladder's marks are measured by, and how well the cuts were timed. What no policy has a number
/// for is left out.
fn marks(report: &Report) -> String {
    let named = |name: &str, show: fn(f64) -> String| -> Option<String> {
        let found = report.totals.iter().filter_map(|totals| Some((&totals.policy, totals.typical().median_of(name)?)));
        let found: Vec<String> = found.map(|(policy, value)| format!("{policy} {}", show(value))).collect();
        (!found.is_empty()).then(|| found.join(", "))
    };
    let lines = named("input_saving_after_found_recall", percent).map(|found| format!("by lines {found}"));
    let passages =
        named("input_saving_after_found_recall_passage", percent).map(|found| format!("by passages {found}"));
    let found: Vec<String> = lines.into_iter().chain(passages).collect();
    let mut said = Vec::new();
    if !found.is_empty() {
        let found = found.join("; ");
        said.push(format!("Of input alone, as if every search found what it looks for: {found}."));
    }
    if let Some(regret) = named("regret", |times| format!("{times:.2}")) {
        said.push(format!("Regret, the input over that of the best times for the same cuts: {regret}."));
    }
    said.join(" ")
}

/// What medians are of.
fn medians(report: &Report) -> String {
    report.totals.first().map(|totals| format!("Medians are of {}.", totals.typical_name())).unwrap_or_default()
}

/// Requests that could not have been made as they are.
fn beyond(report: &Report) -> String {
    let list = |name: &str| {
        let found = report.totals.iter().map(|totals| (&totals.policy, totals.all.sum(name)));
        let found: Vec<String> =
            found.filter(|(_, sum)| *sum > 0.0).map(|(policy, sum)| format!("{policy} {}", grouped(sum))).collect();
        if found.is_empty() { "none".to_owned() } else { found.join(", ") }
    };
    format!("Requests over the window: {}. Illegal: {}.", list("overflows"), list("illegal"))
}

/// Under which conditions the figures hold.
fn conditions(report: &Report) -> String {
    let copies = match report.copies {
        0 => String::new(),
        copies => format!("; {copies} copies left out"),
    };
    format!("Assumed: {}{copies}.", report.assumed)
}

fn has_values(column: &Column, report: &Report) -> bool {
    report.totals.iter().any(|totals| (column.value)(totals).is_some())
}

fn titles(text: &mut String, columns: &[&Column]) {
    let mut over = " ".repeat(NAME);
    let mut width = NAME;
    for column in columns {
        if !column.over.is_empty() {
            // Above the first of its columns, from where that column's own title starts.
            let start = width + column.width - column.title.len() - column.gap();
            let _ = write!(over, "{:<gap$}{}", "", column.over, gap = start.saturating_sub(over.chars().count()));
        }
        width += column.width;
    }
    text.push_str(over.trim_end());
    text.push('\n');
    let _ = write!(text, "{:<NAME$}", "policy");
    for column in columns {
        let title = format!("{}{:gap$}", column.title, "", gap = column.gap());
        let _ = write!(text, "{title:>width$}", width = column.width);
    }
    finish_line(text);
}

fn line(text: &mut String, totals: &Totals, columns: &[&Column], all: &[Totals]) {
    let _ = write!(text, "{:<NAME$}", display::truncate(&totals.policy, NAME - 1));
    for column in columns {
        let value = (column.value)(totals);
        let cell = match column.kind {
            Kind::Winning => format!("{}{}", column.show(value, all), column.star(value, all)),
            _ => column.show(value, all),
        };
        let _ = write!(text, "{cell:>width$}", width = column.width);
    }
    finish_line(text);
}

/// The best plan in hindsight, for comparison.
fn reference(text: &mut String, report: &Report, columns: &[&Column]) {
    let _ = write!(text, "{:<NAME$}", "(optimum)");
    for column in columns.iter().take(3) {
        let cell = match column.title {
            "median" => format!("{} ", column.show(report.hindsight.median_saving, &[])),
            "input" => column.show(report.hindsight.saving_of_bill, &[]),
            _ => String::new(),
        };
        let _ = write!(text, "{cell:>width$}", width = column.width);
    }
    finish_line(text);
}

fn finish_line(text: &mut String) {
    let end = text.trim_end_matches(' ').len();
    text.truncate(end);
    text.push('\n');
}

impl Column {
    fn show(&self, value: Option<f64>, all: &[Totals]) -> String {
        let Some(value) = value else {
            return "-".to_owned();
        };
        match self.kind {
            Kind::Dollars => Dollars::of(all.iter().filter_map(self.value)).show(value),
            Kind::Winning | Kind::Percent => percent(value),
            Kind::Rate => format!("{value:.2}"),
        }
    }

    /// The room for a star.
    fn gap(&self) -> usize {
        usize::from(matches!(self.kind, Kind::Winning))
    }

    /// Ties all have one, but nobody where all tie: that would say nothing.
    fn star(&self, value: Option<f64>, all: &[Totals]) -> &'static str {
        let best = all.iter().filter_map(self.value).max_by(f64::total_cmp);
        let is_best = |value| self.show(value, all) == self.show(best, all);
        let is_tie = all.iter().all(|totals| is_best((self.value)(totals)));
        if best.is_some() && !is_tie && is_best(value) { "*" } else { " " }
    }
}

fn percent(value: f64) -> String {
    format!("{}%", display::percent(value, 0))
}

fn dollars(usd: f64) -> String {
    Dollars::of([usd]).show(usd)
}

fn wrapped(text: &mut String, paragraph: &str) {
    if paragraph.is_empty() {
        return;
    }
    let mut width = 0;
    for word in paragraph.split_whitespace() {
        if width > 0 && width + 1 + word.chars().count() > WIDTH {
            text.push('\n');
            width = 0;
        }
        if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.chars().count();
    }
    text.push('\n');
}
