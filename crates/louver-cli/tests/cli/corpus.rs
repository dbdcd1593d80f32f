//! Every real conversation through every command, in this process.

use louver_cli::{Colors, Exit, Keys, Streams, run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Whether the index calls each file legal.
fn listed(folder: &Path) -> Vec<(PathBuf, bool)> {
    let index = std::fs::read_to_string(folder.join("index.csv")).unwrap();
    let rows = index.lines().skip(1).map(|row| {
        let columns: Vec<&str> = row.split(',').collect();
        (folder.join(columns[0]), columns[11] == "yes")
    });
    rows.collect()
}

/// Exit, stdout, stderr.
fn louver(words: &[&str], path: &Path) -> (Exit, Vec<u8>, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let arguments = ["louver"].iter().chain(words).map(OsString::from).chain([path.into()]);
    let exit = run(
        arguments,
        Streams {
            stdin: &mut std::io::empty(),
            stdin_is_terminal: false,
            stdout: &mut stdout,
            stdout_is_terminal: false,
            stderr: &mut stderr,
            stderr_is_terminal: false,
            colors: Colors::default(),
            columns: None,
            keys: Keys::default(),
            launcher: None,
        },
    );
    (exit, stdout, String::from_utf8(stderr).unwrap())
}

#[test]
fn every_real_conversation_goes_through_every_command() {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from) else {
        println!("skipped: LOUVER_CORPUS is not set");
        return;
    };
    let files = listed(&folder);
    assert_eq!(files.len(), 269);
    for (path, is_legal) in &files {
        let name = path.display();
        let (exit, trimmed, said) = louver(&["trim", "--counter", "chars4", "--max-messages", "20", "-q"], path);
        assert_eq!((exit, said.as_str()), (Exit::Done, ""), "trim {name}");
        assert!(!trimmed.is_empty(), "trim {name}");
        check_and_repair(path, *is_legal);
        let (exit, table, said) = louver(&["inspect", "--counter", "chars4", "--limit", "50"], path);
        assert_eq!(exit, Exit::Done, "inspect {name}: {said}");
        let table = String::from_utf8(table).unwrap();
        assert!(table.lines().skip(1).all(|line| unicode_width::UnicodeWidthStr::width(line) <= 100), "{name}");
        let (exit, ..) = louver(&["inspect", "--counter", "chars4", "--json"], path);
        assert_eq!(exit, Exit::Done, "inspect --json {name}");
    }
}

/// The index looks at tool calls and results only, so a file it calls legal may still have a blank text.
fn check_and_repair(path: &Path, has_all_results: bool) {
    let name = path.display();
    let (exit, findings, _) = louver(&["check"], path);
    let findings = String::from_utf8(findings).unwrap();
    let expected = if findings.is_empty() { Exit::Done } else { Exit::Finding };
    assert_eq!(exit, expected, "check {name}");
    assert!(has_all_results || exit == Exit::Finding, "check found nothing in {name}");
    assert!(!has_all_results || !findings.contains("without-result"), "check {name}: {findings}");
    let (repaired_exit, repaired, said) = louver(&["repair"], path);
    assert_eq!(repaired_exit, Exit::Done, "repair {name}");
    assert!(!said.contains("cannot be repaired"), "repair {name}: {said}");
    // What is too long is for `trim` to mend.
    let is_broken = findings.lines().any(|line| !line.contains(": context-window: "));
    assert_eq!(repaired == std::fs::read(path).unwrap(), !is_broken, "repair {name}");
}

#[test]
fn every_real_conversation_fits_a_small_window_or_says_why_not() {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from) else {
        println!("skipped: LOUVER_CORPUS is not set");
        return;
    };
    for (path, _) in listed(&folder) {
        let flags = ["trim", "--policy", "tokens", "--counter", "chars4", "--context-window", "30000"];
        let (exit, trimmed, said) = louver(&flags, &path);
        match exit {
            Exit::Done => assert!(!trimmed.is_empty()),
            Exit::Refused => assert!(trimmed.is_empty() && said.contains(": cannot fit: "), "{said}"),
            other => panic!("{other:?}: {said}"),
        }
    }
}
