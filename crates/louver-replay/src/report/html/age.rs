//! Recall by age.

use super::axis::{Axis, path};
use super::{chart_section, color, figure, percent, value_lines};
use crate::report::{Report, Totals};
use crate::retention::Age;
use maud::{Markup, html};
use std::collections::BTreeMap;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;

type ByAge = BTreeMap<&'static str, Option<f64>>;

pub(super) fn section(report: &Report) -> Markup {
    let charts = html! {
        div.pair {
            (chart(report, "Mention, by age", |totals| &totals.recall_by_age))
            (chart(report, "Line, by age", |totals| &totals.line_by_age))
        }
    };
    let reading = "How much of what the recorded answers refer to a request still held, by the number of turns since it \
                   last stood in the record. Windows forget the old first; what is old is seldom needed, but then it is.";
    chart_section("age", "Recall by age", reading, &charts)
}

fn chart(report: &Report, title: &str, of: fn(&Totals) -> &ByAge) -> Markup {
    let values = report.totals.iter().flat_map(|totals| of(totals).values().flatten().copied());
    let lowest = values.fold(1.0, f64::min);
    let last = (Age::ALL.len() - 1) as f64;
    let x = Axis::new(0.0, last, 62.0, WIDTH - 30.0);
    let y = Axis::new((lowest - 0.05).max(0.0), 1.0, HEIGHT - 44.0, 14.0);
    let chart = html! {
        (value_lines(&y, &y.ticks(5), [46.0, WIDTH - 14.0], percent))
        @for (at, age) in Age::ALL.into_iter().enumerate() {
            text.tick x=(x.at(at as f64)) y=(y.start + 17.0) text-anchor="middle" { (age.name()) }
        }
        text.axis x=(x.end + 16.0) y=(y.start + 36.0) text-anchor="end" { "turns since it last stood there" }
        @for (number, totals) in report.totals.iter().enumerate() {
            (line(of(totals), number, &totals.policy, &x, &y))
        }
    };
    figure(title, [WIDTH, HEIGHT], &chart)
}

fn line(by_age: &ByAge, number: usize, policy: &str, x: &Axis, y: &Axis) -> Markup {
    let values = Age::ALL.into_iter().enumerate().filter_map(|(at, age)| {
        let recall = by_age.get(age.name()).copied().flatten()?;
        Some((x.at(at as f64), y.at(recall), age, recall))
    });
    let values: Vec<_> = values.collect();
    let points: Vec<(f64, f64)> = values.iter().map(|(x, y, ..)| (*x, *y)).collect();
    html! {
        g class=(format!("series {}", color(number))) {
            path d=(path(&points)) { title { (policy) } }
            @for (cx, cy, age, recall) in &values {
                circle cx=(cx) cy=(cy) r="3.5" { title { (policy) ", " (age.name()) " turns: " (percent(*recall)) } }
            }
        }
    }
}
