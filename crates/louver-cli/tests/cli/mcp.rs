//! `run` with MCP servers that the configuration names.

use crate::configured::{World, provider};
use louver_sandbox::{Call, Running, Scenario, Turn};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// The example that `cargo test` builds beside the tests.
fn program() -> String {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples/mcp_server_for_run");
    assert!(program.exists(), "build it first: cargo build -p louver-cli --examples");
    program.display().to_string()
}

/// A model that calls one tool and is done.
fn calling(tool: &str) -> Scenario {
    Scenario::new("calling")
        .turn(Turn::calls([Call::new(tool, json!({}))]))
        .turn(Turn::calls([Call::new("task_complete", json!({"summary": "Called."}))]))
}

fn config(sandbox: &Running, server: &str) -> String {
    format!("provider: {}\ntools:\n  mcp_servers:\n    test: {server}\n", provider("anthropic-api", sandbox))
}

#[test]
fn a_tool_of_a_configured_server_is_called_and_the_server_is_ended() {
    let world = World::new();
    let sandbox = world.sandbox(calling("test__structured"));
    let server = format!("{{command: {}, args: [goodbye, goodbye.txt]}}", program());
    let run = world.run(&config(&sandbox, &server));
    assert!(run.done().contains("Called."), "{}", run.stdout);
    let statuses: Vec<u16> = sandbox.journal().iter().map(|entry| entry.status).collect();
    assert_eq!(statuses, [200, 200]);
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(state.contains("test__structured") && state.contains(r#"{\\\"sum\\\":3}"#), "{state}");
    assert_eq!(std::fs::read_to_string(world.path("goodbye.txt")).unwrap(), "goodbye");
}

#[test]
fn a_tool_of_a_server_at_an_address_is_called_with_the_token_it_wants() {
    let world = World::new();
    let sandbox = world.sandbox(calling("test__structured"));
    let mut listening = Command::new(program());
    let mut listening = listening.args(["http", "token", "sk-test"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(listening.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let run = world.run(&config(&sandbox, &format!("{{url: '{}', token_env: TEST_KEY}}", url.trim())));
    let unset = world.run(&config(&sandbox, &format!("{{url: '{}', token_env: NO_SUCH_TOKEN}}", url.trim())));
    listening.kill().unwrap();
    listening.wait().unwrap();
    assert!(run.done().contains("Called."), "{}", run.stdout);
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(state.contains(r#"{\\\"sum\\\":3}"#), "{state}");
    assert!(unset.refused().starts_with("tools.mcp_servers.test: no token in NO_SUCH_TOKEN: "), "{}", unset.stderr);
}

#[test]
fn a_server_sees_the_variables_that_are_named_and_no_others() {
    let world = World::new();
    let sandbox = world.sandbox(calling("test__variables"));
    let server = format!("{{command: {}, env: [SEEN]}}", program());
    let mut command = world.command(&config(&sandbox, &server));
    let output = command.env("SEEN", "yes").env("HIDDEN", "yes").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(state.contains("SEEN=yes"), "{state}");
    assert!(!state.contains("HIDDEN") && !state.contains("TEST_KEY"), "{state}");
}

#[test]
fn a_server_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let world = World::new();
    let sandbox = world.sandbox(calling("test__echo"));
    let refused = |server: String| world.run(&config(&sandbox, &server)).refused().to_owned();
    let place = "tools.mcp_servers.test: the MCP server `test`";
    let missing = refused("{command: no-such-program}".to_owned());
    let expected = "could not be started: there is no program `no-such-program`; install or correct it";
    assert_eq!(missing, format!("{place} {expected}"));
    let broken = refused(format!("{{command: {}, args: [broken]}}", program()));
    assert!(broken.starts_with(&format!("{place} ended before it was ready; it said: ")), "{broken}");
    let mute = refused(format!("{{command: {}, args: [mute], timeout_seconds: 1}}", program()));
    assert!(mute.starts_with(&format!("{place} did not get ready within 1s; start ")), "{mute}");
    let unset = refused("{command: x, env: [NO_SUCH_VARIABLE]}".to_owned());
    assert!(unset.starts_with("tools.mcp_servers.test: NO_SUCH_VARIABLE is not set: "), "{unset}");
    assert_eq!(sandbox.journal(), []);
}

#[test]
fn an_interrupt_ends_servers_that_are_not_ready_yet() {
    let world = World::new();
    let sandbox = world.sandbox(calling("test__echo"));
    assert!(Command::new("mkfifo").arg(world.path("alive")).status().unwrap().success());
    let server = format!("{{command: {}, args: [hold, alive, mute]}}", program());
    let child = world.command(&config(&sandbox, &server)).stderr(Stdio::piped()).spawn().unwrap();
    let mut alive = File::open(world.path("alive")).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(1), "Stopped before it began.\n"));
    assert_eq!(alive.read(&mut [0]).unwrap(), 0, "the server is gone");
    assert_eq!(sandbox.journal(), []);
}

#[test]
fn an_interrupt_ends_the_run_and_its_servers() {
    for signal in ["INT", "TERM"] {
        let world = World::new();
        let sandbox = world.sandbox(calling("test__hang"));
        assert!(Command::new("mkfifo").arg(world.path("alive")).status().unwrap().success());
        let server = format!("{{command: {}, args: [hold, alive, deaf]}}", program());
        let mut command = world.command(&config(&sandbox, &server));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Opens as soon as the server holds the other end.
        let mut alive = File::open(world.path("alive")).unwrap();
        while sandbox.journal().is_empty() {
            std::thread::yield_now();
        }
        assert!(
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(alive.read(&mut [0]).unwrap(), 0, "the server is gone");
        let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(stdout.contains("cancelled") && stderr.contains("--resume"), "{stdout}{stderr}");
    }
}
