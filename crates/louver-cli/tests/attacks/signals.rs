//! What is left of a run that ends early: nothing that runs.

use crate::world::{World, gone, said, shell};
use std::fs::File;
use std::process::Command;

/// Holds the pipe `alive` from a session of its own, in a child of a child, and waits for `go`.
const ESCAPING: &str = "setsid sh -c '(exec 3>alive; sleep 1000) & sleep 1000' & cat go";

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap().success());
}

#[test]
fn a_terminal_that_hangs_up_ends_the_run_and_all_it_started() {
    for name in ["HUP", "TERM", "INT"] {
        let world = World::calling([shell(ESCAPING)]);
        let alive = world.pipe("alive");
        let (child, _go) = world.waiting(&["--allow", "sh"]);
        let alive = File::open(alive).unwrap();
        signal(name, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {}", said(&output));
        assert!(said(&output).contains("--resume goes on from here"), "{name}: {}", said(&output));
        gone(alive);
    }
}

#[test]
fn a_run_that_was_told_to_outlive_its_terminal_does() {
    let world = World::calling([shell("cat go")]);
    let go = world.pipe("go");
    let louver = world.command(&["--allow", "sh"]);
    let mut command = Command::new("nohup");
    command.arg(louver.get_program()).args(louver.get_args()).current_dir(world.folder.path());
    command.env("ATTACKED_KEY", crate::world::KEY).stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let go = File::options().write(true).open(go).unwrap();
    signal("HUP", child.id());
    drop(go);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn a_kill_leaves_nothing_running_not_even_in_a_session_of_its_own() {
    let world = World::calling([shell(ESCAPING)]);
    let alive = world.pipe("alive");
    let (mut child, _go) = world.waiting(&["--allow", "sh"]);
    let alive = File::open(alive).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    gone(alive);
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let world = World::calling([
        shell(&ESCAPING.replace("cat go", "cat < /dev/null; until [ -e up ]; do sleep 0.01; done")),
        shell("echo next"),
    ]);
    let alive = world.pipe("alive");
    let child = world.command(&["--allow", "sh"]).spawn().unwrap();
    let alive = File::open(alive).unwrap();
    std::fs::write(world.inside("up"), "").unwrap();
    gone(alive);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
