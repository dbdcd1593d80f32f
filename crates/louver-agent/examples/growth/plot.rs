//! The picture: a column per provider, a row per measure, a line per window. Colours follow the reader's theme.

use crate::measure::{Api, ITERATIONS, Kept, Row, Run};
use crate::page::{grouped, title};
use std::fmt::Write;

const WIDTH: f64 = 1030.0;
const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 170.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 84.0;
const COLUMN_STEP: f64 = 506.0;
const ROW_STEP: f64 = 244.0;
/// The least distance between the labels of two lines.
const LABEL_STEP: f64 = 15.0;

const STYLE: &str = "\
text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.quiet { fill: #59636e; font-size: 12px; }
.page { fill: #ffffff; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; }
.everything { stroke: #c4500c; } .hundred { stroke: #1f6fd0; } .thirty { stroke: #0f7f5f; stroke-dasharray: 7 3; }
.tokens { stroke: #8250df; stroke-dasharray: 2 3; } .ladder { stroke: #1f2328; stroke-width: 3; }
.everything-label { fill: #b34707; } .hundred-label { fill: #1a62ba; } .thirty-label { fill: #0b6b4f; }
.tokens-label { fill: #7340cf; } .ladder-label { font-weight: 600; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .quiet { fill: #9198a1; } .page { fill: #0d1117; } .grid { stroke: #30363d; }
.everything { stroke: #f0883e; } .hundred { stroke: #6cb0ff; } .thirty { stroke: #4ecb9c; } .tokens { stroke: #c297ff; }
.ladder { stroke: #e6edf3; }
.everything-label { fill: #f0883e; } .hundred-label { fill: #6cb0ff; } .thirty-label { fill: #4ecb9c; } .tokens-label { fill: #c297ff; }
}
";

/// What a row of panels shows.
struct Measure {
    title: &'static str,
    value: fn(&Row) -> f64,
    label: fn(f64) -> String,
}

const MEASURES: [Measure; 3] = [
    Measure { title: "Messages per request", value: |row| row.messages as f64, label: whole },
    Measure { title: "Tokens per request", value: |row| row.tokens as f64, label: thousands },
    Measure { title: "Input paid so far, US dollars", value: |row| row.cost.usd(), label: |usd| format!("{usd:.2}") },
];

/// The picture of all runs.
pub(crate) fn svg(runs: &[Run]) -> String {
    let height = TOP + ROW_STEP * MEASURES.len() as f64 - 18.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Messages, tokens and cost over {ITERATIONS} iterations\">\n<style>\n{STYLE}</style>\n\
         <rect class=\"page\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    for (column, api) in Api::ALL.into_iter().enumerate() {
        let x = LEFT + COLUMN_STEP * column as f64;
        text(&mut svg, x, 30.0, "title", &format!("{}, {}", title(api), api.model()));
        for (number, measure) in MEASURES.iter().enumerate() {
            let own: Vec<&Run> = runs.iter().filter(|run| run.api == api).collect();
            panel(&mut svg, (x, TOP + ROW_STEP * number as f64), measure, &own);
        }
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, (left, top): (f64, f64), measure: &Measure, runs: &[&Run]) {
    text(svg, left, top - 14.0, "", measure.title);
    let values = || runs.iter().flat_map(|run| &run.rows).map(measure.value);
    let step = tick_step(values().fold(0.0, f64::max));
    let most = (values().fold(0.0, f64::max) / step).ceil() * step;
    let y = |value: f64| top + PANEL_HEIGHT * (1.0 - value / most);
    let x = |iteration: usize| left + PANEL_WIDTH * iteration as f64 / ITERATIONS as f64;
    for tick in (0..).map(|tick| f64::from(tick) * step).take_while(|tick| *tick <= most * 1.001) {
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            left + PANEL_WIDTH,
            y = y(tick)
        );
        anchored(svg, "end", left - 8.0, y(tick) + 4.0, &(measure.label)(tick));
    }
    for iteration in [1, 5, 10, 15, ITERATIONS] {
        anchored(svg, "middle", x(iteration), top + PANEL_HEIGHT + 18.0, &iteration.to_string());
    }
    anchored(svg, "end", left + PANEL_WIDTH, top + PANEL_HEIGHT + 34.0, "iteration");
    for run in runs {
        let points: Vec<String> =
            run.rows.iter().map(|row| format!("{:.1},{:.1}", x(row.iteration), y((measure.value)(row)))).collect();
        let _ = writeln!(svg, "<polyline class=\"line {}\" points=\"{}\"/>", class(run.kept), points.join(" "));
    }
    labels(svg, left + PANEL_WIDTH + 8.0, runs, |run| run.rows.last().map_or(most, |row| y((measure.value)(row))));
}

/// A name at the end of each line, moved apart where two would touch.
fn labels(svg: &mut String, x: f64, runs: &[&Run], y: impl Fn(&Run) -> f64) {
    let mut places: Vec<(f64, Kept)> = runs.iter().map(|run| (y(run) + 4.0, run.kept)).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::NEG_INFINITY;
    for (place, kept) in places {
        lowest = place.max(lowest + LABEL_STEP);
        text(svg, x, lowest, &format!("{}-label", class(kept)), &kept.name());
    }
}

fn class(kept: Kept) -> &'static str {
    match kept {
        Kept::Everything => "everything",
        Kept::Messages(100) => "hundred",
        Kept::Messages(_) => "thirty",
        Kept::Tokens(_) => "tokens",
        Kept::Ladder => "ladder",
    }
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, content: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{content}</text>");
}

fn anchored(svg: &mut String, anchor: &str, x: f64, y: f64, content: &str) {
    let _ = writeln!(svg, "<text class=\"quiet\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{content}</text>");
}

/// One, two or five times a power of ten, so that there are three to six ticks.
fn tick_step(most: f64) -> f64 {
    let power = 10f64.powf((most / 5.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power * 5.0 >= most);
    step.unwrap_or(10.0) * power
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a tick, which is whole and not negative")]
fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

fn thousands(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{}k", whole(value / 1000.0)) }
}
