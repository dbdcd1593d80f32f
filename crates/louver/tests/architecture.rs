//! The modules of every crate form no cycle: what a module uses does not use it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Crates whose modules are not yet free of cycles, with the reason why that is not mended here.
const NOT_YET: &[&str] = &["louver-agent"];

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_uses_one_that_uses_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for folder in std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let graph = uses(&folder.join("src"));
        assert!(!graph.is_empty(), "{name} has no modules");
        let cycle = cycle(&graph);
        if !NOT_YET.contains(&name.as_str()) {
            assert_eq!(cycle, None, "{name}");
        }
    }
}

#[test]
fn a_cycle_is_found() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    assert_eq!(cycle(&Graph::from([edge("a", "b"), edge("b", "c")])), None);
    let found = cycle(&Graph::from([edge("a", "b"), edge("b", "c"), edge("c", "a")]));
    assert_eq!(found.unwrap(), ["a", "b", "c", "a"]);
}

/// Which modules of a crate name which others.
fn uses(source: &Path) -> Graph {
    let mut graph = Graph::new();
    let modules: BTreeSet<String> =
        std::fs::read_dir(source).unwrap().filter_map(|entry| module(&entry.unwrap().path())).collect();
    for file in files(source) {
        let relative = file.strip_prefix(source).unwrap();
        let own = module(&source.join(relative.components().next().unwrap()));
        let Some(own) = own.filter(|own| modules.contains(own)) else {
            continue;
        };
        let named = graph.entry(own.clone()).or_default();
        named.extend(
            named_in(&std::fs::read_to_string(&file).unwrap()).filter(|other| *other != own && modules.contains(other)),
        );
    }
    graph
}

/// `x.rs` and the folder `x` are the module `x`; the crate's root is none, and what tests use does not count.
fn module(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    (!["lib", "main"].contains(&name.as_str())).then_some(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let in_entry = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    let is_code = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".rs") && !name.ends_with("tests.rs")
    };
    entries.flat_map(in_entry).filter(is_code).collect()
}

/// The modules that code names by `crate::`, comments and tests left out.
fn named_in(text: &str) -> impl Iterator<Item = String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = lines.flat_map(|line| line.split("crate::").skip(1).map(first_word));
    names.collect::<Vec<_>>().into_iter()
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// A way that leads back to where it began.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| walk(graph, module, &mut Vec::new(), &mut done))
}

fn walk(graph: &Graph, module: &str, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
    if let Some(start) = path.iter().position(|passed| passed == module) {
        return Some(path[start..].iter().cloned().chain([module.to_owned()]).collect());
    }
    if done.contains(module) {
        return None;
    }
    path.push(module.to_owned());
    let found = graph.get(module).into_iter().flatten().find_map(|next| walk(graph, next, path, done));
    path.pop();
    done.insert(module.to_owned());
    found
}
