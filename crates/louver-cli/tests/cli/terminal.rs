//! What a person at a terminal sees, with the streams that a terminal would give.

use louver_cli::{Colors, Exit, Keys, Streams, run};
use std::ffi::OsString;
use unicode_width::UnicodeWidthStr;

fn at_terminal(words: &str, columns: usize) -> (Exit, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let arguments = words.split_whitespace().map(OsString::from);
    let exit = run(
        [OsString::from("louver")].into_iter().chain(arguments),
        Streams {
            stdin: &mut std::io::empty(),
            stdin_is_terminal: true,
            stdout: &mut stdout,
            stdout_is_terminal: true,
            stderr: &mut stderr,
            stderr_is_terminal: true,
            colors: Colors { out: true, err: true },
            columns: Some(columns),
            keys: Keys::default(),
            launcher: None,
        },
    );
    (exit, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn example(name: &str) -> String {
    crate::root().join("examples").join(name).display().to_string()
}

#[test]
fn nobody_waits_for_a_person_to_type_json() {
    for command in ["trim", "check", "repair -", "inspect", "recall 1"] {
        let (exit, stdout, stderr) = at_terminal(command, 100);
        assert_eq!((exit, stdout.as_str()), (Exit::Refused, ""));
        assert!(stderr.contains("no INPUT: name a JSON file, or pipe one in"), "{stderr}");
    }
}

#[test]
fn a_narrow_terminal_gets_a_narrow_table() {
    for columns in [80, 100, 120] {
        let (_, table, _) = at_terminal(&format!("inspect {} --color never", example("agent.json")), columns);
        let rows: Vec<&str> = table.lines().skip(4).take_while(|line| !line.is_empty()).collect();
        assert!(rows.iter().all(|row| row.width() <= columns), "{table}");
        assert_eq!(rows.iter().map(|row| row.width()).max(), Some(columns), "{table}");
    }
}

#[test]
fn a_terminal_sees_colours_and_the_middle_of_long_histories_is_left_out() {
    let messages = vec![r#"{"role":"user","content":"hi"}"#; 500].join(",");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("[{messages}]")).unwrap();
    let (exit, table, stderr) = at_terminal(&format!("inspect {}", file.path().display()), 100);
    assert_eq!(exit, Exit::Done);
    assert!(table.contains('\u{1b}') && table.contains("300 messages not shown (#100 to #399)"), "{table}");
    assert!(stderr.starts_with("\u{1b}[1m\u{1b}[33mwarning:\u{1b}[0m "), "{stderr:?}");
}

#[test]
fn a_prompt_does_not_stand_behind_the_last_brace() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[]").unwrap();
    assert_eq!(at_terminal(&format!("trim {}", file.path().display()), 100).1, "[]\n");
}

#[test]
fn a_run_is_one_live_line_that_is_gone_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("TASK.md");
    std::fs::write(&task, "Look around.").unwrap();
    let words = format!("run {} --root {}", task.display(), folder.path().display());
    let (exit, stdout, stderr) = at_terminal(&words, 100);
    assert_eq!(exit, Exit::Done, "{stderr}");
    assert!(stdout.contains("Execution summary"), "{stdout}");
    let drawn: Vec<&str> = stderr.split("\r\u{1b}[K").filter(|text| text.starts_with("iteration ")).collect();
    assert!(drawn.iter().all(|line| line.width() < 100 && !line.contains('\n')), "{drawn:?}");
    let last = drawn.last().unwrap();
    assert!(last.contains(" messages") && last.contains("k/200k tokens") && last.contains('$'), "{last}");
    assert!(!stderr.ends_with(last), "{stderr}");
}
