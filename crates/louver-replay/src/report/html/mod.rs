//! One self-contained page: no network, no library, light and dark, from a telephone's width up.
//!
//! Words are HTML at their own size and stand where a share of the width puts them; only lines are drawn as SVG, so that a
//! narrow page has smaller charts and not smaller letters. Policies are told apart by a letter, not by colour. The script
//! sorts tables and draws the sizes of whichever session is chosen, from data that stand in the page.

mod age;
mod axis;
mod bills;
mod costs;
mod scatter;
mod sizes;
mod tables;

use super::money::Dollars;
use super::{Bill, HONEST_NOTE, Report, grouped};
use axis::Axis;
use louver::display;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use xxhash_rust::xxh3::xxh3_128;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as a page.
#[must_use]
pub fn page(report: &Report) -> String {
    let main = html! {
        main {
            (header(report))
            (scatter::section(report))
            (costs::section(report))
            (bills::section(report))
            (sizes::section(report))
            (age::section(report))
            (tables::section(report))
            (conditions(report))
        }
    };
    // Nothing that was written before this page can know it, so no text in it can pass for its script.
    let nonce = format!("{:032x}", xxh3_128(main.0.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Louver replay" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (main)
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
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
            p.lead { (plain_sentence(report)) }
            p {
                (grouped(sum("requests"))) " requests of " (group.map_or(0, |group| group.conversations))
                " recorded conversations, each made again under " (report.totals.len()) " policies."
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

/// Dollars first: what was paid, and what it would have been. Nothing where nothing costs anything.
fn plain_sentence(report: &Report) -> Markup {
    let Some((totals, saving)) = shown(report).and_then(|at| {
        let totals = &report.totals[at];
        Some((totals, totals.all.saving_of_paid?))
    }) else {
        return html! {};
    };
    let (group, policy) = (&totals.all, &totals.policy);
    let (paid, verb) = match report.bill() {
        Some(bill) if bill.whole == group.conversations => (bill.recorded_usd, "were paid"),
        _ => (group.sum("baseline_usd"), "is the usual bill"),
    };
    let money = Dollars::of([paid]);
    html! {
        b { (money.show(paid)) } " " (verb) "; under " code { (policy) } " it would have been "
        b { (money.show(paid * (1.0 - saving))) } ", " (percent(saving.abs())) @if saving < 0.0 { " more" } @else { " less" } "."
    }
}

/// Which policy is talked about first: the ladder, or else the last.
fn shown(report: &Report) -> Option<usize> {
    let ladder = report.totals.iter().position(|totals| totals.policy == "ladder");
    ladder.or(report.totals.len().checked_sub(1))
}

/// Under which conditions all this holds.
fn conditions(report: &Report) -> Markup {
    let rows = html! {
        dl {
            @if let Some(command) = &report.command { dt { "Command" } dd { code { (command) } } }
            dt { "Assumed" } dd { (report.assumed) "." }
            @if let Some(bill) = report.bill() {
                dt { "Recorded" }
                dd {
                    (Dollars::of([bill.recorded_usd]).show(bill.recorded_usd)) " for " (bill.conversations) @if bill.conversations == 1 { " conversation" } @else { " conversations" }
                    @if let Some(quotient) = bill.quotient {
                        "; replay makes " (format!("{quotient:.2}")) " times as much of the same requests"
                        @if Bill::is_off(quotient) { ", which is more than 10 % off" }
                    }
                    "."
                }
            }
            @if report.copies > 0 { dt { "Counted once" } dd { (report.copies) " copies left out." } }
            dt { "Baseline" }
            dd { "Everything as long as it fits; then cut in half whenever it does not. Nobody could have sent more." }
        }
    };
    chart_section("conditions", "Conditions", "Other prices, counters and windows give other figures.", &rows)
}

/// The letter that stands for a policy all over the page.
fn letter(number: usize) -> char {
    u8::try_from(number % 26).map_or('?', |number| char::from(b'A' + number))
}

/// A policy's letter and name.
fn key(number: usize, policy: &str) -> Markup {
    html! { span.key { (badge(number, policy)) (policy) } }
}

/// A policy's letter; ours are filled.
fn badge(number: usize, policy: &str) -> Markup {
    html! { b class=(if policy.starts_with("ladder") { "badge ours" } else { "badge" }) { (letter(number)) } }
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

/// A share of a width as CSS has it.
fn css(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
