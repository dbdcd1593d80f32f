//! Splitting and shaping a body, beside `serde_json` merely splitting it.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin scan [-- --json]`

use louver::wire::{Body, Format};
use louver_bench::{body_of_bytes, gigabytes_per_second, median_ns, median_pair_ns};
use serde_json::value::RawValue;

const BYTES: usize = 2_000_000;
const RUNS: usize = 61;

/// What serde has to find: the elements of the history, everything else is passed.
#[derive(serde::Deserialize)]
struct Split<'a> {
    #[serde(borrow, alias = "input", alias = "contents")]
    messages: Vec<&'a RawValue>,
}

#[derive(serde::Serialize)]
struct Row {
    format: &'static str,
    input: &'static str,
    bytes: usize,
    louver_gb_per_s: f64,
    serde_json_gb_per_s: f64,
    ratio: f64,
    memcpy_gb_per_s: f64,
}

fn main() {
    let is_json = std::env::args().any(|argument| argument == "--json");
    if !is_json {
        println!("{BYTES} bytes a body, median of {RUNS} runs; ratio above 1: louver is faster");
        println!(
            "{:<17} {:<18} {:>12} {:>12} {:>7} {:>12}",
            "format", "input", "louver", "serde_json", "ratio", "memcpy"
        );
    }
    for format in Format::ALL {
        for row in rows(format) {
            if is_json {
                println!("{}", serde_json::to_string(&row).expect("numbers and names are JSON"));
            } else {
                println!(
                    "{:<17} {:<18} {:>7.2} GB/s {:>7.2} GB/s {:>7.2} {:>7.2} GB/s",
                    row.format, row.input, row.louver_gb_per_s, row.serde_json_gb_per_s, row.ratio, row.memcpy_gb_per_s
                );
            }
        }
    }
}

fn rows(format: Format) -> [Row; 3] {
    let text = body_of_bytes(format, BYTES);
    let memcpy = median_ns(RUNS, || text.as_bytes().to_vec());
    assert_eq!(split(&text).messages.len(), parse(&text, Some(format)).messages().len());
    let given = median_pair_ns(RUNS, || parse(&text, Some(format)), || split(&text).messages);
    let detected = median_pair_ns(RUNS, || parse(&text, None), || split(&text).messages);
    let bytes = median_pair_ns(
        RUNS,
        || Body::parse_bytes(text.as_bytes(), Some(format)).expect("a generated body is readable"),
        || serde_json::from_slice::<Split<'_>>(text.as_bytes()).expect("a generated body is JSON").messages,
    );
    [("text, format given", given), ("text, detected", detected), ("bytes, given", bytes)].map(
        |(input, (ours, serde))| Row {
            format: format.name(),
            input,
            bytes: text.len(),
            louver_gb_per_s: gigabytes_per_second(text.len(), ours),
            serde_json_gb_per_s: gigabytes_per_second(text.len(), serde),
            ratio: serde as f64 / ours.max(1) as f64,
            memcpy_gb_per_s: gigabytes_per_second(text.len(), memcpy),
        },
    )
}

fn parse(text: &str, format: Option<Format>) -> Body {
    Body::parse(text, format).expect("a generated body is readable")
}

fn split(text: &str) -> Split<'_> {
    serde_json::from_str(text).expect("a generated body is JSON")
}
