//! The scenarios that come with the crate.

use super::Scenario;

pub(super) fn named(name: &str) -> Option<Scenario> {
    let script = match name {
        "demo" => include_str!("../../data/demo.json"),
        "echo" => return Some(Scenario::new("echo")),
        "faults" => include_str!("../../data/faults.json"),
        _ => return None,
    };
    Some(Scenario::from_json(script).expect("the scripts are part of the crate and tested"))
}

/// The demo file with by far the most to read.
pub(super) const BIG_FILE: &str = "data/service.log";

const MODULES: [&str; 8] = ["parser", "lexer", "printer", "planner", "store", "server", "client", "report"];

/// The files that the `demo` scenario reads, as paths and contents, for a client to lay out before it starts.
///
/// ```
/// let files = louver_sandbox::demo_files();
/// assert!(files.iter().any(|(path, _)| path == "README.md"));
/// assert!(files.iter().any(|(_, content)| content.len() > 20_000), "one output is big");
/// ```
#[must_use]
pub fn demo_files() -> Vec<(String, String)> {
    let mut files = vec![
        ("README.md".to_owned(), "# Almanac\n\nA small service that plans, stores and reports.\n".repeat(12)),
        ("docs/plan.md".to_owned(), "- read every module\n- note what it exports\n- check the log\n".repeat(20)),
        (BIG_FILE.to_owned(), log_lines(600)),
    ];
    files.extend(MODULES.iter().map(|module| (format!("src/{module}.rs"), source(module))));
    files
}

fn source(module: &str) -> String {
    let mut text = format!("//! The {module} of the service.\n\n");
    for number in 1..=40 {
        text += &format!(
            "/// Step {number} of the {module}.\npub fn {module}_step_{number}(input: u32) -> u32 {{\n    input + {number}\n}}\n\n"
        );
    }
    text
}

fn log_lines(count: usize) -> String {
    (0..count)
        .map(|line| {
            let module = MODULES[line % MODULES.len()];
            let level = if line % 37 == 0 { "ERROR" } else { "INFO" };
            format!("2026-11-{:02} {level} {module}: request {line} took {} ms\n", line % 28 + 1, line * 7 % 900)
        })
        .collect()
}
