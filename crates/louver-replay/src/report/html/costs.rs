//! What is paid for, by kind.

use super::{chart_section, css, key, percent};
use crate::report::Report;
use crate::report::money::Dollars;
use maud::{Markup, html};

/// The kinds with the class that colours them.
const KINDS: [(&str, &str); 4] = [
    ("uncached", "uncached input"),
    ("written", "written to the cache"),
    ("read", "read from the cache"),
    ("output", "output"),
];

pub(super) fn section(report: &Report) -> Markup {
    let bars: Vec<[f64; 4]> = report.totals.iter().map(|totals| costs(report, &totals.policy)).collect();
    let total = |kinds: &[f64; 4]| kinds.iter().sum::<f64>();
    let highest = bars.iter().map(total).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let output = bars.first().map_or(0.0, |kinds| kinds[3]);
    let best = (report.hindsight.input_usd + output) / highest;
    let money = Dollars::of(bars.iter().map(total));
    let chart = html! {
        p.kinds {
            @for (class, name) in KINDS { span.kind { i class=(class) {} (name) } }
            span.kind { i.best {} "best plan in hindsight" }
        }
        div.bars {
            @for (number, (totals, kinds)) in report.totals.iter().zip(&bars).enumerate() {
                div.bar {
                    (key(number, &totals.policy))
                    span.track {
                        @for ((class, name), usd) in KINDS.iter().zip(kinds) {
                            i class=(class) style=(format!("width:{}", css(usd / highest)))
                                title=(format!("{}: {} {name}", totals.policy, money.show(*usd))) {}
                        }
                        u.best style=(format!("left:{}", css(best))) {}
                    }
                    span.value { (money.show(total(kinds))) }
                }
            }
        }
    };
    let saving = report.hindsight.saving_of_bill.map_or_else(String::new, |saving| {
        format!(
            " The best plan that only drops the oldest, at the smallest size that any policy cut down to, would have saved \
             {} of the input.",
            percent(saving)
        )
    });
    let reading = format!(
        "All conversations together. Output is the same under every policy unless a price step is crossed. What a policy \
         cannot send (see the numbers: over) is priced as if it had been accepted.{saving}"
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
