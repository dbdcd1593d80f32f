//! Under which conditions the figures hold, in one line.

use super::RunRow;
use crate::options::Options;
use louver::display::grouped;
use std::collections::BTreeSet;

/// What was recorded, what was counted and what was assumed.
pub(crate) fn assumed(rows: &[RunRow], options: &Options) -> String {
    let first = rows.first().map(|row| row.policy.as_str()).unwrap_or_default();
    let rows: Vec<&RunRow> = rows.iter().filter(|row| row.policy == first).collect();
    let parts = [overhead(&rows, options), prices(&rows, options), counter(&rows), window(&rows), life(&rows, options)];
    parts.join("; ")
}

fn overhead(rows: &[&RunRow], options: &Options) -> String {
    let (recorded, others): (Vec<&RunRow>, Vec<&RunRow>) =
        rows.iter().partition(|row| row.conditions.counter_factor.is_some());
    let mut said = Vec::new();
    if !recorded.is_empty() {
        said.push(format!(
            "{} as billed{}",
            range(&recorded, |row| row.conditions.overhead_tokens),
            share(&recorded, rows)
        ));
    }
    let (with, without): (Vec<&RunRow>, Vec<&RunRow>) =
        others.into_iter().partition(|row| row.conditions.overhead_tokens > 0);
    if !with.is_empty() {
        let how = if options.overhead.is_some() { "as counted or given" } else { "as counted" };
        said.push(format!("{} {how}{}", range(&with, |row| row.conditions.overhead_tokens), share(&with, rows)));
    }
    if !without.is_empty() {
        said.push(format!("none{}", share(&without, rows)));
    }
    format!("overhead {}", said.join(", "))
}

fn prices(rows: &[&RunRow], options: &Options) -> String {
    let models: BTreeSet<&str> = rows.iter().map(|row| row.model.as_str()).collect();
    let of = match models.len() {
        0 => String::new(),
        1 => format!(" of {}", models.first().copied().unwrap_or_default()),
        number => format!(" of {number} models"),
    };
    let cache = options.cache_prices.map(|prices| {
        let multiple = |factor: louver::tokens::Factor| factor.millionths() as f64 / 1e6;
        format!(", cache write {} and read {} of input", multiple(prices.write), multiple(prices.read))
    });
    format!("prices{of}, as the catalogue has them{}", cache.unwrap_or_default())
}

fn counter(rows: &[&RunRow]) -> String {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.conditions.counter.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let factors = || rows.iter().filter_map(|row| row.conditions.counter_factor);
    let scale = factors().reduce(f64::min).zip(factors().reduce(f64::max)).map(|(least, most)| {
        let span = if most - least < 0.005 { format!("{most:.2}") } else { format!("{least:.2}–{most:.2}") };
        format!(" × {span} as billed")
    });
    format!("counter {}{}", names.join(", "), scale.unwrap_or_default())
}

fn window(rows: &[&RunRow]) -> String {
    format!("window {}", range(rows, |row| row.conditions.context_window))
}

fn life(rows: &[&RunRow], options: &Options) -> String {
    let lives: BTreeSet<u64> = rows.iter().flat_map(|row| row.conditions.cache_life_seconds.iter().copied()).collect();
    let lives: Vec<String> = lives.into_iter().map(spoken).collect();
    let pauses = match (options.gap_seconds, options.cold_every) {
        (Some(seconds), _) => format!(", {seconds} s between requests"),
        (None, Some(every)) => format!(", cold at every {every}th request"),
        (None, None) => String::new(),
    };
    format!("cache life {}{pauses}", lives.join(" and "))
}

fn spoken(seconds: u64) -> String {
    match seconds {
        seconds if seconds >= 3_600 && seconds.is_multiple_of(3_600) => format!("{} h", seconds / 3_600),
        seconds if seconds >= 60 && seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// `25,312`, or `12,000–40,100`.
fn range(rows: &[&RunRow], of: fn(&RunRow) -> u64) -> String {
    let values = || rows.iter().map(|row| of(row));
    let (least, most) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
    if least == most { grouped(most) } else { format!("{}–{}", grouped(least), grouped(most)) }
}

/// ` (3 of 7)` where it is not all.
fn share(some: &[&RunRow], all: &[&RunRow]) -> String {
    if some.len() == all.len() { String::new() } else { format!(" ({} of {})", some.len(), all.len()) }
}
