//! What is paid for, by kind.

use super::axis::Axis;
use super::{chart_section, percent};
use crate::report::Report;
use louver::display;
use maud::{Markup, html};

const WIDTH: f64 = 1080.0;
const ROW: f64 = 34.0;
const LEFT: f64 = 110.0;

/// The kinds with the class that colours them.
const KINDS: [(&str, &str); 4] = [
    ("uncached", "uncached input"),
    ("written", "written to the cache"),
    ("read", "read from the cache"),
    ("output", "output"),
];

pub(super) fn section(report: &Report) -> Markup {
    let bars: Vec<(&str, [f64; 4])> =
        report.totals.iter().map(|totals| (totals.policy.as_str(), costs(report, &totals.policy))).collect();
    let highest = bars.iter().map(|(_, kinds)| kinds.iter().sum::<f64>()).fold(0.0, f64::max);
    let height = ROW * bars.len() as f64 + 34.0;
    let x = Axis::new(0.0, highest * 1.1, LEFT, WIDTH - 10.0);
    let output = bars.first().map_or(0.0, |(_, kinds)| kinds[3]);
    let best = report.hindsight.input_usd + output;
    let chart = html! {
        p.kinds { @for (class, name) in KINDS { span.key { i class=(class) {} (name) } } span.key { i.best {} "best plan in hindsight" } }
        svg.chart viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label="Cost by kind" {
            @for tick in x.ticks(8) {
                line.grid x1=(x.at(tick)) x2=(x.at(tick)) y1="0" y2=(height - 26.0) {}
                text.tick x=(x.at(tick)) y=(height - 8.0) text-anchor="middle" { (dollars(tick)) }
            }
            @for (number, (policy, kinds)) in bars.iter().enumerate() { (bar(policy, kinds, number, &x)) }
            @if best > 0.0 {
                line.best x1=(x.at(best)) x2=(x.at(best)) y1="0" y2=(height - 26.0) {
                    title { "best plan in hindsight: " (dollars(best)) }
                }
            }
        }
    };
    let saving = report.hindsight.saving_of_bill.map_or_else(String::new, |saving| {
        format!(" The best plan that only drops the oldest, at the smallest size that any policy cut down to, would have saved {} \
             of the input.", percent(saving))
    });
    let reading = format!(
        "All conversations together, in dollars. Output is the same under every policy unless a price tier is crossed.{saving}"
    );
    chart_section("costs", "What is paid for", &reading, &chart)
}

fn costs(report: &Report, policy: &str) -> [f64; 4] {
    let rows = report.runs.iter().filter(|row| row.policy == policy);
    rows.fold([0.0; 4], |sum, row| {
        let usd = &row.usd;
        [sum[0] + usd.uncached, sum[1] + usd.written, sum[2] + usd.read, sum[3] + usd.output]
    })
}

fn bar(policy: &str, kinds: &[f64; 4], number: usize, x: &Axis) -> Markup {
    let top = ROW * number as f64 + 5.0;
    let mut from = 0.0;
    let segments: Vec<(&str, f64, f64, f64)> = KINDS
        .iter()
        .zip(kinds)
        .map(|((class, _), usd)| {
            let segment = (*class, x.at(from), (x.at(from + usd) - x.at(from)).max(0.0), *usd);
            from += usd;
            segment
        })
        .collect();
    html! {
        text.label x=(LEFT - 10.0) y=(top + 17.0) text-anchor="end" { (policy) }
        @for (class, left, width, usd) in segments {
            rect class=(class) x=(left) y=(top) width=(format!("{width:.1}")) height=(ROW - 10.0) {
                title { (policy) ": " (dollars(usd)) " " (class) }
            }
        }
        text.value x=(x.at(from) + 7.0) y=(top + 17.0) { (dollars(from)) }
    }
}

fn dollars(usd: f64) -> String {
    let decimals = match usd {
        1.0..100.0 => 2,
        usd if usd == 0.0 || usd >= 100.0 => 0,
        _ => 4,
    };
    display::dollars(usd, decimals)
}
