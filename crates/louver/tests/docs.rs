//! What the documents say exists, exists.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The words in backticks that are paths of this repository.
fn paths(document: &str) -> Vec<&str> {
    let words = document.split('`').skip(1).step_by(2);
    words
        .filter(|word| {
            ["crates/", "bench/", "fuzz/", ".ci/", "docs/", "examples/"].iter().any(|top| word.starts_with(top))
        })
        .collect()
}

#[test]
fn every_path_in_the_documents_exists() {
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"] {
        let document = std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        let missing: Vec<_> =
            paths(&document).into_iter().filter(|path| !Path::new(ROOT).join(path).exists()).collect();
        assert_eq!(missing, [""; 0], "{name}");
    }
}

#[test]
fn the_architecture_page_names_real_paths() {
    let document = std::fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    assert!(paths(&document).len() > 20, "the table is gone, or the test no longer reads it");
}
