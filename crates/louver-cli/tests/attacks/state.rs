//! Attacks on the state file, and by it.

use crate::world::{World, said, shell};
use louver_sandbox::Call;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn a_document_a_link_and_a_device_stay_what_they_are() {
    let world = World::calling([]);
    std::fs::write(world.path("thesis.md"), "years of work").unwrap();
    symlink(world.path("thesis.md"), world.path("link")).unwrap();
    for (path, what) in
        [("thesis.md", "no state file"), ("link", "a symbolic link"), ("/dev/null", "a device"), ("root", "a folder")]
    {
        for force in [&["--state", path][..], &["--state", path, "--force"], &["--state", path, "--resume"]] {
            let output = run_with_state(&world, force);
            assert_eq!(output.status.code(), Some(2), "{path}: {}", said(&output));
            let is_named = said(&output).contains(what) || force.contains(&"--resume");
            assert!(is_named, "{path}: {}", said(&output));
        }
    }
    assert_eq!(std::fs::read_to_string(world.path("thesis.md")).unwrap(), "years of work");
    assert_eq!(world.sandbox.journal(), []);
}

fn run_with_state(world: &World, arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("louver"));
    command.current_dir(world.folder.path()).env("ATTACKED_KEY", crate::world::KEY);
    command.args(["run", "TASK.md", "--config", "config.yml", "--root", "root"]).args(arguments);
    command.output().unwrap()
}

#[test]
fn two_resumes_at_once_are_one() {
    let world = World::calling([shell("cat go"), shell("echo again")]);
    let (first, go) = world.waiting(&["--allow", "sh"]);
    for arguments in [&["--resume", "--allow", "sh"][..], &["--force", "--allow", "sh"], &["--allow", "sh"]] {
        let second = world.run(arguments);
        assert_eq!(second.status.code(), Some(2), "{}", said(&second));
        assert!(said(&second).contains("is in use: another run goes on with it"), "{}", said(&second));
    }
    drop(go);
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let mode = std::fs::metadata(world.path("run.state")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_unfinished_run_and_its_task_are_kept() {
    let world = World::calling([shell("cat go"), shell("echo again")]);
    let (mut first, go) = world.waiting(&["--allow", "sh"]);
    first.kill().unwrap();
    first.wait().unwrap();
    drop(go);
    let anew = world.run(&["--allow", "sh"]);
    assert_eq!(anew.status.code(), Some(2), "{}", said(&anew));
    assert!(said(&anew).contains("not finished: --resume goes on with it, --force starts anew"), "{}", said(&anew));
    std::fs::write(world.path("TASK.md"), "Do something else.").unwrap();
    let other = world.run(&["--allow", "sh", "--resume"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("put TASK.md back as it was"), "{}", said(&other));
    let told = world.run(&["--allow", "sh", "--resume", "--force"]);
    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
}

#[test]
fn the_model_does_not_reach_its_own_state_or_configuration() {
    let world = World::calling([
        Call::new("read_file", json!({"path": "run.state"})),
        Call::new("write_file", json!({"path": "run.state", "content": "forged"})),
        Call::new("write_file", json!({"path": "own.yml", "content": "tools: {mcp_servers: {x: {command: evil}}}"})),
    ]);
    let config = std::fs::read_to_string(world.path("config.yml")).unwrap();
    std::fs::write(world.inside("own.yml"), &config).unwrap();
    let output = run_inside(&world, &["--config", "own.yml", "--state", "run.state"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let state = std::fs::read_to_string(world.inside("run.state")).unwrap();
    assert_eq!(
        state.matches("belongs to the run itself and is out of reach").count(),
        6,
        "result and message each: {state}"
    );
    assert_eq!(std::fs::read_to_string(world.inside("own.yml")).unwrap(), config);
}

fn run_inside(world: &World, arguments: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("louver"));
    command.current_dir(world.path("root")).env("ATTACKED_KEY", crate::world::KEY);
    command.args(["run", "../TASK.md"]).args(arguments).output().unwrap()
}

#[test]
fn no_command_runs_beside_a_file_that_the_run_depends_on() {
    let world = World::calling([shell("echo forged > run.state")]);
    let config = std::fs::read_to_string(world.path("config.yml")).unwrap();
    std::fs::write(world.inside("own.yml"), &config).unwrap();
    for (files, said_of_them) in [
        (&["--config", "../config.yml", "--state", "run.state"][..], "run.state is inside the root"),
        (&["--config", "own.yml", "--state", "../run.state"], "own.yml is inside the root"),
        (
            &["--config", "../config.yml", "--log", "run.log", "--events", "./made.jsonl"],
            "run.log, made.jsonl are inside the root",
        ),
    ] {
        let output = run_inside(&world, &[files, &["--allow", "sh"]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(said_of_them) && said(&output).contains("keep"), "{}", said(&output));
    }
    let confined = format!("{config}tools: {{mcp_servers: {{x: {{command: sh, confine: true}}}}}}\n");
    std::fs::write(world.path("config.yml"), confined).unwrap();
    let output = run_inside(&world, &["--config", "../config.yml", "--state", "run.state"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("run.state is inside the root"), "{}", said(&output));
    let left: Vec<_> = std::fs::read_dir(world.path("root")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((left, world.sandbox.journal()), (vec!["own.yml".into()], vec![]), "nothing was begun");
}
