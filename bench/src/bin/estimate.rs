//! Tokens of a text by its kinds alone, beside the vocabulary: what a build without `exact-counts` goes by.
//!
//! `LOUVER_CORPUS=... cargo run --release --manifest-path bench/Cargo.toml --bin estimate`

use louver::tokens::{Encoding, Mixture, TextKind};
use louver::wire::{Body, Message, PartKind};
use std::path::{Path, PathBuf};

/// Strings whose counts are added up before the error is taken, as in a conversation.
const TOGETHER: usize = 100;

fn main() {
    let Some(corpus) = std::env::var_os("LOUVER_CORPUS") else {
        println!("skipped: LOUVER_CORPUS is not set");
        return;
    };
    let mut texts: Vec<String> = files(Path::new(&corpus)).iter().flat_map(|path| texts_of(path)).collect();
    texts.sort();
    texts.dedup();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} strings, {bytes} bytes", texts.len());
    for kind in TextKind::ALL {
        let of_kind = texts.iter().filter(|text| Mixture::of(text).main_kind() == kind);
        let (chars, o200k, cl100k) = of_kind.fold((0, 0, 0), |(chars, o200k, cl100k), text| {
            let (o, c) = (Encoding::O200k.count(text), Encoding::Cl100k.count(text));
            (chars + text.chars().count() as u64, o200k + o, cl100k + c)
        });
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        println!(
            "{kind:?}: {chars} characters, o200k {:.3} each, cl100k {:.3} of that",
            share(o200k, chars),
            share(cl100k, o200k)
        );
    }
    // An order in which neighbours have nothing to do with each other, the same on every run.
    texts
        .sort_by_key(|text| text.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte))));
    for (name, counted) in [("kinds", by_kinds as fn(&str) -> f64), ("chars4", by_characters)] {
        for encoding in [Encoding::O200k, Encoding::Cl100k] {
            println!("{name} against {encoding:?}: {}", errors(&texts, counted, encoding));
        }
    }
}

fn by_kinds(text: &str) -> f64 {
    Mixture::of(text).o200k(text.chars().count() as u64).thousandths() as f64 / 1e3
}

fn by_characters(text: &str) -> f64 {
    text.chars().count() as f64 / 4.0
}

fn errors(texts: &[String], counted: fn(&str) -> f64, encoding: Encoding) -> String {
    let exact = |text: &String| encoding.count(text) as f64;
    let error = |group: &[String]| {
        let (ours, theirs): (f64, f64) = (group.iter().map(|text| counted(text)).sum(), group.iter().map(exact).sum());
        (ours / theirs.max(1.0) - 1.0).abs() * 100.0
    };
    let all = error(texts);
    let mut groups: Vec<f64> = texts.chunks_exact(TOGETHER).map(error).collect();
    let mut single: Vec<f64> = texts.chunks(1).filter(|text| exact(&text[0]) >= 200.0).map(error).collect();
    groups.sort_by(f64::total_cmp);
    single.sort_by(f64::total_cmp);
    let at = |sorted: &[f64], percent: usize| sorted[(sorted.len() - 1) * percent / 100];
    format!(
        "the sum {all:.1} % off; {TOGETHER} strings {:.1} in the median, {:.1} at the 90th percentile, {:.1} at worst; single \
         strings from 200 tokens {:.1}, {:.1}, {:.1}",
        at(&groups, 50),
        at(&groups, 90),
        at(&groups, 100),
        at(&single, 50),
        at(&single, 90),
        at(&single, 100)
    )
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let in_entry = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(in_entry).filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn texts_of(path: &Path) -> Vec<String> {
    let body = std::fs::read(path).ok().and_then(|bytes| Body::parse_bytes(&bytes, None).ok());
    let messages = body.iter().flat_map(Body::messages).map(|message| &**message);
    messages.flat_map(texts).collect()
}

/// What the model reads of a message.
fn texts(message: &Message) -> Vec<String> {
    let parts = message.shape().parts.iter().filter(|part| part.chars > 0 && !matches!(part.kind, PartKind::Media(_)));
    parts.map(|part| message.text_of(part).into_owned()).collect()
}
