use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use louver_agent::tools::{AllowList, ArgumentPaths, Environment, Limits, Root, RunCommand, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{Fixture, SECRET};

fn allow(programs: &[&str]) -> Fixture {
    Fixture::with(Limits::default(), programs)
}

fn script(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn shell(line: &str) -> Value {
    json!({"command": "sh", "args": ["-c", line]})
}

#[tokio::test]
async fn a_command_runs_in_the_root_and_its_output_and_exit_code_come_back() {
    let fixture = allow(&["sh", "pwd", "cat"]);
    let root = fixture.path("").canonicalize().unwrap();
    assert_eq!(
        fixture.ok("run_command", json!({"command": "pwd"})).await,
        format!("{}\n[exit code 0]", root.display())
    );
    let text = fixture.refused("run_command", shell("echo out; echo err >&2; echo out; exit 3")).await;
    assert_eq!(text, "out\nerr\nout\n[exit code 3]");
    assert_eq!(fixture.refused("run_command", shell("kill -9 $$")).await, "[killed by signal 9]");
    assert_eq!(fixture.ok("run_command", shell("printf x")).await, "x\n[exit code 0]");
}

#[tokio::test]
async fn there_is_nothing_to_read_on_standard_input() {
    let fixture = allow(&["cat"]);
    assert_eq!(fixture.ok("run_command", json!({"command": "cat"})).await, "[exit code 0]");
}

#[tokio::test]
async fn arguments_reach_the_program_as_they_are() {
    let fixture = allow(&["printf"]);
    let odd =
        ["; rm -rf x", "$(touch x)", "`touch x`", "a\nb", "-rf", "--help", "*", "~", "| sh", "a b", "", "'", "\\", "é"];
    for argument in odd {
        let text = fixture.ok("run_command", json!({"command": "printf '<%s>'", "args": [argument]})).await;
        assert_eq!(text, format!("<{argument}>\n[exit code 0]"));
    }
    assert_eq!(std::fs::read_dir(fixture.path("")).unwrap().count(), 0);
}

#[tokio::test]
async fn shell_syntax_is_refused_and_does_nothing() {
    let fixture = allow(&["echo", "touch"]);
    let commands = [
        "echo a; touch x",
        "echo a && touch x",
        "echo a | touch x",
        "echo $(touch x)",
        "echo `touch x`",
        "echo a\ntouch x",
        "echo a > x",
        "echo \"$(touch x)\"",
        "echo a & touch x",
        "echo 'a",
        "echo $IFS",
        "touch *",
    ];
    for command in commands {
        fixture.refused("run_command", json!({"command": command})).await;
    }
    assert_eq!(std::fs::read_dir(fixture.path("")).unwrap().count(), 0);
}

#[tokio::test]
async fn programs_that_are_not_listed_do_not_run_by_any_name() {
    let fixture = allow(&["git status", "echo"]);
    script(&fixture.path("echo"), "touch ran");
    script(&fixture.path("tool"), "touch ran");
    fixture.link("rm", "/bin/rm");
    let commands = [
        "rm -rf x",
        "/bin/rm x",
        "./echo",
        "./tool",
        "./rm x",
        "/bin/echo x",
        "echo/../tool",
        "../root/tool",
        "git push",
        "git -c alias.status=!touch status",
        "env echo",
        "ECHO x",
        "'echo x'",
        "-c x",
        "''",
        "PATH=. echo",
    ];
    for command in commands {
        let text = fixture.refused("run_command", json!({"command": command})).await;
        assert!(text.contains("is not allowed; commands must start with one of: git status, echo"), "{text}");
    }
    assert!(!fixture.path("ran").exists());
    let text = allow(&[]).refused("run_command", json!({"command": "ls"})).await;
    assert_eq!(text, "run_command: the command `ls` is not allowed; no command is allowed");
}

#[tokio::test]
async fn a_program_that_the_model_could_have_written_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = allow(&["tool"]);
    script(&fixture.path("tool"), "echo written by the model");
    let run = async |path: String| {
        let environment = Environment::new([("PATH", path)]);
        let elsewhere = Fixture::with_environment(Limits::default(), &["tool"], environment);
        script(&elsewhere.path("tool"), "echo written by the model");
        std::fs::remove_file(folder.path().join("tool")).ok();
        std::os::unix::fs::symlink(elsewhere.path("tool"), folder.path().join("tool")).unwrap();
        elsewhere.refused("run_command", json!({"command": "tool"})).await
    };
    let expected = "run_command: the program `tool` is not installed; use another one";
    for path in [".", "", ":.:", folder.path().to_str().unwrap()] {
        assert_eq!(run(path.to_owned()).await, expected, "{path}");
    }
}

#[tokio::test]
async fn an_allowed_program_inside_the_root_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    script(&path.join("tool"), "echo written by the model");
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(path.join("tool"), link.path().join("tool")).unwrap();
    for program in [path.join("tool"), link.path().join("tool")] {
        let root = Root::open(&path).unwrap();
        let allow = AllowList::new([program.to_str().unwrap()]).unwrap();
        let error = allow.check_root(&root).unwrap_err().to_string();
        assert!(error.contains("is a program inside the root"), "{error}");
        let tool = RunCommand::new(root, Limits::default(), allow, Environment::default());
        let output = tool.call(json!({"command": program})).await;
        assert!(output.is_error && output.text.contains("is inside the root"), "{}", output.text);
    }
    let allow = AllowList::new(["/usr/bin/env", "tool"]).unwrap();
    assert_eq!(allow.check_root(&Root::open(&path).unwrap()), Ok(()));
}

