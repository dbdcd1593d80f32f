//! The figures of `docs/growth.md` are those that the sandbox gives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/growth/measure.rs"]
#[allow(dead_code, reason = "the example uses the rest of it")]
mod measure;

use measure::{Api, ITERATIONS, Kept, csv, predicted_messages, run};

const FIGURES: &str = include_str!("../../../docs/growth.csv");

#[tokio::test]
async fn a_run_gives_the_figures_that_are_written_down() {
    for api in Api::ALL {
        for kept in [Kept::Messages(30), Kept::Ladder] {
            let measured = csv(&[run(api, kept).await.unwrap()]);
            let (header, rows) = measured.split_once('\n').unwrap();
            assert_eq!(FIGURES.lines().next(), Some(header));
            let (api, kept) = (api.name(), kept.name());
            assert!(FIGURES.contains(rows), "{api}, {kept}: run the example `growth` and read docs/growth.md again");
        }
    }
}

#[test]
fn the_formula_gives_the_messages_of_everything() {
    for api in Api::ALL {
        let of_everything = format!("{},everything,", api.name());
        let rows: Vec<&str> = FIGURES.lines().filter_map(|line| line.strip_prefix(&of_everything)).collect();
        let messages: Vec<usize> = rows.iter().map(|row| row.split(',').nth(2).unwrap().parse().unwrap()).collect();
        assert_eq!(messages, Vec::from_iter((1..=ITERATIONS).map(|iteration| predicted_messages(api, iteration))));
    }
}
