//! A state file replaces nothing that is not its own, is one run's alone, and is out of the tools' reach.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver_agent::tools::{Limits, Root, ToolSet};
use louver_agent::{Executor, ExecutorConfig, Existing, RunError, RunOutcome, StateError};
use louver_sandbox::{Call, Scenario, Turn};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use world::{Api, World};

fn executor(world: &World, state: &Path, existing: Existing) -> Executor {
    let options = world.options();
    let config = ExecutorConfig { state_file: Some(state.to_owned()), existing, ..ExecutorConfig::new(options) };
    Executor::new(world.provider.clone(), world.tools.clone(), config)
}

async fn refusal(world: &World, state: &Path, existing: Existing) -> StateError {
    match executor(world, state, existing).run("Go.").await {
        Err(RunError::State(error)) => error,
        other => panic!("{}: {other:?}", state.display()),
    }
}

#[tokio::test]
async fn nothing_that_is_no_state_file_is_replaced_forced_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("notes"), "my notes\n").unwrap();
    std::fs::write(path("empty"), "").unwrap();
    std::fs::write(path("binary"), [0xff, 0, 0xfe]).unwrap();
    std::fs::write(path("json"), "{\"messages\": []}\n").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    symlink(path("notes"), path("link")).unwrap();
    symlink(path("nowhere"), path("dangling")).unwrap();
    std::fs::hard_link(path("notes"), path("other-name")).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    let world = World::new(Api::Chat, world::steps(1)).await;
    let others = ["notes", "empty", "binary", "json", "folder", "link", "dangling", "other-name", "pipe", "/dev/null"];
    for name in others {
        for existing in [Existing::Protect, Existing::Override] {
            let error = refusal(&world, &path(name), existing).await;
            assert!(matches!(error, StateError::Occupied { .. }), "{name}: {error}");
            let resumed = executor(&world, &path(name), existing).resume(&path(name)).await;
            assert!(resumed.is_err(), "{name}");
        }
    }
    assert_eq!(std::fs::read_to_string(path("notes")).unwrap(), "my notes\n");
    assert!(
        !path("nowhere").exists() && path("link").is_symlink() && std::fs::metadata(path("empty")).unwrap().len() == 0
    );
    assert_eq!(world.sandbox.journal(), [], "nobody was asked");
}

#[tokio::test]
async fn an_unfinished_run_is_lost_only_where_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let blocked_by_silence = World::new(Api::Chat, Scenario::new("idle").turn(Turn::text("Hm."))).await;
    let mut config = ExecutorConfig::new(blocked_by_silence.options());
    (config.max_iterations, config.state_file) = (1, Some(state.clone()));
    let world = &blocked_by_silence;
    let unfinished = Executor::new(world.provider.clone(), world.tools.clone(), config).run("Go.").await.unwrap();
    assert_eq!(unfinished.outcome, RunOutcome::OutOfIterations);
    let kept = std::fs::read(&state).unwrap();

    let world = World::new(Api::Chat, world::steps(1)).await;
    assert!(matches!(refusal(&world, &state, Existing::Protect).await, StateError::Unfinished(_)));
    assert_eq!(std::fs::read(&state).unwrap(), kept);
    executor(&world, &state, Existing::Override).run("Go.").await.unwrap();
    let finished = executor(&world, &state, Existing::Protect).run("Go.").await.unwrap();
    assert_eq!(finished.outcome, RunOutcome::Completed("All done.".to_owned()), "a finished run makes room");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left behind");
}

#[tokio::test]
async fn a_run_that_ended_holds_nothing_whatever_was_started_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let world = World::new(Api::Chat, world::steps(1)).await;
    let is_over = Arc::new(AtomicBool::new(false));
    // A process that is being started has, for a moment, everything open that we have.
    let others = {
        let is_over = is_over.clone();
        let start = move || {
            while !is_over.load(Ordering::Relaxed) {
                assert!(Command::new("true").status().unwrap().success());
            }
        };
        [std::thread::spawn(start.clone()), std::thread::spawn(start)]
    };
    for _ in 0..60 {
        executor(&world, &state, Existing::Protect).run("Go.").await.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[tokio::test]
async fn another_task_is_not_slipped_under_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let world = World::new(Api::Chat, world::steps(1)).await;
    executor(&world, &state, Existing::Protect).run("Go.").await.unwrap();
    let error = executor(&world, &state, Existing::Protect).resume_task(&state, "Stop.").await.unwrap_err();
    assert!(matches!(error, RunError::State(StateError::OtherTask(_))), "{error}");
    for (existing, task) in [(Existing::Protect, "Go."), (Existing::Override, "Stop.")] {
        executor(&world, &state, existing).resume_task(&state, task).await.unwrap();
    }
}

