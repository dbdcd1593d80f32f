//! The size of requests over time.

use super::axis::{Axis, path};
use super::{chart_section, color, thousands, value_lines};
use crate::report::{Point, Report, RunRow};
use maud::{Markup, html};

const WIDTH: f64 = 1080.0;
const HEIGHT: f64 = 340.0;
/// How many conversations can be looked at: the longest.
const CONVERSATIONS: usize = 6;
/// The most points of a line.
const POINTS: usize = 200;
/// The most cuts that are marked on a line.
const MARKS: usize = 60;

pub(super) fn section(report: &Report) -> Markup {
    let files = longest(report);
    let chart = html! {
        label.switch {
            "Conversation "
            select id="conversation" {
                @for (number, (file, requests)) in files.iter().enumerate() {
                    option value=(number) { (short(file)) " (" (requests) " requests)" }
                }
            }
        }
        @for (number, (file, _)) in files.iter().enumerate() {
            div.conversation data-number=(number) hidden[number > 0] { (chart(report, file)) }
        }
    };
    let reading = "Tokens of each request, one line per policy; a circle marks a cut, where something of the request \
                   before was edited or evicted. Between cuts a line only grows, and the cache holds.";
    chart_section("context", "Context size over time", reading, &chart)
}

fn longest(report: &Report) -> Vec<(&str, u64)> {
    let first = report.totals.first().map(|totals| totals.policy.as_str());
    let rows = report.runs.iter().filter(|row| Some(row.policy.as_str()) == first);
    let mut files: Vec<(&str, u64)> = rows.map(|row| (row.file.as_str(), row.requests)).collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    files.truncate(CONVERSATIONS);
    files
}

/// The last two parts of a path.
fn short(file: &str) -> String {
    let parts: Vec<&str> = file.rsplit('/').take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

fn chart(report: &Report, file: &str) -> Markup {
    let rows: Vec<(usize, &RunRow)> = report
        .totals
        .iter()
        .enumerate()
        .filter_map(|(number, totals)| {
            let row = report.runs.iter().find(|row| row.file == file && row.policy == totals.policy)?;
            Some((number, row))
        })
        .collect();
    let requests = rows.iter().map(|(_, row)| row.detail.series.len()).max().unwrap_or(1);
    let tokens = rows.iter().flat_map(|(_, row)| row.detail.series.iter().map(|point| point.tokens)).max().unwrap_or(1);
    let window = rows.first().map_or(0, |(_, row)| row.context_window);
    let x = Axis::new(1.0, requests.max(2) as f64, 52.0, WIDTH - 14.0);
    let y = Axis::new(0.0, tokens as f64 * 1.06, HEIGHT - 36.0, 12.0);
    html! {
        svg.chart viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("Context size in {file}")) {
            (grid(&x, &y))
            @if (window as f64) < y.high {
                line.window x1=(x.start) x2=(x.end) y1=(y.at(window as f64)) y2=(y.at(window as f64)) {}
                text.tick x=(x.end) y=(y.at(window as f64) - 5.0) text-anchor="end" { "window" }
            }
            @for (number, row) in &rows { (line(&row.detail.series, *number, &row.policy, &x, &y)) }
        }
    }
}

fn grid(x: &Axis, y: &Axis) -> Markup {
    html! {
        (value_lines(y, &y.ticks(5), [x.start, x.end], thousands))
        @for tick in x.ticks(10).into_iter().filter(|tick| tick.fract() == 0.0) {
            text.tick x=(x.at(tick)) y=(y.start + 17.0) text-anchor="middle" { (tick) }
        }
        text.axis x=(x.end) y=(y.start + 32.0) text-anchor="end" { "request" }
    }
}

fn line(series: &[Point], number: usize, policy: &str, x: &Axis, y: &Axis) -> Markup {
    let place = |at: usize| (x.at(at as f64 + 1.0), y.at(series[at].tokens as f64));
    let points: Vec<(f64, f64)> = kept(series).into_iter().map(place).collect();
    let cuts: Vec<usize> = (0..series.len()).filter(|at| series[*at].is_cut).collect();
    let every = cuts.len().div_ceil(MARKS).max(1);
    html! {
        g class=(format!("series {}", color(number))) {
            path d=(path(&points)) { title { (policy) } }
            @for at in cuts.iter().step_by(every) {
                @let (cx, cy) = place(*at);
                circle cx=(cx) cy=(cy) r="2.2" { title { (policy) ": cut at request " (at + 1) } }
            }
        }
    }
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
}
