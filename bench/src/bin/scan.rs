//! Splitting and shaping a body, beside `serde_json` merely splitting it.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin scan [-- --json]`
//!
//! | row | ours | `serde_json`'s |
//! |---|---|---|
//! | split and shape | every message's place and shape, nothing copied | `Vec<&RawValue>`, nothing copied |
//! | `Body`, format given | the same, and every message and the body copied | the same as above |
//! | `Body`, detected | the same after detection | the same as above |
//! | `Body`, owned | format given | `Vec<Box<RawValue>>`, and the body copied |
//! | `Body`, bytes | UTF-8 checked, format given | `&RawValue` from bytes, which checks UTF-8 too |

use louver::json::{Cursor, JsonError};
use louver::wire::{Body, Format, Shape};
use louver_bench::{body_of_bytes, gigabytes_per_second, measure_pair, median_ns};
use serde::Deserialize;
use serde_json::value::RawValue;

const BYTES: usize = 2_000_000;
const RUNS: usize = 101;

/// What serde has to find: the elements of the history, everything else is passed.
#[derive(Deserialize)]
struct Split<T> {
    #[serde(alias = "input", alias = "contents")]
    messages: Vec<T>,
}

#[derive(serde::Serialize)]
struct Row {
    format: &'static str,
    what: &'static str,
    bytes: usize,
    louver_gb_per_s: f64,
    serde_json_gb_per_s: f64,
    /// The median of the ratios of neighbouring runs; above 1 louver is faster.
    ratio: f64,
    /// The ratio of the fastest runs.
    best_ratio: f64,
    memcpy_gb_per_s: f64,
}

fn main() {
    let is_json = std::env::args().any(|argument| argument == "--json");
    if !is_json {
        println!("{BYTES} bytes a body, median (and best) of {RUNS} runs; ratio above 1: louver is faster");
        println!(
            "{:<17} {:<18} {:>6} {:>6} {:>12} {:>12} {:>12}",
            "format", "what", "ratio", "best", "louver", "serde_json", "memcpy"
        );
    }
    for format in Format::ALL {
        for row in rows(format) {
            if is_json {
                println!("{}", serde_json::to_string(&row).expect("numbers and names are JSON"));
            } else {
                println!(
                    "{:<17} {:<18} {:>6.2} {:>6.2} {:>7.2} GB/s {:>7.2} GB/s {:>7.2} GB/s",
                    row.format,
                    row.what,
                    row.ratio,
                    row.best_ratio,
                    row.louver_gb_per_s,
                    row.serde_json_gb_per_s,
                    row.memcpy_gb_per_s
                );
            }
        }
    }
}

fn rows(format: Format) -> [Row; 5] {
    let text = body_of_bytes(format, BYTES);
    let memcpy = median_ns(RUNS, || text.as_bytes().to_vec());
    assert_eq!(split::<&RawValue>(&text).len(), parse(&text, Some(format)).messages().len());
    assert_eq!(split::<&RawValue>(&text).len(), split_and_shape(&text, format).len());
    let pairs = [
        ("split and shape", measure_pair(RUNS, || split_and_shape(&text, format), || split::<&RawValue>(&text))),
        ("Body, format given", measure_pair(RUNS, || parse(&text, Some(format)), || split::<&RawValue>(&text))),
        ("Body, detected", measure_pair(RUNS, || parse(&text, None), || split::<&RawValue>(&text))),
        (
            "Body, owned",
            measure_pair(RUNS, || parse(&text, Some(format)), || (text.clone(), split::<Box<RawValue>>(&text))),
        ),
        (
            "Body, bytes",
            measure_pair(
                RUNS,
                || Body::parse_bytes(text.as_bytes(), Some(format)).expect("a generated body is readable"),
                || serde_json::from_slice::<Split<&RawValue>>(text.as_bytes()).expect("it is JSON").messages,
            ),
        ),
    ];
    pairs.map(|(what, pair)| Row {
        format: format.name(),
        what,
        bytes: text.len(),
        louver_gb_per_s: gigabytes_per_second(text.len(), pair.one_ns),
        serde_json_gb_per_s: gigabytes_per_second(text.len(), pair.other_ns),
        ratio: pair.ratio,
        best_ratio: pair.best_ratio,
        memcpy_gb_per_s: gigabytes_per_second(text.len(), memcpy),
    })
}

fn parse(text: &str, format: Option<Format>) -> Body {
    Body::parse(text, format).expect("a generated body is readable")
}

/// Where each message stands and what is in it.
fn split_and_shape(text: &str, format: Format) -> Vec<(usize, usize, Shape)> {
    let mut messages = Vec::new();
    let mut cursor = Cursor::new(text);
    let passed = cursor.object(|key, cursor| {
        if key != format.history_key() {
            return cursor.skip().map(drop);
        }
        cursor.array(|_, cursor| shape_one(format, cursor).map(|message| messages.push(message)))
    });
    passed.expect("a generated body is readable");
    messages
}

fn shape_one(format: Format, cursor: &mut Cursor<'_>) -> Result<(usize, usize, Shape), JsonError> {
    let start = cursor.rebase();
    let shape = format.wire().shape(cursor)?;
    Ok((start, cursor.offset(), shape))
}

fn split<'a, T: Deserialize<'a>>(text: &'a str) -> Vec<T> {
    serde_json::from_str::<Split<T>>(text).expect("a generated body is JSON").messages
}
