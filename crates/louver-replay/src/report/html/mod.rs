//! One self-contained page: no network, no library, light and dark.
//!
//! Everything is drawn here as SVG; the script only sorts tables and switches conversations. Large corpora are
//! aggregated: the page shows the longest conversations and at most a few hundred rows.

mod age;
mod axis;
mod context;
mod costs;
mod scatter;
mod tables;

use super::{HONEST_NOTE, Report};
use axis::Axis;
use louver::display;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as a page.
#[must_use]
pub fn page(report: &Report) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Louver replay" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (header(report))
                    (legend(report))
                    (scatter::section(report))
                    (costs::section(report))
                    (context::section(report))
                    (age::section(report))
                    (tables::section(report))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn header(report: &Report) -> Markup {
    let group = report.totals.first().map(|totals| &totals.all);
    let sum = |name| group.map_or(0.0, |group| group.sum(name));
    html! {
        header {
            h1 { "What each window costs, and what it forgets" }
            p.lead {
                "Every request of " b { (group.map_or(0, |group| group.conversations)) " recorded conversations" }
                " replayed under " b { (report.totals.len()) " policies" } ": "
                (grouped(sum("requests"))) " requests, " (display::dollars(sum("baseline_usd"), 2))
                " when everything is sent."
            }
            p.note { (HONEST_NOTE) }
            @if !report.skipped.is_empty() {
                details.skipped {
                    summary { (report.skipped.len()) " skipped" }
                    ul { @for skipped in report.skipped.iter().take(100) {
                        li { code { (skipped.file) } ": " (skipped.reason) }
                    } }
                }
            }
        }
    }
}

fn legend(report: &Report) -> Markup {
    html! {
        nav.legend aria-label="Policies" {
            @for (number, totals) in report.totals.iter().enumerate() {
                span class=(format!("key {}", color(number))) { i {} (totals.policy) }
            }
        }
    }
}

/// The class that gives a policy its colour.
fn color(number: usize) -> String {
    format!("c{}", number % 12)
}

/// A section with a heading and what to read in it.
fn chart_section(id: &str, title: &str, reading: &str, body: &Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (title) }
            p.reading { (reading) }
            (body)
        }
    }
}

fn percent(value: f64) -> String {
    format!("{} %", display::percent(value, 0))
}

/// Thousands apart.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn grouped(value: f64) -> String {
    display::grouped(value.round() as u64)
}

/// A chart with a caption.
fn figure(title: &str, [width, height]: [f64; 2], chart: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            svg.chart viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(title) { (chart) }
        }
    }
}

/// The lines that values are read off at, from one edge of a chart to the other, each with its value at the left.
fn value_lines(y: &Axis, ticks: &[f64], [left, right]: [f64; 2], write: fn(f64) -> String) -> Markup {
    html! {
        @for tick in ticks {
            line.grid x1=(left) x2=(right) y1=(y.at(*tick)) y2=(y.at(*tick)) {}
            text.tick x=(left - 6.0) y=(y.at(*tick) + 4.0) text-anchor="end" { (write(*tick)) }
        }
    }
}

/// Tokens as people say them.
fn thousands(value: f64) -> String {
    if value >= 1e6 { format!("{:.1}M", value / 1e6) } else { format!("{:.0}k", value / 1e3) }
}
