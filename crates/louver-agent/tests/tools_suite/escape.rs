//! No way out of the root, whatever the path.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::fixture::{Fixture, SECRET};

/// Links of every kind that lead out.
fn trap() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("inside/file.txt", "inside\n");
    fixture.link("file", "../outside/secret.txt");
    fixture.link("folder", "../outside");
    fixture.link("absolute", fixture.outside());
    fixture.link("chain", "folder/secret.txt");
    fixture.link("up", "..");
    fixture.link("inside/up", "../..");
    fixture.link("loop", "loop");
    fixture.link("new", "../outside/new.txt");
    fixture.link("etc", "/etc");
    fixture
}

fn ways_out(fixture: &Fixture) -> Vec<String> {
    let outside = fixture.outside().display().to_string();
    let paths = [
        "../outside/secret.txt",
        "inside/../../outside/secret.txt",
        "file",
        "folder/secret.txt",
        "absolute/secret.txt",
        "chain",
        "up/outside/secret.txt",
        "inside/up/outside/secret.txt",
        "./folder/./secret.txt",
        "/etc/passwd",
        "etc/passwd",
        "folder/new.txt",
        "new",
        "up/new.txt",
        "folder/a/b/new.txt",
        "../new.txt",
        "/proc/self/environ",
        "inside/../folder/secret.txt",
        "..",
        "up",
        "folder",
        "/",
        "//",
        "loop",
        "loop/x",
    ];
    let absolute =
        [format!("{outside}/secret.txt"), outside, format!("{}/../outside/secret.txt", fixture.path("").display())];
    paths.into_iter().map(str::to_owned).chain(absolute).collect()
}

#[tokio::test]
async fn no_tool_follows_any_way_out() {
    let fixture = trap();
    let before = fixture.snapshot_outside();
    for path in ways_out(&fixture) {
        let calls = [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path, "recursive": true})),
            ("search_files", json!({"path": path, "pattern": "may"})),
            ("write_file", json!({"path": path, "content": "overwritten"})),
        ];
        for (tool, arguments) in calls {
            let text = fixture.refused(tool, arguments).await;
            assert!(!text.contains(SECRET), "{tool} {path}: {text}");
        }
    }
    assert_eq!(fixture.snapshot_outside(), before);
}

#[tokio::test]
async fn walks_pass_over_links_that_lead_out() {
    let fixture = trap();
    let listed = fixture.ok("list_files", json!({"recursive": true})).await;
    assert!(listed.contains("folder@\n") && !listed.contains("secret"), "{listed}");
    let found = fixture.ok("search_files", json!({"pattern": "."  , "regex": true})).await;
    assert_eq!(found, "inside/file.txt:1: inside\n");
}

#[tokio::test]
async fn a_refusal_says_what_to_do_instead() {
    let fixture = trap();
    let refused = async |path: &str| fixture.refused("read_file", json!({"path": path})).await;
    let expected = "read_file: the path `../x` leads out of the root; give one relative to the root";
    assert_eq!(refused("../x").await, expected);
    let expected = "read_file: `folder/secret.txt` leads out of the root through a symbolic link; \
                    only what is inside the root can be used";
    assert_eq!(refused("folder/secret.txt").await, expected);
}

#[tokio::test]
async fn links_that_stay_inside_work() {
    let fixture = trap();
    fixture.link("short", "inside/file.txt");
    fixture.link("shortcut", "inside");
    assert_eq!(fixture.ok("read_file", json!({"path": "short"})).await, "inside\n");
    let output = fixture.call("write_file", json!({"path": "shortcut/new.txt", "content": "x"})).await;
    assert_eq!(output.files_changed, [std::path::PathBuf::from("inside/new.txt")]);
    assert!(fixture.path("inside/new.txt").exists());
}

#[tokio::test]
async fn the_root_may_be_named_by_its_full_path() {
    let fixture = trap();
    let path = fixture.path("inside/file.txt").display().to_string();
    assert_eq!(fixture.ok("read_file", json!({"path": path})).await, "inside\n");
}

