//! The real conversations, where they are at hand.

use louver::wire::Body;
use std::path::{Path, PathBuf};

/// The folder that `LOUVER_CORPUS` names; says so where it is not set.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LOUVER_CORPUS is not set");
    }
    folder
}

/// Every conversation with its name.
pub(crate) fn bodies(folder: &Path) -> Vec<(String, Body)> {
    let mut paths: Vec<PathBuf> = subfolders(folder).iter().flat_map(|subfolder| json_files(subfolder)).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no conversations in {}", folder.display());
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn read(path: &Path) -> Body {
    let bytes = std::fs::read(path).unwrap();
    Body::parse_bytes(&bytes, None).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
