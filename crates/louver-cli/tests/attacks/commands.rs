//! Attacks by way of commands.

use crate::world::{World, elsewhere, has_landlock, has_program, is_root, said, shell};
use louver_sandbox::Call;
use serde_json::json;
use std::net::TcpListener;

fn write(path: &str, content: &str) -> Call {
    Call::new("write_file", json!({"path": path, "content": content}))
}

#[test]
fn a_repository_that_the_model_wrote_runs_nothing() {
    let test = "a_repository_that_the_model_wrote_runs_nothing";
    if !has_program(test, "git") {
        return;
    }
    let config =
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch ran; false\"\n";
    let status = || Call::new("run_command", json!({"command": "git status"}));
    let bare =
        [write("HEAD", "ref: refs/heads/main\n"), write("config", config), write("objects/x", ""), write("refs/x", "")];
    let world = World::calling(bare.into_iter().chain([status()]));
    let state = world.done(&["--allow", "git status"]);
    assert!(state.contains("[exit code 128]"), "git finds no repository: {state}");
    assert!(!world.inside("ran").exists(), "git ran what the model had written");
}

#[test]
fn a_program_that_the_model_can_write_is_not_allowed() {
    let world = World::calling([]);
    let program = world.inside("tool").canonicalize().unwrap_or_else(|_| world.inside("tool"));
    std::fs::write(&program, "#!/bin/sh\ntouch ran\n").unwrap();
    let output = world.run(&["--allow", program.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("is a program inside the root"), "{}", said(&output));
    assert!(!world.path("run.state").exists());
}

#[test]
fn a_command_reads_and_writes_nothing_outside_of_the_root() {
    let test = "a_command_reads_and_writes_nothing_outside_of_the_root";
    if !has_landlock(test) {
        return;
    }
    let Some(elsewhere) = elsewhere(test) else { return };
    let read = format!("cat '{}' || echo unread", elsewhere.display());
    let write = "echo x > ../escaped || echo unwritten";
    let remove = "rm ../TASK.md || echo unremoved";
    let link = format!("ln -s '{}' link; cat link || echo unlinked", elsewhere.display());
    let own = "echo fine > made && cat made && echo tmp > $TMPDIR/x && cat $TMPDIR/x && echo $TMPDIR > where";
    let world = World::calling([shell(&read), shell(write), shell(remove), shell(&link), shell(own)]);
    let state = world.done(&["--allow", "sh"]);
    for sign in ["unread", "unwritten", "unremoved", "unlinked", "fine\\\\ntmp"] {
        assert!(state.contains(sign), "{sign}: {state}");
    }
    assert!(!state.contains("louver-cli\\\\\\\""), "the file's text: {state}");
    assert!(!world.path("escaped").exists() && world.path("TASK.md").exists());
    let temporary = std::fs::read_to_string(world.inside("where")).unwrap();
    assert!(!std::path::Path::new(temporary.trim()).exists(), "the temporary folder {temporary} is gone");
}

#[test]
fn tcp_is_off_unless_it_is_allowed() {
    let test = "tcp_is_off_unless_it_is_allowed";
    if louver_agent::launch::Guard::of_this_kernel() != louver_agent::launch::Guard::Full {
        eprintln!("not run: {test}: the Landlock of this kernel does not know TCP");
        return;
    }
    if !has_program(test, "bash") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{} && echo connected", listener.local_addr().unwrap().port());
    let call = || Call::new("run_command", json!({"command": "bash", "args": ["-c", connect]}));
    let state = World::calling([call()]).done(&["--allow", "bash"]);
    assert!(state.contains("Permission denied") && !state.contains("connected\\\\n"), "{state}");
    let state = World::calling([call()]).done(&["--allow", "bash", "--allow-tcp"]);
    assert!(state.contains("connected\\\\n"), "{state}");
}

#[test]
fn a_command_takes_only_so_much_of_the_machine() {
    let limits = "ulimit -c > limits; ulimit -f >> limits; ulimit -d >> limits; truncate -s 9G big || echo too large";
    let world = World::calling([shell(limits)]);
    let state = world.done(&["--allow", "sh"]);
    // Blocks of 512 bytes, and kilobytes.
    assert_eq!(std::fs::read_to_string(world.inside("limits")).unwrap(), "0\n8388608\n8388608\n", "{state}");
    assert!(!world.inside("big").exists() || std::fs::metadata(world.inside("big")).unwrap().len() <= 4 << 30);
}

/// Starts more processes than a command may have, and says so if it can.
const CROWD: &str = "i=0; while [ $i -lt 700 ]; do sleep 60 & i=$((i+1)); done; echo all $i; wait";

#[test]
fn a_command_that_starts_a_crowd_is_ended_with_all_of_it() {
    let world = World::calling([shell(CROWD)]);
    let state = world.done(&["--allow", "sh"]);
    assert!(!state.contains("[exit code 0]"), "{state}");
    // An administrator's processes are counted by the attendant, which kills; anybody else's by the kernel.
    let sign = if is_root() { "[killed by signal 9]" } else { "ork" };
    assert!(state.contains(sign), "{state}");
}

#[test]
fn the_kernel_gives_a_user_only_so_many_processes() {
    let test = "the_kernel_gives_a_user_only_so_many_processes";
    let world = World::calling([shell(CROWD)]);
    let Some(mut command) = world.unprivileged(test, &["--allow", "sh"]) else { return };
    let output = command.output().unwrap();
    let state = std::fs::read_to_string(world.path("run.state")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(state.contains("ork") && !state.contains("all 700"), "sh says that it cannot fork: {state}");
}

#[test]
fn a_read_only_run_changes_nothing() {
    if !has_landlock("a_read_only_run_changes_nothing") {
        return;
    }
    let world = World::calling([write("made", "x"), shell("cat kept; echo x > made || echo unwritten; rm kept")]);
    std::fs::write(world.inside("kept"), "kept").unwrap();
    let state = world.done(&["--allow", "sh", "--read-only"]);
    assert!(state.contains("there is no tool `write_file`") || !state.contains("created made"), "{state}");
    assert!(state.contains("unwritten"), "{state}");
    assert!(!world.inside("made").exists() && world.inside("kept").exists());
}

#[test]
fn a_server_is_confined_where_that_is_said() {
    let test = "a_server_is_confined_where_that_is_said";
    let tests = std::env::current_exe().unwrap();
    let server = tests.parent().unwrap().parent().unwrap().join("examples/mcp_server_for_run");
    if !server.exists() {
        eprintln!("not run: {test}: build it first: cargo build -p louver-cli --examples");
        return;
    }
    if !has_landlock(test) {
        return;
    }
    let world = World::calling([Call::new("test__structured", json!({}))]);
    for (confine, is_left) in [(true, false), (false, true)] {
        let goodbye = world.path("goodbye");
        let (server, at) = (server.display(), goodbye.display());
        world.configure(&format!(
            "tools: {{mcp_servers: {{test: {{command: '{server}', args: [goodbye, '{at}'], confine: {confine}}}}}}}"
        ));
        world.done(&["--force"]);
        assert_eq!(goodbye.exists(), is_left, "confine: {confine}");
    }
    let output = world.run(&["--read-only", "--force"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("give it `confine: true`"), "{}", said(&output));
}
