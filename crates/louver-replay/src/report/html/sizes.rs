//! The size of requests over time, for any conversation.

use super::{badge, chart_section};
use crate::report::place::place;
use crate::report::{Point, Report, RunRow};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use std::collections::HashMap;

/// The most points of a line.
const POINTS: usize = 64;
/// The most cuts that are marked on a line.
const MARKS: usize = 40;

/// A conversation as the script draws it. Tokens are hundreds.
#[derive(Serialize)]
struct Drawn<'a> {
    file: &'a str,
    /// How it is called where it is chosen.
    #[serde(skip)]
    place: String,
    requests: usize,
    window: u64,
    /// For each policy, request numbers and sizes in turn.
    lines: Vec<Vec<u64>>,
    /// For each policy, the requests that are cuts.
    cuts: Vec<Vec<u64>>,
}

pub(super) fn section(report: &Report) -> Markup {
    let drawn = drawn(report);
    let body = html! {
        label.switch {
            "Conversation "
            select id="conversation" {
                @for (number, one) in drawn.iter().enumerate() {
                    option value=(number) { (one.place) " (" (one.requests) " requests)" }
                }
            }
        }
        div.panels id="panels" {
            @for (number, totals) in report.totals.iter().enumerate() {
                figure.panel data-policy=(number) {
                    figcaption { (badge(number, &totals.policy)) " " (totals.policy) " " span.most {} }
                    svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label=(totals.policy) {
                        path.window {}
                        path.all {}
                        path.line {}
                        path.cuts {}
                    }
                }
            }
        }
        p.beyond id="scale" {}
        noscript { p { "The sizes are drawn by the page's script." } }
        script type="application/json" id="sizes" { (PreEscaped(json(&drawn))) }
    };
    let reading = "Tokens of each request, a panel per policy on one scale; grey is what everything would take, dots mark cuts, \
        the dashed line is the window. Between cuts a line only grows, and the cache holds.";
    chart_section("context", "Context size over time", reading, &body)
}

/// Nothing in a name may end the element that it stands in.
fn json(drawn: &[Drawn<'_>]) -> String {
    serde_json::to_string(drawn).unwrap_or_default().replace('<', "\\u003c")
}

/// Every conversation, the longest first.
fn drawn(report: &Report) -> Vec<Drawn<'_>> {
    let mut by_file: HashMap<&str, Vec<&RunRow>> = HashMap::new();
    report.runs.iter().for_each(|row| by_file.entry(&row.file).or_default().push(row));
    let mut all: Vec<Drawn<'_>> = by_file.into_iter().map(|(file, rows)| one(report, file, &rows)).collect();
    all.sort_by(|a, b| b.requests.cmp(&a.requests).then(a.file.cmp(b.file)));
    all
}

fn one<'a>(report: &Report, file: &'a str, rows: &[&'a RunRow]) -> Drawn<'a> {
    let of = |policy: &str| rows.iter().find(|row| row.policy == policy).map_or(&[][..], |row| &row.detail.series);
    let series = || report.totals.iter().map(|totals| of(&totals.policy));
    Drawn {
        file,
        place: rows.first().map(|row| place(row)).unwrap_or_default(),
        requests: series().map(<[Point]>::len).max().unwrap_or(0),
        window: rows.first().map_or(0, |row| row.conditions.context_window) / 100,
        lines: series().map(line).collect(),
        cuts: series().map(cuts).collect(),
    }
}

fn line(series: &[Point]) -> Vec<u64> {
    kept(series).into_iter().flat_map(|at| [at as u64 + 1, series[at].tokens / 100]).collect()
}

fn cuts(series: &[Point]) -> Vec<u64> {
    let cuts: Vec<usize> = (0..series.len()).filter(|at| series[*at].is_cut).collect();
    let every = cuts.len().div_ceil(MARKS).max(1);
    cuts.into_iter().step_by(every).flat_map(|at| [at as u64 + 1, series[at].tokens / 100]).collect()
}

/// Which points of a long line are drawn: of each stretch the smallest and the largest, so that no fall is lost.
fn kept(series: &[Point]) -> Vec<usize> {
    if series.len() <= POINTS {
        return (0..series.len()).collect();
    }
    let stretch = series.len().div_ceil(POINTS / 2);
    let mut kept = vec![0, series.len() - 1];
    for start in (0..series.len()).step_by(stretch) {
        let range = || start..(start + stretch).min(series.len());
        kept.extend(range().min_by_key(|at| series[*at].tokens));
        kept.extend(range().max_by_key(|at| series[*at].tokens));
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_ends_and_its_extremes() {
        let series: Vec<Point> = (0..1000)
            .map(|at| Point { tokens: if at == 777 { 5 } else { 1000 + at }, read: 0, is_cut: at == 777 })
            .collect();
        let kept = kept(&series);
        assert!(kept.len() <= POINTS + 2);
        assert!(kept.contains(&0) && kept.contains(&777) && kept.contains(&999));
    }

    #[test]
    fn no_name_ends_the_data() {
        let evil = Drawn {
            file: "</script><script>",
            place: String::new(),
            requests: 1,
            window: 1,
            lines: Vec::new(),
            cuts: Vec::new(),
        };
        assert!(!json(&[evil]).contains('<'));
    }
}
