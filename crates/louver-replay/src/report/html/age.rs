//! Recall by age, as tables whose cells are shaded.

use super::{chart_section, key, percent};
use crate::report::{Report, Totals};
use crate::retention::Age;
use maud::{Markup, html};
use std::collections::BTreeMap;

type ByAge = BTreeMap<&'static str, Option<f64>>;

pub(super) fn section(report: &Report) -> Markup {
    let tables = html! {
        div.pair {
            (shaded(report, "Line: the request still has what it said", |totals| &totals.line_by_age))
            (shaded(report, "Mention: the request still names it", |totals| &totals.recall_by_age))
        }
    };
    let reading = "How much of what the recorded answers refer to a request still held, by the number of turns since it \
                   last stood in the record. Windows forget the old first; what is old is seldom needed, but then it is.";
    chart_section("age", "Recall by age", reading, &tables)
}

fn shaded(report: &Report, title: &str, of: fn(&Totals) -> &ByAge) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            div.scroll { table.shaded {
                thead { tr { th { "turns" } @for age in Age::ALL { th.number { (age.name()) } } } }
                tbody { @for (number, totals) in report.totals.iter().enumerate() {
                    tr {
                        td { (key(number, &totals.policy)) }
                        @for age in Age::ALL { (cell(of(totals).get(age.name()).copied().flatten())) }
                    }
                } }
            } }
        }
    }
}

/// The more is lost, the darker.
fn cell(recall: Option<f64>) -> Markup {
    html! {
        @match recall {
            Some(recall) => {
                td.number style=(format!("--lost:{:.0}%", (1.0 - recall).clamp(0.0, 1.0) * 70.0)) { (percent(recall)) }
            }
            None => { td.number { "–" } }
        }
    }
}
