//! The numbers themselves, in tables that sort.

use super::{chart_section, key, shown};
use crate::report::money::Dollars;
use crate::report::{Report, RunRow, Session, Totals, grouped};
use louver::display;
use maud::{Markup, html};

/// How many conversations are listed at most, the longest first.
const ROWS: usize = 300;

/// How the numbers of a column are written.
#[derive(Clone, Copy)]
enum Unit {
    /// Dollars, all with the same decimals.
    Dollars,
    /// Per cent with one decimal.
    Percent,
    /// A quotient with two decimals.
    Times,
    /// A whole number.
    Count,
}

/// One column: title, what it means, its value, how it is written.
struct Column<T> {
    title: &'static str,
    meaning: &'static str,
    value: fn(&T) -> Option<f64>,
    unit: Unit,
}

const fn column<T>(title: &'static str, meaning: &'static str, value: fn(&T) -> Option<f64>, unit: Unit) -> Column<T> {
    Column { title, meaning, value, unit }
}

const TOTALS: &[Column<Totals>] = &[
    column("cost", "all conversations, output included", |t| Some(t.all.sum("cost_usd")), Unit::Dollars),
    column("saving", "of the input, median per conversation", |t| t.typical().median_of("saving"), Unit::Percent),
    column("of input", "1 - sum of input costs / sum of baselines", |t| t.all.saving_of_bill, Unit::Percent),
    column("of paid", "the same with output", |t| t.all.saving_of_paid, Unit::Percent),
    column(
        "after recall",
        "of paid, by lines, median",
        |t| t.typical().median_of("saving_after_recall"),
        Unit::Percent,
    ),
    column(
        "by passages",
        "the same by passages",
        |t| t.typical().median_of("saving_after_recall_passage"),
        Unit::Percent,
    ),
    column(
        "re-read",
        "the same, whole messages come back",
        |t| t.typical().median_of("saving_after_reread"),
        Unit::Percent,
    ),
    column("recalls", "per request, median", |t| t.typical().median_of("recalls_per_request"), Unit::Times),
    column("worst", "the conversation that came out worst", |t| t.all.dearest_saving, Unit::Percent),
    column(
        "regret",
        "median, against the best times to cut in hindsight",
        |t| t.typical().median_of("regret"),
        Unit::Times,
    ),
    column(
        "hit rate",
        "median share of input read from the cache",
        |t| t.typical().median_of("hit_rate"),
        Unit::Percent,
    ),
    column("kept", "median share of tokens sent", |t| t.typical().median_of("tokens_kept"), Unit::Percent),
    column(
        "mention",
        "what answers refer to and requests still name, median",
        |t| t.typical().median_of("recall_window"),
        Unit::Percent,
    ),
    column(
        "line",
        "the same, its line stands in the request, median",
        |t| t.typical().median_of("recall_line"),
        Unit::Percent,
    ),
    column("line p10", "a tenth of the conversations is below", |t| t.typical().p10_of("recall_line"), Unit::Percent),
    column(
        "intact",
        "lines in their whole message, median",
        |t| t.typical().median_of("recall_line_intact"),
        Unit::Percent,
    ),
    column("old", "lines older than five turns, median", |t| t.typical().median_of("recall_line_old"), Unit::Percent),
    column(
        "passage",
        "the same, with two lines on each side, median",
        |t| t.typical().median_of("recall_passage"),
        Unit::Percent,
    ),
    column("search", "mention, or among five hits, p10", |t| t.typical().p10_of("recall_retrievable"), Unit::Percent),
    column("cuts", "requests at which something left, all conversations", |t| Some(t.all.sum("cuts")), Unit::Count),
    column("over", "requests over the window", |t| Some(t.all.sum("overflows")), Unit::Count),
    column("illegal", "requests that break a rule the record does not", |t| Some(t.all.sum("illegal")), Unit::Count),
];

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const RUNS: &[Column<RunRow>] = &[
    column("requests", "requests replayed", |row| Some(row.requests as f64), Unit::Count),
    column("paid", "as recorded", |row| row.recorded_usd, Unit::Dollars),
    column("usual", "the practical baseline", |row| Some(row.baseline_usd), Unit::Dollars),
    column("cost", "output included", |row| Some(row.cost_usd), Unit::Dollars),
    column("saving", "of the input", |row| row.saving, Unit::Percent),
    column("of paid", "output included", |row| row.saving_of_paid, Unit::Percent),
    column("regret", "against the best times to cut in hindsight", |row| row.regret, Unit::Times),
    column("kept", "share of tokens sent", |row| row.tokens_kept, Unit::Percent),
    column("mention", "mention recall", |row| row.recall_window, Unit::Percent),
    column("line", "line recall", |row| row.recall_line, Unit::Percent),
    column("search", "mention, or among five hits", |row| row.recall_retrievable, Unit::Percent),
    column("cuts", "turns with a cut", |row| Some(row.cuts as f64), Unit::Count),
    column("over", "requests over the window", |row| Some(row.overflows as f64), Unit::Count),
];

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const SESSIONS: &[Column<Session>] = &[
    column("requests", "requests replayed", |one| Some(one.requests as f64), Unit::Count),
    column("paid", "as recorded", |one| one.recorded_usd, Unit::Dollars),
    column("usual", "the practical baseline", |one| Some(one.baseline_usd), Unit::Dollars),
    column("would be", "under the policy named above", |one| Some(one.cost_usd), Unit::Dollars),
    column("saving", "of what is paid", |one| one.saving_of_paid, Unit::Percent),
];

