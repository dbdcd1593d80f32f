//! What is checked is what is used, however quickly somebody swaps it.

use crate::world::{World, said};
use louver_sandbox::Call;
use serde_json::json;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SECRET: &str = "nobody may read this";

#[test]
fn a_folder_that_becomes_a_link_while_it_is_used_leads_nowhere() {
    let calls = (0..60).map(|turn| match turn % 3 {
        0 => Call::new("read_file", json!({"path": "x/secret.txt"})),
        1 => Call::new("write_file", json!({"path": "x/new.txt", "content": format!("{turn}")})),
        _ => Call::new("run_command", json!({"command": "cat x/secret.txt"})),
    });
    let world = World::calling(calls);
    // Commands may read it, where it is a temporary folder; the other tools may not, and nobody may write there.
    let outside = world.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), SECRET).unwrap();
    std::fs::create_dir(world.inside("y")).unwrap();
    std::fs::write(world.inside("y/secret.txt"), "harmless").unwrap();
    let (x, y, link) = (world.inside("x"), world.inside("y"), world.inside("link"));
    symlink(&outside, &link).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                for target in [&y, &link] {
                    std::fs::rename(target, &x).ok();
                    std::thread::yield_now();
                    std::fs::rename(&x, target).ok();
                }
            }
        }
    });
    let output = world.run(&["--allow", "cat"]);
    is_over.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    let by_tools: Vec<&str> =
        state.lines().filter(|line| line.contains(SECRET) && !line.contains("exit code")).collect();
    assert!(by_tools.iter().all(|line| !line.starts_with("{\"result\"")), "{by_tools:?}");
    assert!(!outside.join("new.txt").exists(), "a file was written outside of the root");
    assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).unwrap(), SECRET);
}
