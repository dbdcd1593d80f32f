//! The numbers themselves, in tables that sort.

use super::{chart_section, color, grouped};
use crate::report::{Group, Report, RunRow};
use louver::display;
use maud::{Markup, html};

/// How many conversations are listed at most, the longest first.
const ROWS: usize = 300;

/// One column: title, what it means, its value, how it is written.
struct Column<T> {
    title: &'static str,
    meaning: &'static str,
    value: fn(&T) -> Option<f64>,
    write: fn(f64) -> String,
}

const fn column<T>(
    title: &'static str,
    meaning: &'static str,
    value: fn(&T) -> Option<f64>,
    write: fn(f64) -> String,
) -> Column<T> {
    Column { title, meaning, value, write }
}

const TOTALS: &[Column<Group>] = &[
    column("cost", "all conversations, output included", |g| Some(g.sum("cost_usd")), dollars),
    column("saving", "median per conversation", |g| g.median_of("saving"), percent),
    column("of the bill", "1 - sum of input costs / sum of baselines", |g| g.saving_of_bill, percent),
    column("dearest", "the conversation that came out worst", |g| g.dearest_saving, percent),
    column("regret", "median, against the best plan in hindsight", |g| g.median_of("regret"), times),
    column("hit rate", "median share of input read from the cache", |g| g.median_of("hit_rate"), percent),
    column("kept", "median share of tokens sent", |g| g.median_of("tokens_kept"), percent),
    column("mention", "median", |g| g.median_of("recall_window"), percent),
    column("p10", "a tenth of the conversations is below", |g| g.p10_of("recall_window"), percent),
    column("line", "median", |g| g.median_of("recall_line"), percent),
    column("p10", "a tenth of the conversations is below", |g| g.p10_of("recall_line"), percent),
    column("search", "mention, or among five hits of a search", |g| g.p10_of("recall_retrievable"), percent),
    column("cuts", "all conversations", |g| Some(g.sum("cuts")), grouped),
    column("over", "requests over the window", |g| Some(g.sum("overflows")), grouped),
    column("illegal", "requests that break a rule the record does not", |g| Some(g.sum("illegal")), grouped),
];

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const RUNS: &[Column<RunRow>] = &[
    column("requests", "requests replayed", |row| Some(row.requests as f64), grouped),
    column("cost", "output included", |row| Some(row.cost_usd), dollars),
    column("saving", "of the input", |row| row.saving, percent),
    column("regret", "against the best plan in hindsight", |row| row.regret, times),
    column("kept", "share of tokens sent", |row| row.tokens_kept, percent),
    column("mention", "mention recall", |row| row.recall_window, percent),
    column("line", "line recall", |row| row.recall_line, percent),
    column("search", "mention, or among five hits", |row| row.recall_retrievable, percent),
    column("cuts", "turns with a cut", |row| Some(row.cuts as f64), grouped),
    column("over", "requests over the window", |row| Some(row.overflows as f64), grouped),
];

pub(super) fn section(report: &Report) -> Markup {
    let tables = html! {
        div.scroll {
            table.sortable id="totals" {
                (head(&["policy"], TOTALS))
                tbody { @for (number, totals) in report.totals.iter().enumerate() {
                    tr {
                        td data-value=(totals.policy) { span class=(format!("key {}", color(number))) { i {} (totals.policy) } }
                        (cells(TOTALS, &totals.all))
                    }
                } }
            }
        }
        (runs(report))
    };
    chart_section("numbers", "The numbers", "A click on a heading sorts.", &tables)
}

fn runs(report: &Report) -> Markup {
    let mut rows: Vec<&RunRow> = report.runs.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.requests));
    let listed = rows.len().min(ROWS);
    html! {
        details {
            summary {
                "By conversation"
                @if listed < rows.len() { " (the " (listed) " rows of the longest; all " (rows.len()) " are in the JSON)" }
            }
            div.scroll {
                table.sortable id="runs" {
                    (head(&["conversation", "policy"], RUNS))
                    tbody { @for row in rows.into_iter().take(ROWS) {
                        tr {
                            td.file data-value=(row.file) title=(row.file) { (row.file) }
                            td data-value=(row.policy) { (row.policy) }
                            (cells(RUNS, row))
                        }
                    } }
                }
            }
        }
    }
}

fn head<T>(names: &[&str], columns: &[Column<T>]) -> Markup {
    html! {
        thead { tr {
            @for name in names { th scope="col" { button type="button" { (name) } } }
            @for column in columns {
                th.number scope="col" title=(column.meaning) { button type="button" { (column.title) } }
            }
        } }
    }
}

fn cells<T>(columns: &[Column<T>], row: &T) -> Markup {
    html! {
        @for column in columns {
            @let value = (column.value)(row);
            td.number data-value=(value.map_or_else(String::new, |value| value.to_string())) {
                (value.map_or_else(|| "–".to_owned(), column.write))
            }
        }
    }
}

fn percent(value: f64) -> String {
    format!("{}%", display::percent(value, 1))
}

fn dollars(value: f64) -> String {
    display::dollars(value, if value >= 1.0 { 2 } else { 4 })
}

fn times(value: f64) -> String {
    format!("{value:.2}")
}
