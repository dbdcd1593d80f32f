//! What is saved against what is still seen.

use super::{Axis, badge, chart_section, css, key, percent};
use crate::report::{Report, Totals};
use louver::display;
use maud::{Markup, html};

/// The corner that is drawn: what saves less or sees less is listed beside it.
const LEAST_SAVING: f64 = -0.25;
const LEAST_RECALL: f64 = 0.7;
/// Dots that are closer than this on the narrowest page are drawn as one, in shares of width and height.
const CLOSE: (f64, f64) = (0.08, 0.065);

/// A policy in the chart.
#[derive(Clone, Copy, Debug)]
struct Dot {
    number: usize,
    saving: f64,
    recall: f64,
}

/// What a chart is about: fields of which medians are shown.
struct Chart {
    title: &'static str,
    saving: &'static str,
    recall: &'static str,
}

/// With recalls priced in, where that is measured.
const CHARTS: [Chart; 2] = [
    Chart { title: "By lines", saving: "saving_after_recall", recall: "recall_line" },
    Chart { title: "By passages", saving: "saving_after_recall_passage", recall: "recall_passage" },
];
const WITHOUT_RECALL: Chart = Chart { title: "Line recall", saving: "saving", recall: "recall_line" };

pub(super) fn section(report: &Report) -> Markup {
    let has_values = |chart: &&Chart| report.totals.iter().any(|totals| dot(chart, 0, totals).is_some());
    let mut charts: Vec<&Chart> = CHARTS.iter().filter(has_values).collect();
    if charts.is_empty() {
        charts.push(&WITHOUT_RECALL);
    }
    let body = html! {
        div.pair { @for chart in charts { (draw(report, chart)) } }
        p.keys { @for (number, totals) in report.totals.iter().enumerate() { (key(number, &totals.policy)) } }
    };
    let of = report.totals.first().map(Totals::typical_name).unwrap_or_default();
    let reading = format!(
        "Right is cheaper, up is remembered better: medians of {of}. Saving is of all that is paid, against the practical \
         baseline, after every answer that refers to something its request lacks has paid for one more request that brings \
         it back. That rewards a window for what it keeps, but also for what nobody mentions again: read it with recall by \
         age below. Nothing beats what lies on the line. Letters in a frame share the place beside it."
    );
    chart_section("frontier", "What is saved, and what is still seen", &reading, &body)
}

fn dot(chart: &Chart, number: usize, totals: &Totals) -> Option<Dot> {
    let typical = totals.typical();
    Some(Dot { number, saving: typical.median_of(chart.saving)?, recall: typical.median_of(chart.recall)? })
}

fn draw(report: &Report, chart: &Chart) -> Markup {
    let dots = report.totals.iter().enumerate().filter_map(|(number, totals)| dot(chart, number, totals));
    let is_shown = |dot: &Dot| dot.saving >= LEAST_SAVING && dot.recall >= LEAST_RECALL;
    let (shown, beyond): (Vec<Dot>, Vec<Dot>) = dots.partition(is_shown);
    let (x, y) = axes(&shown);
    html! {
        figure {
            figcaption { (chart.title) span.upward { "↑ still seen" } }
            div.plot {
                (grid(&x, &y))
                svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true" {
                    path.frontier d=(path(&frontier(&shown, &x, &y))) {}
                }
                @for group in together(&shown, &x, &y) { (badges(report, &group, &x, &y)) }
                span.axis { "saving →" }
            }
            @if !beyond.is_empty() {
                p.beyond {
                    "Outside: "
                    @for (at, dot) in beyond.iter().enumerate() {
                        @if at > 0 { ", " }
                        (key(dot.number, &report.totals[dot.number].policy)) " saves " (percent(dot.saving)) ", sees "
                        (percent(dot.recall))
                    }
                }
            }
        }
    }
}

/// Scales from 0 to 1: what is shown, with some room around it.
fn axes(dots: &[Dot]) -> (Axis, Axis) {
    let span = |values: &dyn Fn(&Dot) -> f64| {
        let (low, high) =
            dots.iter().map(values).fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        if dots.is_empty() { (0.0, 1.0) } else { (low, high) }
    };
    let (low, high) = span(&|dot| dot.saving);
    let room = ((high - low) * 0.12).max(0.03);
    let x = Axis::new(low - room, high + room, 0.0, 1.0);
    let (low, high) = span(&|dot| dot.recall);
    let room = ((high - low) * 0.14).max(0.01);
    (x, Axis::new(low - room, high + room, 1.0, 0.0))
}