#[tokio::test]
async fn a_repository_that_the_model_wrote_runs_nothing() {
    let fixture = allow(&["git status"]);
    // The files of a bare repository, whose settings name a program.
    let config =
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch ran; false\"\n";
    for (path, content) in [("HEAD", "ref: refs/heads/main\n"), ("config", config), ("objects/x", ""), ("refs/x", "")] {
        fixture.ok("write_file", json!({"path": path, "content": content})).await;
    }
    fixture.refused("run_command", json!({"command": "git status"})).await;
    assert!(!fixture.path("ran").exists(), "git ran what the model had written");
}

#[tokio::test]
async fn neither_hooks_nor_watchers_of_a_repository_run() {
    let fixture = allow(&["git"]);
    fixture.ok("run_command", json!({"command": "git init -q"})).await;
    script(&fixture.path(".git/hooks/pre-commit"), "touch ran");
    fixture.ok("run_command", json!({"command": "git config core.fsmonitor", "args": ["touch ran; false"]})).await;
    fixture.ok("run_command", json!({"command": "git status"})).await;
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    fixture.ok("run_command", json!({"command": commit})).await;
    assert!(!fixture.path("ran").exists());
}

#[tokio::test]
async fn arguments_that_point_out_of_the_root_are_refused() {
    let fixture = allow(&["cat", "cp"]);
    fixture.link("out", "../outside");
    for argument in ["../outside/secret.txt", "out/secret.txt", "/etc/passwd", "--x=../outside/secret.txt"] {
        let text = fixture.refused("run_command", json!({"command": "cat", "args": [argument]})).await;
        assert!(text.contains("points out of the root") && !text.contains(SECRET), "{text}");
    }
    fixture.write("a.txt", "inside");
    let own = fixture.path("a.txt").canonicalize().unwrap();
    assert_eq!(fixture.ok("run_command", json!({"command": "cat", "args": [own]})).await, "inside\n[exit code 0]");
}

#[tokio::test]
async fn a_command_sees_only_the_variables_it_is_given() {
    let fixture = Fixture::with_environment(
        Limits::default(),
        &["env"],
        Environment::new([("PATH", std::env::var_os("PATH").unwrap()), ("SHOWN", "yes".into())]),
    );
    // Cargo sets this for tests; it stands for the keys that the process holds.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let text = fixture.ok("run_command", json!({"command": "env"})).await;
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    names.sort_unstable();
    let git = [
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_KEY_1",
        "GIT_CONFIG_KEY_2",
        "GIT_CONFIG_VALUE_0",
        "GIT_CONFIG_VALUE_1",
        "GIT_CONFIG_VALUE_2",
        "GIT_TERMINAL_PROMPT",
    ];
    assert_eq!(names, [&git[..], &["PATH", "SHOWN"]].concat());

    let inherited: [&str; 0] = [];
    let fixture = Fixture::with_environment(Limits::default(), &["env"], Environment::inherit(inherited));
    let text = fixture.ok("run_command", json!({"command": "env"})).await;
    assert!(text.contains("PATH=") && !text.contains("CARGO_MANIFEST_DIR"), "{text}");
}

