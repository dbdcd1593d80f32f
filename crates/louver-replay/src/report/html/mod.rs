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
                (grouped(sum("requests"))) " requests, $" (format!("{:.2}", sum("baseline_usd")))
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
    format!("{:.0} %", value * 100.0 + 0.0)
}

/// Thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Tokens as people say them.
fn thousands(value: f64) -> String {
    if value >= 1e6 { format!("{:.1}M", value / 1e6) } else { format!("{:.0}k", value / 1e3) }
}