#[tokio::test]
async fn a_folder_that_turns_into_a_link_between_two_calls_opens_nothing() {
    let fixture = trap();
    let before = fixture.snapshot_outside();
    fixture.ok("write_file", json!({"path": "work/secret.txt", "content": "own"})).await;
    std::fs::remove_dir_all(fixture.path("work")).unwrap();
    fixture.link("work", "../outside");
    fixture.refused("read_file", json!({"path": "work/secret.txt"})).await;
    fixture.refused("write_file", json!({"path": "work/secret.txt", "content": "overwritten"})).await;
    fixture.refused("write_file", json!({"path": "work/deeper/new.txt", "content": "overwritten"})).await;
    fixture.refused("list_files", json!({"path": "work"})).await;
    assert_eq!(fixture.snapshot_outside(), before);
}

/// The link comes and goes while the tools are at work; checking a path first and opening it later would lose this.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_turns_into_a_link_during_a_call_opens_nothing() {
    let fixture = trap();
    let before = fixture.snapshot_outside();
    fixture.write("flip/secret.txt", "own");
    fixture.link("trap", "../outside");
    let is_over = Arc::new(AtomicBool::new(false));
    let flipper = std::thread::spawn({
        let (flip, trap) = (fixture.path("flip"), fixture.path("trap"));
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &flip, CWD, &trap, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    for _ in 0..300 {
        let read = fixture.call("read_file", json!({"path": "flip/secret.txt"})).await;
        assert!(!read.text.contains(SECRET), "{}", read.text);
        fixture.call("write_file", json!({"path": "flip/secret.txt", "content": "own"})).await;
        let found = fixture.call("search_files", json!({"pattern": "may", "path": "flip"})).await;
        assert!(!found.text.contains(SECRET), "{}", found.text);
    }
    is_over.store(true, Ordering::Relaxed);
    flipper.join().unwrap();
    assert_eq!(fixture.snapshot_outside(), before);
}

#[tokio::test]
async fn absurd_paths_are_refused_by_every_tool() {
    let fixture = trap();
    let paths = ["".to_owned(), "a\0b".to_owned(), "a/".repeat(50_000), "n".repeat(4_000), "\u{202e}\n".to_owned()];
    for path in paths {
        for tool in ["read_file", "list_files", "search_files", "write_file"] {
            let mut arguments = json!({"path": path});
            if tool == "search_files" {
                arguments["pattern"] = json!("x");
            }
            if tool == "write_file" {
                arguments["content"] = json!("x");
            }
            let text = fixture.refused(tool, arguments).await;
            assert!(text.len() < 1_000 && !text.contains('\0'), "{tool}: {text}");
        }
    }
}

fn any_path() -> impl Strategy<Value = String> {
    let names = [
        "..",
        ".",
        "",
        "folder",
        "absolute",
        "chain",
        "file",
        "up",
        "loop",
        "new",
        "inside",
        "etc",
        "outside",
        "secret.txt",
        "x",
    ];
    prop::collection::vec(prop::sample::select(names.to_vec()), 1..7).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_path_reads_or_changes_what_is_outside(paths in prop::collection::vec(any_path(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let fixture = trap();
        let before = fixture.snapshot_outside();
        runtime.block_on(async {
            for path in paths {
                fixture.call("write_file", json!({"path": path, "content": "written\n"})).await;
                for (tool, arguments) in [
                    ("read_file", json!({"path": path})),
                    ("search_files", json!({"path": path, "pattern": "nobody"})),
                    ("list_files", json!({"path": path, "recursive": true})),
                ] {
                    let output = fixture.call(tool, arguments).await;
                    prop_assert!(!output.text.contains(SECRET), "{} {}: {}", tool, path, output.text);
                }
            }
            Ok(())
        })?;
        prop_assert_eq!(fixture.snapshot_outside(), before);
    }
}
