//! `models`: what the catalogue knows.

use crate::{json, louver};
use serde_json::json as value;

#[test]
fn all_models_are_listed_and_one_is_told_in_detail() {
    let all = louver("models");
    let listed = louver::catalog::Catalog::builtin().models().count();
    // A name that is too long for the line has one of its own.
    assert_eq!(all.done().lines().filter(|line| !line.starts_with(' ')).count(), listed + 1);
    assert!(all.stdout.lines().all(|line| line.chars().count() <= 80), "{}", all.stdout);
    assert!(all.stderr.contains(&format!("{listed} models; prices are dollars per million tokens.")), "{}", all.stderr);
    let one = louver("models claude-sonnet-4-5");
    assert!(one.done().contains("context window  200,000 tokens\n"), "{}", one.stdout);
    assert!(one.stdout.contains("writes at most  64,000 tokens\n") && one.stdout.contains("input $3, output $15"));
    let found = json(louver("models claude-sonnet-4-5 --json").done());
    assert_eq!((&found[0]["context_window"], &found[0]["max_output"]), (&value!(200_000), &value!(64_000)));
}

#[test]
fn a_part_of_a_name_lists_those_that_hold_it_and_an_unknown_one_is_a_finding() {
    let haiku = louver("models haiku");
    let names = |stdout: &str| stdout.lines().skip(1).filter(|line| !line.starts_with(' ')).count();
    assert!(haiku.done().lines().filter(|line| line.contains("haiku")).count() == names(&haiku.stdout));
    assert!(names(&haiku.stdout) > 1, "{}", haiku.stdout);
    let unknown = louver("models llama-99");
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    assert_eq!(unknown.stderr, "llama-99: the catalogue knows no such model, nor one of its family\n");
}
