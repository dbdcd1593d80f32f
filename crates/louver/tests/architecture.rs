//! The modules of every crate form no cycle, at no depth: what a module uses does not use it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where modules are two halves of one thing, each of which names the other: a policy's input and the plan built from it,
/// the ledger and its pages, a decision and its application.
const HALVES: [&str; 3] = ["louver policy", "louver policy::kind::ladder", "louver window"];

/// A module's place in its crate: `["tools", "mcp", "http"]`.
type Place = Vec<String>;
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_module_uses_one_that_uses_it() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut cycles = Vec::new();
    for folder in std::fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let source = Crate::read(&folder.join("src"));
        assert!(source.parents().len() > 1, "{name} has no nested modules");
        for parent in source.parents() {
            let place = format!("{name} {}", parent.join("::"));
            let found = cycle(&source.uses_within(&parent)).filter(|_| !HALVES.contains(&place.as_str()));
            cycles.extend(found.map(|found| format!("{place}: {}", found.join(" -> "))));
        }
    }
    assert_eq!(cycles, [""; 0]);
}

#[test]
fn a_cycle_is_found() {
    let edge = |from: &str, to: &str| (from.to_owned(), BTreeSet::from([to.to_owned()]));
    assert_eq!(cycle(&Graph::from([edge("a", "b"), edge("b", "c")])), None);
    let found = cycle(&Graph::from([edge("a", "b"), edge("b", "c"), edge("c", "a")]));
    assert_eq!(found.unwrap(), ["a", "b", "c", "a"]);
}

#[test]
fn names_lead_to_the_modules_that_define_them() {
    let file = |place: &[&str], text: &str| (words(place), text.to_owned());
    let source = Crate(BTreeMap::from([
        file(&[], "mod a; mod b;"),
        file(&["a"], "mod x; mod y; pub use x::X; pub use y::{Y, Z as Why};"),
        file(&["a", "x"], "use super::{Why, y::{self, Deep}}; use crate::b::B;"),
        file(&["a", "y"], "fn f() { super::X::new() } // crate::b"),
        file(&["b"], "/// [`crate::a::X`]\nuse crate::a::X;\n#[cfg(test)]\nmod tests { use crate::nowhere; }"),
    ]));
    let uses = |place: &[&str]| source.uses_within(&words(place));
    assert_eq!(uses(&["a"]), graph(&[("x", &["y"]), ("y", &["x"])]));
    assert_eq!(uses(&[]), graph(&[("a", &["b"]), ("b", &["a"])]));
}

fn words(words: &[&str]) -> Place {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn graph(edges: &[(&str, &[&str])]) -> Graph {
    edges.iter().map(|(from, to)| ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect())).collect()
}

/// The code of every module of a crate, comments and tests left out.
struct Crate(BTreeMap<Place, String>);

impl Crate {
    fn read(source: &Path) -> Self {
        let module = |file: PathBuf| {
            let relative = file.strip_prefix(source).unwrap().with_extension("");
            let mut place: Place = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if ["mod", "lib", "main"].contains(&place.last().unwrap().as_str()) {
                place.pop();
            }
            (place, std::fs::read_to_string(&file).unwrap())
        };
        Self(files(source).into_iter().map(module).collect())
    }

    /// The modules that have modules of their own.
    fn parents(&self) -> BTreeSet<Place> {
        let nested = self.0.keys().filter(|place| !place.is_empty());
        nested.map(|place| place[..place.len() - 1].to_vec()).collect()
    }

    fn children(&self, parent: &[String]) -> BTreeSet<String> {
        let below = self.0.keys().filter(|place| place.len() > parent.len() && place.starts_with(parent));
        below.map(|place| place[parent.len()].clone()).collect()
    }

    /// Which children of a module name which others, directly or by what their parent hands on. What stands in the parent
    /// itself is everybody's.
    fn uses_within(&self, parent: &[String]) -> Graph {
        let children = self.children(parent);
        let exports = self.exports(parent, &children);
        let mut graph = Graph::new();
        for (place, text) in self.0.iter().filter(|(place, _)| place.len() > parent.len() && place.starts_with(parent))
        {
            let own = &place[parent.len()];
            let named = paths(&code(text)).into_iter().filter_map(|path| resolved(&path, place));
            let named =
                named.filter(|path| path.starts_with(parent)).filter_map(|path| path.get(parent.len()).cloned());
            let named = named
                .filter_map(|name| if children.contains(&name) { Some(name) } else { exports.get(&name).cloned() });
            graph.entry(own.clone()).or_default().extend(named.filter(|name| name != own));
        }
        graph
    }

    /// Names that a module hands on, and the child that each comes from.
    fn exports(&self, parent: &[String], children: &BTreeSet<String>) -> BTreeMap<String, String> {
        let Some(text) = self.0.get(parent) else { return BTreeMap::new() };
        let uses =
            code(text).split("use ").skip(1).map(|rest| rest.split(';').next().unwrap().to_owned()).collect::<Vec<_>>();
        let trees = uses.iter().flat_map(|tree| expanded(&mut tokens(tree).into_iter().peekable()));
        let handed_on = trees.filter(|path| path.len() > 1 && children.contains(&path[0]));
        handed_on.map(|path| (path[path.len() - 1].clone(), path[0].clone())).collect()
    }
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

fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Every path in code that begins at the crate or at a parent, those of a tree one by one.
fn paths(code: &str) -> Vec<Place> {
    let tokens = tokens(code);
    let starts = (0..tokens.len()).filter(|at| {
        let begins =
            ["crate", "super"].contains(&tokens[*at].as_str()) && tokens.get(at + 1).is_some_and(|next| next == "::");
        begins && (*at == 0 || tokens[at - 1] != "::")
    });
    starts.flat_map(|at| expanded(&mut tokens[at..].iter().cloned().peekable())).collect()
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut token = letter.to_string();
        if letter.is_alphanumeric() || letter == '_' {
            while let Some(more) = letters.next_if(|next| next.is_alphanumeric() || *next == '_') {
                token.push(more);
            }
        } else if letter == ':' && letters.next_if_eq(&':').is_some() {
            token.push(':');
        }
        if !token.trim().is_empty() {
            tokens.push(token);
        }
    }
    tokens
}

/// The paths of a tree: `a::{b, c::D as E}` is `a::b` and `a::c::E`.
fn expanded(tokens: &mut std::iter::Peekable<impl Iterator<Item = String>>) -> Vec<Place> {
    let mut path = Place::new();
    while let Some(token) = tokens.next() {
        if token == "{" {
            let mut all = Vec::new();
            while tokens.peek().is_some_and(|next| next != "}") {
                all.extend(expanded(tokens).into_iter().map(|rest| [path.clone(), rest].concat()));
                tokens.next_if(|next| next == ",");
            }
            tokens.next();
            return all;
        }
        path.push(token);
        if tokens.next_if(|next| next == "as").is_some() {
            path.pop();
            path.extend(tokens.next());
        }
        if tokens.next_if(|next| next == "::").is_none() {
            break;
        }
    }
    vec![path]
}

/// A path from the crate's root on, as a module at this place means it.
fn resolved(path: &[String], place: &[String]) -> Option<Place> {
    if path[0] == "crate" {
        return Some(path[1..].to_vec());
    }
    let ups = path.iter().take_while(|step| *step == "super").count();
    let base = &place[..place.len().checked_sub(ups)?];
    Some([base, &path[ups..]].concat())
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
