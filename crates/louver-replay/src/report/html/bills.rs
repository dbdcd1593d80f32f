//! What was paid, against what replay makes of it.

use super::{chart_section, css};
use crate::report::money::Dollars;
use crate::report::place::short_place;
use crate::report::{Bill, Report, RunRow};
use maud::{Markup, html};

/// How many conversations are drawn, the dearest first.
const DRAWN: usize = 24;

pub(super) fn section(report: &Report) -> Markup {
    let policy = report.totals.first().map(|totals| totals.policy.as_str());
    let mut rows: Vec<Compared<'_>> =
        report.runs.iter().filter(|row| Some(row.policy.as_str()) == policy).filter_map(Compared::of).collect();
    if rows.is_empty() {
        return html! {};
    }
    rows.sort_by(|a, b| b.recorded.total_cmp(&a.recorded).then(a.row.file.cmp(&b.row.file)));
    let highest = rows.iter().map(|one| one.recorded.max(one.simulated())).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let money = Dollars::of(rows.iter().map(|one| one.recorded));
    let off = rows.iter().filter(|one| Bill::is_off(one.quotient)).count();
    let chart = html! {
        p.kinds { span.kind { i.paid {} "paid, as recorded" } span.kind { i.simulated {} "simulated: everything is sent" } }
        div.bars.bills {
            @for one in rows.iter().take(DRAWN) {
                div.bar {
                    span.key title=(one.row.file) { (short_place(one.row)) }
                    span.track.two {
                        i.paid style=(format!("width:{}", css(one.recorded / highest))) {}
                        i.simulated style=(format!("width:{}", css(one.simulated() / highest))) {}
                    }
                    span class=(if Bill::is_off(one.quotient) { "value off" } else { "value" }) {
                        (money.show(one.recorded)) " × " (format!("{:.2}", one.quotient))
                    }
                }
            }
        }
        @if rows.len() > DRAWN { p.beyond { "and " (rows.len() - DRAWN) " smaller ones" } }
    };
    let reading = format!(
        "What the records say was paid, at the catalogue's prices, and what replay makes of the same requests. The nearer \
         the quotient is to 1, the more the rest of this page is worth: {off} of {} are more than 10 % off.",
        rows.len()
    );
    chart_section("bills", "Recorded against simulated", &reading, &chart)
}

/// A conversation with a recorded bill.
struct Compared<'a> {
    row: &'a RunRow,
    recorded: f64,
    quotient: f64,
}

impl<'a> Compared<'a> {
    fn of(row: &'a RunRow) -> Option<Self> {
        Some(Self { row, recorded: row.recorded_usd?, quotient: row.simulated_over_recorded? })
    }

    fn simulated(&self) -> f64 {
        self.recorded * self.quotient
    }
}
