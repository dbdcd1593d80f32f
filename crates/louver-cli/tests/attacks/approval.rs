//! `--ask`: nothing happens that nobody approved.

use crate::world::{KEY, World, has_program, said, shell};
use louver_sandbox::Call;
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

fn write(path: &str) -> Call {
    Call::new("write_file", json!({"path": path, "content": "x"}))
}

#[test]
fn only_what_somebody_approved_is_done() {
    if !has_program("only_what_somebody_approved_is_done", "script") {
        return;
    }
    let calls =
        [write("no"), write("once"), write("no-again"), write("always"), write("unasked"), shell("touch refused")];
    let world = World::calling(calls);
    let louver = world.command(&["--allow", "sh", "--ask"]);
    let line: Vec<String> = std::iter::once(louver.get_program())
        .chain(louver.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line.join(" "), "/dev/null"]).current_dir(world.folder.path()).env("ATTACKED_KEY", KEY);
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    terminal.stdin.take().unwrap().write_all(b"n\no\n\na\nn\n").unwrap();
    let output = terminal.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let made = ["no", "once", "no-again", "always", "unasked", "refused"].map(|name| world.inside(name).exists());
    assert_eq!(made, [false, true, false, true, true, false], "{}", said(&output));
    assert!(said(&output).contains("[o]nce, [a]lways, [n]o?"), "{}", said(&output));
}

#[test]
fn where_nobody_can_be_asked_nothing_begins() {
    if !has_program("where_nobody_can_be_asked_nothing_begins", "setsid") {
        return;
    }
    let world = World::calling([write("made")]);
    let louver = world.command(&["--ask"]);
    let mut command = Command::new("setsid");
    command.arg("--wait").arg(louver.get_program()).args(louver.get_args()).current_dir(world.folder.path());
    let output = command.env("ATTACKED_KEY", KEY).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("--ask needs a terminal"), "{}", said(&output));
    assert_eq!(world.sandbox.journal(), []);
}
