//! Cost against recall, with the frontier.

use super::axis::{Axis, path};
use super::{chart_section, color, figure, percent, value_lines};
use crate::report::{Report, Totals};
use maud::{Markup, html};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 340.0;
const LABEL_GAP: f64 = 15.0;

/// A policy in the chart: what it costs and what it recalls.
#[derive(Clone, Copy, Debug)]
struct Dot {
    number: usize,
    cost: f64,
    recall: f64,
}

/// Which recall a chart is about.
type Recall = fn(&Totals) -> Option<f64>;

pub(super) fn section(report: &Report) -> Markup {
    let charts = html! {
        div.pair {
            (chart(report, "Mention: the request still names it", |totals| totals.pooled.recall_window))
            (chart(report, "Line: the request still has what it said", |totals| totals.pooled.recall_line))
        }
    };
    let reading = "Input cost of all conversations against sending everything (100 %), and how much of what the recorded \
                   answers refer to the requests still held. Up and to the left is better; nothing beats what lies on \
                   the line.";
    chart_section("frontier", "Cost against recall", reading, &charts)
}

fn chart(report: &Report, title: &str, recall: Recall) -> Markup {
    let dots = dots(&report.totals, recall);
    let highest_cost = dots.iter().map(|dot| dot.cost).fold(1.0, f64::max);
    let lowest = dots.iter().map(|dot| dot.recall).fold(1.0, f64::min);
    let x = Axis::new(0.0, highest_cost * 1.08, 46.0, WIDTH - 14.0);
    let margin = ((1.0 - lowest) * 0.15).max(0.01);
    let y = Axis::new((lowest - margin).max(0.0), 1.0 + margin * 0.4, HEIGHT - 44.0, 14.0);
    let chart = html! {
        (grid(&x, &y))
        path.frontier d=(path(&frontier(&dots, &x, &y))) {}
        @for dot in &dots {
            circle class=(format!("dot {}", color(dot.number))) cx=(x.at(dot.cost)) cy=(y.at(dot.recall)) r="6" {
                title { (report.totals[dot.number].policy) ": " (percent(dot.cost)) " of the cost, "
                    (percent(dot.recall)) " recalled" }
            }
        }
        (labels(report, &dots, &x, &y))
    };
    figure(title, [WIDTH, HEIGHT], &chart)
}

fn dots(totals: &[Totals], recall: Recall) -> Vec<Dot> {
    let dot = |(number, totals): (usize, &Totals)| {
        Some(Dot { number, cost: 1.0 - totals.all.saving_of_bill?, recall: recall(totals)? })
    };
    totals.iter().enumerate().filter_map(dot).collect()
}

fn grid(x: &Axis, y: &Axis) -> Markup {
    let recalls: Vec<f64> = y.ticks(5).into_iter().filter(|tick| *tick <= 1.0 + 1e-9).collect();
    html! {
        (value_lines(y, &recalls, [x.start, x.end], percent))
        @for tick in x.ticks(6) {
            line.grid x1=(x.at(tick)) x2=(x.at(tick)) y1=(y.start) y2=(y.end) {}
            text.tick x=(x.at(tick)) y=(y.start + 17.0) text-anchor="middle" { (percent(tick)) }
        }
        line.base x1=(x.at(1.0)) x2=(x.at(1.0)) y1=(y.start) y2=(y.end) {}
        text.axis x=(x.end) y=(y.start + 36.0) text-anchor="end" { "input cost, sending everything = 100 %" }
    }
}

/// From the cheapest policy on, every one that recalls more than all cheaper ones, as steps.
fn frontier(dots: &[Dot], x: &Axis, y: &Axis) -> Vec<(f64, f64)> {
    let mut sorted = dots.to_vec();
    sorted.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.recall.total_cmp(&a.recall)));
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut best = f64::NEG_INFINITY;
    for dot in sorted.into_iter().filter(|dot| {
        let is_better = dot.recall > best;
        best = best.max(dot.recall);
        is_better
    }) {
        let (cx, cy) = (x.at(dot.cost), y.at(dot.recall));
        if let Some((_, above)) = points.last().copied() {
            points.push((cx, above));
        }
        points.push((cx, cy));
    }
    points
}

/// A name beside its dot: where its text starts, and where its baseline is.
#[derive(Clone, Copy, Debug)]
struct Label {
    left: f64,
    right: f64,
    base: f64,
}

impl Label {
    fn covers(&self, other: &Self) -> bool {
        self.left < other.right && self.right > other.left && (self.base - other.base).abs() < LABEL_GAP
    }

    fn covers_dot(&self, (x, y): (f64, f64)) -> bool {
        self.left < x + 7.0 && self.right > x - 7.0 && (self.base - 4.0 - y).abs() < 13.0
    }
}

/// Names beside their dots, on the side and at the height where they cover nothing.
fn labels(report: &Report, dots: &[Dot], x: &Axis, y: &Axis) -> Markup {
    let centres: Vec<(f64, f64)> = dots.iter().map(|dot| (x.at(dot.cost), y.at(dot.recall))).collect();
    let mut placed: Vec<Label> = Vec::new();
    for (dot, centre) in dots.iter().zip(&centres) {
        let width = report.totals[dot.number].policy.chars().count() as f64 * 7.7;
        let is_free = |label: &Label| {
            let covers_label = placed.iter().any(|other| label.covers(other));
            let covers_dot = centres.iter().any(|other| label.covers_dot(*other));
            label.left > x.start && label.right < x.end + 10.0 && !covers_label && !covers_dot
        };
        let found = places(*centre, width).find(is_free);
        placed.push(found.unwrap_or(Label {
            left: centre.0 + 11.0,
            right: centre.0 + 11.0 + width,
            base: centre.1 + 4.0,
        }));
    }
    html! {
        @for ((dot, label), (cx, cy)) in dots.iter().zip(&placed).zip(&centres) {
            @if (label.base - 4.0 - cy).abs() > 20.0 {
                line.leader x1=(cx) y1=(cy) x2=(format!("{:.1}", label.left + 6.0)) y2=(format!("{:.1}", label.base - 11.0)) {}
            }
            text.label x=(format!("{:.1}", label.left)) y=(format!("{:.1}", label.base)) {
                (report.totals[dot.number].policy)
            }
        }
    }
}

/// Where a label could stand, the nearest place first.
fn places((x, y): (f64, f64), width: f64) -> impl Iterator<Item = Label> {
    let heights = [0.0, 18.0, -18.0, 34.0, 50.0, 66.0, 82.0];
    heights.into_iter().flat_map(move |height| {
        let beside = if height == 0.0 { 11.0 } else { -4.0 };
        let lefts = [x + beside, x - beside - width, x - width / 2.0];
        lefts.into_iter().map(move |left| Label { left, right: left + width, base: y + 4.0 + height })
    })
}