pub(super) fn section(report: &Report) -> Markup {
    let policies: Vec<&Totals> = report.totals.iter().collect();
    let columns = used(TOTALS, &policies);
    let tables = html! {
        div.scroll {
            table.sortable id="totals" {
                (head(&["policy"], &columns))
                tbody { @for (number, totals) in report.totals.iter().enumerate() {
                    tr {
                        td data-value=(totals.policy) { (key(number, &totals.policy)) }
                        (cells(&columns, &policies, totals))
                    }
                } }
            }
        }
        details.meanings { summary { "What the columns mean" } (meanings(&columns)) }
        (sessions(report))
        (runs(report))
    };
    let of = report.totals.first().map(Totals::typical_name).unwrap_or_default();
    let reading = format!("Medians and tenths (p10) are of {of}. A click on a heading sorts. Wide tables scroll.");
    chart_section("numbers", "The numbers", &reading, &tables)
}

fn sessions(report: &Report) -> Markup {
    let listed: Vec<&Session> = report.sessions.iter().take(ROWS).collect();
    let policy = shown(report).map(|number| report.totals[number].policy.as_str()).unwrap_or_default();
    let columns = used(SESSIONS, &listed);
    html! {
        details {
            summary { (report.sessions.len()) " sessions under " (policy) ", dearest first" }
            (meanings(&columns))
            div.scroll {
                table.sortable id="sessions" {
                    (head(&["session"], &columns))
                    tbody { @for session in &listed {
                        tr {
                            td.file data-value=(session.file) title=(session.file) { bdi { (session.file) } }
                            (cells(&columns, &listed, session))
                        }
                    } }
                }
            }
        }
    }
}

fn runs(report: &Report) -> Markup {
    let mut rows: Vec<&RunRow> = report.runs.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.requests));
    let in_all = rows.len();
    rows.truncate(ROWS);
    let columns = used(RUNS, &rows);
    html! {
        details {
            summary {
                "By conversation and policy"
                @if rows.len() < in_all { " (the " (rows.len()) " rows of the longest; all " (display::grouped(in_all as u64)) " are in the JSON)" }
            }
            (meanings(&columns))
            div.scroll {
                table.sortable id="runs" {
                    (head(&["conversation", "policy"], &columns))
                    tbody { @for row in &rows {
                        tr {
                            td.file data-value=(row.file) title=(row.file) { bdi { (row.file) } }
                            td data-value=(row.policy) { (row.policy) }
                            (cells(&columns, &rows, row))
                        }
                    } }
                }
            }
        }
    }
}

/// The columns that any row has a number for.
fn used<T>(columns: &'static [Column<T>], rows: &[&T]) -> Vec<&'static Column<T>> {
    columns.iter().filter(|column| rows.iter().any(|row| (column.value)(row).is_some())).collect()
}

/// What stands behind each heading, for those who cannot hover over it.
fn meanings<T>(columns: &[&Column<T>]) -> Markup {
    html! {
        p.columns { @for (at, column) in columns.iter().enumerate() {
            @if at > 0 { "; " }
            b { (column.title) } ": " (column.meaning)
        } "." }
    }
}

fn head<T>(names: &[&str], columns: &[&Column<T>]) -> Markup {
    html! {
        thead { tr {
            @for name in names { th scope="col" { button type="button" { (name) } } }
            @for column in columns {
                th.number scope="col" title=(column.meaning) { button type="button" { (column.title) } }
            }
        } }
    }
}

fn cells<T>(columns: &[&Column<T>], all: &[&T], row: &T) -> Markup {
    html! {
        @for column in columns {
            @let value = (column.value)(row);
            td.number data-value=(value.map_or_else(String::new, |value| value.to_string())) {
                (value.map_or_else(|| "–".to_owned(), |value| column.write(all, value)))
            }
        }
    }
}

impl<T> Column<T> {
    fn write(&self, all: &[&T], value: f64) -> String {
        match self.unit {
            Unit::Dollars => Dollars::of(all.iter().filter_map(|row| (self.value)(row))).show(value),
            Unit::Percent => format!("{} %", display::percent(value, 1)),
            Unit::Times => format!("{value:.2}"),
            Unit::Count => grouped(value),
        }
    }
}