#[tokio::test]
async fn one_run_has_it_at_a_time_and_its_owner_alone_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let world =
        World::new(Api::Chat, Scenario::new("slow").turn(Turn::calls([Call::new("hang", json!({"path": "x"}))]))).await;
    let first = executor(&world, &state, Existing::Protect);
    let cancel = {
        let mut config = ExecutorConfig::new(world.options());
        config.state_file = Some(state.clone());
        let cancel = config.options.cancel.clone();
        let executor = Executor::new(world.provider.clone(), world.tools.clone(), config);
        let running = tokio::spawn(async move { executor.run("Go.").await });
        while world.sandbox.journal().is_empty() {
            tokio::task::yield_now().await;
        }
        (cancel, running)
    };
    let in_use = |error: &RunError| matches!(error, RunError::State(StateError::InUse(_)));
    let resumed = first.resume(&state).await.unwrap_err();
    assert!(in_use(&resumed), "{resumed}");
    let anew = executor(&world, &state, Existing::Override).run("Go.").await.unwrap_err();
    assert!(in_use(&anew), "{anew}");
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600);
    cancel.0.cancel();
    cancel.1.await.unwrap().unwrap();

    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o644)).unwrap();
    let world = World::new(Api::Chat, world::steps(1)).await;
    executor(&world, &state, Existing::Protect).resume(&state).await.unwrap();
    assert_eq!(std::fs::metadata(&state).unwrap().permissions().mode() & 0o777, 0o600, "and is made private again");
}

#[tokio::test]
async fn a_state_file_inside_the_root_is_out_of_the_tools_reach() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("run.state");
    std::fs::write(&state, "{\"task\": \"needle\"}").unwrap();
    std::fs::hard_link(&state, folder.path().join("other-name")).unwrap();
    symlink("run.state", folder.path().join("link")).unwrap();
    let mut root = Root::open(folder.path()).unwrap();
    root.hide(&state).unwrap();
    let tools = Arc::new(ToolSet::for_root(&root, Limits::default()));
    for name in ["run.state", "./x/../run.state", "other-name", "link"] {
        let read = tools.call("read_file", json!({"path": name})).await;
        assert!(read.is_error && read.text.contains("belongs to the run itself"), "{name}: {}", read.text);
    }
    for name in ["run.state", "other-name"] {
        let written = tools.call("write_file", json!({"path": name, "content": "forged"})).await;
        assert!(written.is_error && written.text.contains("belongs to the run itself"), "{name}: {}", written.text);
    }
    let listed = tools.call("list_files", json!({})).await.text;
    assert!(!listed.contains("run.state"), "{listed}");
    let found = tools.call("search_files", json!({"pattern": "needle"})).await.text;
    assert!(!found.contains("needle"), "{found}");
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "{\"task\": \"needle\"}");
}

#[tokio::test]
async fn a_run_stops_when_somebody_else_writes_to_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let world =
        World::new(Api::Chat, Scenario::new("slow").turn(Turn::calls([Call::new("slow", json!({"path": "x"}))]))).await;
    let other = state.clone();
    let mut config = ExecutorConfig::new(world.options());
    config.state_file = Some(state.clone());
    config.options.observer = louver_agent::Observer::new(move |event| {
        if matches!(event, louver_agent::RunEvent::Answered { .. }) {
            std::fs::write(&other, "forged\n").unwrap();
        }
    });
    let summary = Executor::new(world.provider.clone(), world.tools.clone(), config).run("Go.").await.unwrap();
    let RunOutcome::Failed(error) = summary.outcome else { panic!("{:?}", summary.outcome) };
    assert!(error.to_string().contains("was changed by somebody else"), "{error}");
    assert_eq!(std::fs::read_to_string(&state).unwrap(), "forged\n");
}