#[tokio::test]
async fn the_time_limit_kills_the_program_and_what_it_started() {
    let limits = Limits { command_time: Duration::from_millis(500), ..Limits::default() };
    let fixture = Fixture::with(limits, &["sh"]);
    let alive = fixture.pipe("alive");
    let text =
        fixture.refused("run_command", shell("exec 3>alive; (sleep 1000 & sleep 1000) & echo up; sleep 1000")).await;
    assert_eq!(text, "up\n[killed after 500ms; run something that takes less]");
    alive.closed();
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_killed_and_not_waited_for() {
    let fixture = allow(&["sh"]);
    let alive = fixture.pipe("alive");
    let text = fixture.ok("run_command", shell("exec 3>alive; sleep 1000 & echo done")).await;
    assert_eq!(text, "done\n[exit code 0]");
    alive.closed();
}

#[tokio::test]
async fn a_process_in_a_session_of_its_own_does_not_hold_the_call_up() {
    let fixture = allow(&["sh"]);
    let text = fixture.ok("run_command", shell("setsid sleep 5 & echo done")).await;
    assert_eq!(text, "done\n[exit code 0]");
}

#[tokio::test]
async fn a_call_that_is_dropped_kills_the_program_and_what_it_started() {
    let fixture = allow(&["sh"]);
    let mut alive = fixture.pipe("alive");
    let tools = fixture.tools.clone();
    let line = "exec 3>alive; sleep 1000 & echo up >&3; sleep 1000";
    let call = tokio::spawn(async move { tools.call("run_command", shell(line)).await });
    alive.written().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    alive.closed();
}

#[tokio::test]
async fn of_long_output_the_start_and_the_end_are_kept() {
    let fixture = Fixture::with(Limits { output_bytes: 40, ..Limits::default() }, &["seq"]);
    let text = fixture.ok("run_command", json!({"command": "seq 1 100000"})).await;
    let start = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10";
    assert_eq!(text, format!("{start}\n[... 588855 bytes left out ...]\n\n99998\n99999\n100000\n[exit code 0]"));
}

#[tokio::test]
async fn a_program_that_never_stops_printing_is_killed() {
    let limits = Limits { output_bytes: 100, printed_bytes: 1 << 20, ..Limits::default() };
    let fixture = Fixture::with(limits, &["yes"]);
    let text = fixture.refused("run_command", json!({"command": "yes"})).await;
    assert!(text.ends_with("[killed after printing 1048576 bytes; run something that prints less]"), "{text}");
    assert!(text.len() < 400);
}

#[tokio::test]
async fn output_that_is_no_text_does_no_harm() {
    let fixture = allow(&["printf"]);
    let text = fixture.ok("run_command", json!({"command": r"printf '\377\000a'"})).await;
    assert_eq!(text, "\u{fffd}\0a\n[exit code 0]");
}

#[tokio::test]
async fn absurd_requests_are_refused() {
    let fixture = allow(&["echo"]);
    let refused = async |arguments: Value| fixture.refused("run_command", arguments).await;
    assert!(refused(json!({"command": ""})).await.contains("the command is empty"));
    assert!(refused(json!({"command": "echo", "args": ["a\0b"]})).await.contains("NUL"));
    assert!(
        refused(json!({"command": "echo", "args": vec!["x"; 100_000]})).await.contains("put what is long in a file")
    );
    assert!(refused(json!({"command": format!("echo {}", "x".repeat(1 << 20))})).await.contains("bytes, more than"));
    for seconds in [0u64, 121, 1_000_000_000, u64::MAX] {
        let text = refused(json!({"command": "echo", "timeout_seconds": seconds})).await;
        assert_eq!(text, "run_command: timeout_seconds must be between 1 and 120");
    }
    assert!(refused(json!({"command": "echo", "args": "x"})).await.contains("expected a sequence"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let fixture = allow(&["no-such-program", "/no/such/program"]);
    let text = fixture.refused("run_command", json!({"command": "no-such-program"})).await;
    assert_eq!(text, "run_command: the program `no-such-program` is not installed; use another one");
    let text = fixture.refused("run_command", json!({"command": "/no/such/program"})).await;
    assert!(text.starts_with("run_command: `/no/such/program` could not be run: "), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_arguments_reach_the_program_as_they_are(args in prop::collection::vec("[^\0]{0,12}", 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let environment = Environment::new([("PATH", std::env::var_os("PATH").unwrap())]);
        let tool = RunCommand::new(root, Limits::default(), AllowList::new(["printf"]).unwrap(), environment)
            .argument_paths(ArgumentPaths::Anywhere);
        let expected: String = args.iter().map(|argument| format!("<{argument}>")).collect();
        let output = runtime.block_on(tool.call(json!({"command": "printf '<%s>'", "args": args})));
        prop_assert_eq!(output.text, format!("{expected}\n[exit code 0]"));
    }

    #[test]
    fn no_command_line_runs_anything_but_what_is_allowed(
        words in prop::collection::vec(prop::sample::select(vec![
            "echo", "touch", "made", " ", " ", ";", "&", "&&", "|", "||", "$(", ")", "`", ">", "<", "\n", "\r", "'", "\"",
            "\\", "{", "}", "$IFS", "-", "=", "#", "!", "./", "/bin/", "\u{a0}",
        ]), 0..10)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let fixture = allow(&["echo"]);
        let command = format!("echo {}", words.concat());
        for command in [words.concat(), command] {
            runtime.block_on(fixture.call("run_command", json!({"command": command})));
            prop_assert_eq!(std::fs::read_dir(fixture.path("")).unwrap().count(), 0, "{}", command);
        }
    }
}