fn grid(x: &Axis, y: &Axis) -> Markup {
    let recalls: Vec<f64> = y.ticks(5).into_iter().filter(|tick| *tick <= 1.0 + 1e-9).collect();
    let savings = x.ticks(4);
    html! {
        @for tick in &recalls {
            i.across style=(format!("top:{}", css(y.at(*tick)))) {}
            span.tick.left style=(format!("top:{}", css(y.at(*tick)))) { (at_tick(*tick, &recalls)) }
        }
        @for tick in &savings {
            i.up style=(format!("left:{}", css(x.at(*tick)))) {}
            span.tick.under style=(format!("left:{}", css(x.at(*tick)))) { (at_tick(*tick, &savings)) }
        }
    }
}

/// Per cent with a decimal where neighbours need one.
fn at_tick(tick: f64, all: &[f64]) -> String {
    let is_fine = all.windows(2).any(|two| (two[1] - two[0]) < 0.0099);
    format!("{} %", display::percent(tick, usize::from(is_fine)))
}

/// Dots that would cover each other, together.
fn together(dots: &[Dot], x: &Axis, y: &Axis) -> Vec<Vec<Dot>> {
    let mut groups: Vec<Vec<Dot>> = Vec::new();
    for dot in dots {
        let is_close = |other: &Dot| {
            let across = (x.at(dot.saving) - x.at(other.saving)).abs();
            let up = (y.at(dot.recall) - y.at(other.recall)).abs();
            across < CLOSE.0 && up < CLOSE.1
        };
        match groups.iter_mut().find(|group| is_close(&group[0])) {
            Some(group) => group.push(*dot),
            None => groups.push(vec![*dot]),
        }
    }
    groups
}

/// A letter where its policy is; or points where several are, with their letters in a frame beside the first: a bare row of
/// letters would be read as a row of values.
fn badges(report: &Report, group: &[Dot], x: &Axis, y: &Axis) -> Markup {
    let first = group[0];
    let place = |dot: &Dot| format!("left:{};top:{}", css(x.at(dot.saving)), css(y.at(dot.recall)));
    let is_shared = group.len() > 1;
    // Near the right edge the frame grows to the left.
    let side = match (is_shared, x.at(first.saving) > 0.6) {
        (false, _) => "dots",
        (true, false) => "dots many",
        (true, true) => "dots many back",
    };
    html! {
        @if is_shared { @for dot in group { i.point style=(place(dot)) {} } }
        span class=(side) style=(place(&first)) {
            @for dot in group {
                span.dot title=(said(report, dot)) { (badge(dot.number, &report.totals[dot.number].policy)) }
            }
        }
    }
}

fn said(report: &Report, dot: &Dot) -> String {
    let policy = &report.totals[dot.number].policy;
    format!("{policy}: saves {}, still sees {}", percent(dot.saving), percent(dot.recall))
}

/// From the one that saves most on, every policy that sees more than all that save more, as steps.
fn frontier(dots: &[Dot], x: &Axis, y: &Axis) -> Vec<(f64, f64)> {
    let mut sorted = dots.to_vec();
    sorted.sort_by(|a, b| b.saving.total_cmp(&a.saving).then(b.recall.total_cmp(&a.recall)));
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut best = f64::NEG_INFINITY;
    for dot in sorted {
        if dot.recall <= best {
            continue;
        }
        best = dot.recall;
        let (across, up) = (x.at(dot.saving) * 100.0, y.at(dot.recall) * 100.0);
        if let Some((_, above)) = points.last().copied() {
            points.push((across, above));
        }
        points.push((across, up));
    }
    points
}

/// The points of a line.
fn path(points: &[(f64, f64)]) -> String {
    let letters = std::iter::once("M").chain(std::iter::repeat("L"));
    points.iter().zip(letters).map(|((x, y), letter)| format!("{letter}{x:.2} {y:.2}")).collect()
}
