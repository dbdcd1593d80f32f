//! The scenarios that come with the crate.

use serde_json::json;

use super::{Call, Fault, Scenario, Turn};

pub(super) fn named(name: &str) -> Option<Scenario> {
    match name {
        "demo" => Some(demo()),
        "echo" => Some(Scenario::new("echo")),
        "faults" => Some(faults()),
        _ => None,
    }
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
    files.extend(MODULES.iter().map(|module| (source_path(module), source(module))));
    files
}

fn source_path(module: &str) -> String {
    format!("src/{module}.rs")
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

fn read(path: &str) -> Call {
    Call::new("read_file", json!({"path": path}))
}

fn list(path: &str) -> Call {
    Call::new("list_files", json!({"path": path}))
}

fn search(pattern: &str) -> Call {
    Call::new("search_files", json!({"pattern": pattern, "path": "."}))
}

fn write(path: &str, content: &str) -> Call {
    Call::new("write_file", json!({"path": path, "content": content}))
}

fn run(command: &str) -> Call {
    Call::new("run_command", json!({"command": command}))
}

fn complete(summary: &str) -> Call {
    Call::new("task_complete", json!({"summary": summary}))
}

fn demo() -> Scenario {
    let opening = Turn::calls([list("."), list("src"), read("README.md")])
        .thinking("I should look around before I plan anything.")
        .saying("I will look around first.");
    let scenario = Scenario::new("demo")
        .turn(opening)
        .turn(Turn::calls([read("docs/plan.md")]).saying("There is a plan; I will follow it."));
    let scenario = MODULES.iter().fold(scenario, |scenario, module| study(scenario, module));
    scenario
        .turn(Turn::calls([search("ERROR"), run("wc -l data/service.log")]).saying("Now the log."))
        .turn(Turn::calls([read(BIG_FILE)]).thinking("The whole log is long, but the errors need their context."))
        .turn(Turn::calls([write("notes/summary.md", "# Summary\n\nEight modules, forty steps each.\n")]))
        .turn(Turn::calls([complete("Eight modules are read and summed up in notes/.")]))
}

/// Seven calls in four turns over one module.
fn study(scenario: Scenario, module: &str) -> Scenario {
    let path = source_path(module);
    let note = format!("# {module}\n\nForty steps, {module}_step_1 to {module}_step_40.\n");
    scenario
        .turn(
            Turn::calls([read(&path), search(&format!("{module}_step_40")), run(&format!("wc -l {path}"))])
                .thinking(format!("What does the {module} export?"))
                .saying(format!("The {module} next.")),
        )
        .turn(Turn::calls([search(&format!("pub fn {module}_step_1"))]))
        .turn(Turn::calls([write(&format!("notes/{module}.md"), &note)]))
        .turn(Turn::calls([list("notes"), read(&format!("notes/{module}.md"))]).saying("I check what I wrote."))
}

fn faults() -> Scenario {
    let step = |call: Call, faults: &[Fault]| faults.iter().fold(Turn::calls([call]), |turn, fault| turn.after(*fault));
    let rate = |retry_after_seconds| Fault::RateLimit { retry_after_seconds };
    Scenario::new("faults")
        .turn(step(list("."), &[rate(Some(0))]))
        .turn(step(read("README.md"), &[rate(None), Fault::ServerError]))
        .turn(step(read("docs/plan.md"), &[Fault::Overloaded]))
        .turn(step(search("step"), &[Fault::Reset]))
        .turn(step(list("src"), &[Fault::Truncate]))
        .turn(step(read("src/parser.rs"), &[Fault::StreamError]))
        .turn(step(run("wc -l README.md"), &[Fault::MalformedArguments]))
        .turn(step(read("src/lexer.rs"), &[Fault::Stall]))
        .turn(Turn::calls([complete("Everything went wrong once.")]))
}
