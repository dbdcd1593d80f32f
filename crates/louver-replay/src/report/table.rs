//! The table for the terminal.

use super::totals::{Group, Totals};
use super::{HONEST_NOTE, Report};
use louver::display;
use std::fmt::Write;

/// How wide the table may be.
const WIDTH: usize = 100;

/// Which value of a column wins.
#[derive(Clone, Copy)]
enum Best {
    Most,
    Least,
    /// Nobody: more is not better.
    None,
}

/// One column: what it is called, where its number comes from and how it is written.
struct Column {
    title: &'static str,
    width: usize,
    best: Best,
    value: fn(&Group) -> Option<f64>,
    write: fn(f64) -> String,
}

const COLUMNS: &[Column] = &[
    Column { title: "saving", width: 8, best: Best::Most, value: |g| g.median_of("saving"), write: percent },
    Column { title: "of bill", width: 8, best: Best::Most, value: |g| g.saving_of_bill, write: percent },
    Column { title: "dearest", width: 8, best: Best::Most, value: |g| g.dearest_saving, write: percent },
    Column { title: "regret", width: 7, best: Best::Least, value: |g| g.median_of("regret"), write: times },
    Column { title: "kept", width: 6, best: Best::None, value: |g| g.median_of("tokens_kept"), write: percent },
    Column { title: "mention", width: 8, best: Best::Most, value: |g| g.median_of("recall_window"), write: percent },
    Column { title: "p10", width: 6, best: Best::Most, value: |g| g.p10_of("recall_window"), write: percent },
    Column { title: "line", width: 6, best: Best::Most, value: |g| g.median_of("recall_line"), write: percent },
    Column { title: "p10", width: 6, best: Best::Most, value: |g| g.p10_of("recall_line"), write: percent },
    Column { title: "search", width: 7, best: Best::Most, value: |g| g.p10_of("recall_retrievable"), write: percent },
    Column { title: "over", width: 6, best: Best::None, value: |g| Some(g.sum("overflows")), write: whole },
    Column { title: "illegal", width: 8, best: Best::None, value: |g| Some(g.sum("illegal")), write: whole },
];

/// The totals as a table of at most 100 columns. The winner of each column has a star; ties all have one.
#[must_use]
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    let name_width = WIDTH - COLUMNS.iter().map(|column| column.width).sum::<usize>();
    heading(&mut text, report, name_width);
    let winners: Vec<Option<f64>> = COLUMNS.iter().map(|column| winner(column, &report.totals)).collect();
    for totals in &report.totals {
        line(&mut text, totals, &winners, name_width);
    }
    reference(&mut text, report, name_width);
    text.push('\n');
    wrapped(&mut text, LEGEND);
    wrapped(&mut text, HONEST_NOTE);
    text
}

const LEGEND: &str = "Saving, regret, kept, mention, line: median per conversation; saving against sending everything with caching, \
    regret against the best plan in hindsight with the same floor; search: p10 of mention with the five best hits of a \
    search over what was left out; over, illegal: requests. * best of its column.";

fn heading(text: &mut String, report: &Report, name_width: usize) {
    let group = report.totals.first().map(|totals| &totals.all);
    let conversations = group.map_or(0, |group| group.conversations);
    let requests = group.map_or(0.0, |group| group.sum("requests"));
    let baseline = group.map_or(0.0, |group| group.sum("baseline_usd"));
    let plural = |is_one: bool| if is_one { "" } else { "s" };
    let (many, often) = (plural(conversations == 1), plural(requests == 1.0));
    let _ = writeln!(
        text,
        "{conversations} conversation{many}, {requests} request{often}, {} when everything is sent\n",
        display::dollars(baseline, 2)
    );
    let _ = write!(text, "{:<name_width$}", "policy");
    for column in COLUMNS {
        let _ = write!(text, "{:>width$}", format!("{} ", column.title), width = column.width);
    }
    finish_line(text);
}

fn line(text: &mut String, totals: &Totals, winners: &[Option<f64>], name_width: usize) {
    let _ = write!(text, "{:<name_width$}", display::truncate(&totals.policy, name_width - 1));
    for (column, winner) in COLUMNS.iter().zip(winners) {
        let value = (column.value)(&totals.all);
        let is_best = value.is_some() && shown(column, value) == shown(column, *winner);
        let cell = format!("{}{}", shown(column, value), if is_best { "*" } else { " " });
        let _ = write!(text, "{cell:>width$}", width = column.width);
    }
    finish_line(text);
}

/// The best plan in hindsight, for comparison.
fn reference(text: &mut String, report: &Report, name_width: usize) {
    let _ = write!(text, "{:<name_width$}", "(optimum)");
    for column in &COLUMNS[..2] {
        let value =
            if column.title == "saving" { report.hindsight.median_saving } else { report.hindsight.saving_of_bill };
        let _ = write!(text, "{:>width$}", format!("{} ", shown(column, value)), width = column.width);
    }
    finish_line(text);
}

fn finish_line(text: &mut String) {
    let end = text.trim_end_matches(' ').len();
    text.truncate(end);
    text.push('\n');
}

fn winner(column: &Column, totals: &[Totals]) -> Option<f64> {
    let values = totals.iter().filter_map(|totals| (column.value)(&totals.all));
    match column.best {
        Best::Most => values.max_by(f64::total_cmp),
        Best::Least => values.min_by(f64::total_cmp),
        Best::None => None,
    }
}

fn shown(column: &Column, value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), column.write)
}

fn percent(value: f64) -> String {
    format!("{}%", display::percent(value, 0))
}

fn times(value: f64) -> String {
    format!("{value:.2}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn wrapped(text: &mut String, paragraph: &str) {
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
