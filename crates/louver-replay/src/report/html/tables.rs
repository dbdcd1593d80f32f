//! The numbers themselves, in tables that sort.

use super::{chart_section, color};
use crate::report::{Group, Report, RunRow};
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

const TOTALS: &[Column<Group>] = &[
    Column {
        title: "cost",
        meaning: "all conversations, output included",
        value: |g| Some(g.sum("cost_usd")),
        write: dollars,
    },
    Column { title: "saving", meaning: "median per conversation", value: |g| g.median_of("saving"), write: percent },
    Column {
        title: "of the bill",
        meaning: "1 - sum of input costs / sum of baselines",
        value: |g| g.saving_of_bill,
        write: percent,
    },
    Column {
        title: "dearest",
        meaning: "the conversation that came out worst",
        value: |g| g.dearest_saving,
        write: percent,
    },
    Column {
        title: "regret",
        meaning: "median, against the best plan in hindsight",
        value: |g| g.median_of("regret"),
        write: times,
    },
    Column {
        title: "hit rate",
        meaning: "median share of input read from the cache",
        value: |g| g.median_of("hit_rate"),
        write: percent,
    },
    Column {
        title: "kept",
        meaning: "median share of tokens sent",
        value: |g| g.median_of("tokens_kept"),
        write: percent,
    },
    Column { title: "mention", meaning: "median", value: |g| g.median_of("recall_window"), write: percent },
    Column {
        title: "p10",
        meaning: "a tenth of the conversations is below",
        value: |g| g.p10_of("recall_window"),
        write: percent,
    },
    Column { title: "line", meaning: "median", value: |g| g.median_of("recall_line"), write: percent },
    Column {
        title: "p10",
        meaning: "a tenth of the conversations is below",
        value: |g| g.p10_of("recall_line"),
        write: percent,
    },
    Column {
        title: "search",
        meaning: "mention, or among five hits of a search",
        value: |g| g.p10_of("recall_retrievable"),
        write: percent,
    },
    Column { title: "cuts", meaning: "all conversations", value: |g| Some(g.sum("cuts")), write: whole },
    Column { title: "over", meaning: "requests over the window", value: |g| Some(g.sum("overflows")), write: whole },
    Column {
        title: "illegal",
        meaning: "requests that break a rule the record does not",
        value: |g| Some(g.sum("illegal")),
        write: whole,
    },
];

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const RUNS: &[Column<RunRow>] = &[
    Column { title: "requests", meaning: "requests replayed", value: |row| Some(row.requests as f64), write: whole },
    Column { title: "cost", meaning: "output included", value: |row| Some(row.cost_usd), write: dollars },
    Column { title: "saving", meaning: "of the input", value: |row| row.saving, write: percent },
    Column { title: "regret", meaning: "against the best plan in hindsight", value: |row| row.regret, write: times },
    Column { title: "kept", meaning: "share of tokens sent", value: |row| row.tokens_kept, write: percent },
    Column { title: "mention", meaning: "mention recall", value: |row| row.recall_window, write: percent },
    Column { title: "line", meaning: "line recall", value: |row| row.recall_line, write: percent },
    Column {
        title: "search",
        meaning: "mention, or among five hits",
        value: |row| row.recall_retrievable,
        write: percent,
    },
    Column { title: "cuts", meaning: "turns with a cut", value: |row| Some(row.cuts as f64), write: whole },
    Column {
        title: "over",
        meaning: "requests over the window",
        value: |row| Some(row.overflows as f64),
        write: whole,
    },
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
    format!("{:.1}%", value * 100.0 + 0.0)
}

fn dollars(value: f64) -> String {
    if value >= 1.0 { format!("${value:.2}") } else { format!("${value:.4}") }
}

fn times(value: f64) -> String {
    format!("{value:.2}")
}

fn whole(value: f64) -> String {
    super::grouped(value)
}
