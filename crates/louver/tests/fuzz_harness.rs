//! The fuzz targets' checks under plain `cargo test`: the seeds, and random changes to them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(unreachable_pub, reason = "the fuzz crate exports what a test only uses")]
#[path = "../../../fuzz/src/harness.rs"]
mod harness;

use louver::wire::Format;
use proptest::prelude::*;
use std::path::Path;

/// The seeds of a target, in the order of their names.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn target(format: Format) -> String {
    format.name().replace('-', "_")
}

/// A change to a text: what fuzzers do first.
#[derive(Clone, Debug)]
enum Mutation {
    /// Another byte.
    Set(prop::sample::Index, u8),
    /// A stretch is taken out.
    Remove(prop::sample::Index, usize),
    /// A stretch comes again somewhere else.
    Copy(prop::sample::Index, prop::sample::Index, usize),
    /// A token that matters to JSON or to the formats.
    Insert(prop::sample::Index, &'static str),
    /// One quoted word takes the place of another.
    Swap(prop::sample::Index, prop::sample::Index),
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "0",
    "-1e9",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "{}",
    "[]",
    " ",
    "\"role\"",
    "\"user\"",
    "\"assistant\"",
    "\"tool\"",
    "\"model\"",
    "\"system\"",
    "\"content\"",
    "\"type\"",
    "18446744073709551615",
    "\"evicted\":[{\"start\":1,\"end\":9}],",
    "{\"message\":\"{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Hi\\\"}\"}\n",
    "{\"event\":\"cache_expired\"}\n",
    "{\"event\":{\"total_reported\":{\"total_tokens\":18446744073709551615}}}\n",
    "{\"event\":{\"limited\":{\"context_window\":90,\"reserve\":1}}}\n",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        (at(), 1..40usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (at(), at(), 1..200usize).prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
        (at(), prop::sample::select(TOKENS)).prop_map(|(at, token)| Mutation::Insert(at, token)),
        (at(), at()).prop_map(|(one, other)| Mutation::Swap(one, other)),
    ]
}

fn mutate(text: &mut Vec<u8>, mutation: &Mutation) {
    if text.is_empty() {
        return;
    }
    let length = text.len();
    let end = |at: usize, wanted: usize| (at + wanted).min(length);
    match mutation {
        Mutation::Set(at, byte) => text[at.index(length)] = *byte,
        Mutation::Remove(at, wanted) => drop(text.drain(at.index(length)..end(at.index(length), *wanted))),
        Mutation::Copy(from, to, wanted) => {
            let stretch = text[from.index(length)..end(from.index(length), *wanted)].to_vec();
            let to = to.index(length);
            text.splice(to..to, stretch);
        }
        Mutation::Insert(at, token) => {
            let at = at.index(length);
            text.splice(at..at, token.bytes());
        }
        Mutation::Swap(one, other) => swap(text, *one, *other),
    }
}

/// Swapping quoted words keeps the text JSON, so these changes reach the deepest.
fn swap(text: &mut Vec<u8>, one: prop::sample::Index, other: prop::sample::Index) {
    let quotes: Vec<usize> = text.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(at, _)| at).collect();
    let words: Vec<_> = quotes.chunks_exact(2).map(|pair| pair[0]..pair[1] + 1).collect();
    if words.is_empty() {
        return;
    }
    let (target, source) = (&words[one.index(words.len())], &words[other.index(words.len())]);
    let word = text[source.clone()].to_vec();
    text.splice(target.clone(), word);
}

fn mutated(target: &str, number: prop::sample::Index, mutations: &[Mutation]) -> Vec<u8> {
    let seeds = seeds(target);
    let mut text = seeds[number.index(seeds.len())].clone();
    for mutation in mutations {
        mutate(&mut text, mutation);
    }
    text
}

#[test]
fn the_seeds_hold() {
    seeds("json").iter().for_each(|seed| harness::json(seed));
    seeds("records").iter().for_each(|seed| harness::records(seed));
    for format in Format::ALL {
        for seed in seeds(&target(format)) {
            assert!(louver::wire::Body::parse_bytes(&seed, Some(format)).is_ok());
            harness::body(format, &seed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_bytes_agree_with_serde(number in any::<prop::sample::Index>(), mutations in prop::collection::vec(mutation(), 0..5)) {
        harness::json(&mutated("json", number, &mutations));
    }

    #[test]
    fn any_history_holds(
        format in prop::sample::select(&Format::ALL[..]),
        number in any::<prop::sample::Index>(),
        mutations in prop::collection::vec(mutation(), 0..4),
    ) {
        harness::body(format, &mutated(&target(format), number, &mutations));
    }

    #[test]
    fn any_records_hold(number in any::<prop::sample::Index>(), mutations in prop::collection::vec(mutation(), 0..4)) {
        harness::records(&mutated("records", number, &mutations));
    }
}
