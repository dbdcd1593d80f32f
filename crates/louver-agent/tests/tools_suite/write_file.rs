use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use louver_agent::tools::Limits;
use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn a_file_is_created_with_its_folders_and_then_replaced() {
    let fixture = Fixture::new();
    let output = fixture.call("write_file", json!({"path": "a/b/c.txt", "content": "first"})).await;
    assert_eq!(output.text, "created a/b/c.txt (5 bytes)");
    assert_eq!(output.files_changed, [PathBuf::from("a/b/c.txt")]);
    let output = fixture.call("write_file", json!({"path": "./a/x/../b/c.txt", "content": "2"})).await;
    assert_eq!(output.text, "replaced a/b/c.txt (1 bytes)");
    assert_eq!(std::fs::read_to_string(fixture.path("a/b/c.txt")).unwrap(), "2");
    let left: Vec<_> = std::fs::read_dir(fixture.path("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[tokio::test]
async fn a_replaced_file_keeps_its_permissions() {
    let fixture = Fixture::new();
    fixture.write("run.sh", "old");
    std::fs::set_permissions(fixture.path("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    fixture.ok("write_file", json!({"path": "run.sh", "content": "new"})).await;
    let mode = std::fs::metadata(fixture.path("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[tokio::test]
async fn a_replaced_file_does_not_run_as_its_owner() {
    let fixture = Fixture::new();
    fixture.write("run", "old");
    std::fs::set_permissions(fixture.path("run"), std::fs::Permissions::from_mode(0o4755)).unwrap();
    fixture.ok("write_file", json!({"path": "run", "content": "new"})).await;
    let mode = std::fs::metadata(fixture.path("run")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[tokio::test]
async fn drafts_that_a_killed_run_left_behind_are_not_in_the_way() {
    let fixture = Fixture::new();
    for number in 0..200 {
        fixture.write(&format!(".louver-draft-{}-{number}", std::process::id()), "left");
    }
    fixture.ok("write_file", json!({"path": "a.txt", "content": "new"})).await;
    assert_eq!(std::fs::read_to_string(fixture.path("a.txt")).unwrap(), "new");
}

#[tokio::test]
async fn a_content_over_the_bound_is_refused_and_nothing_is_made() {
    let fixture = Fixture::with_limits(Limits { write_bytes: 10, ..Limits::default() });
    let text = fixture.refused("write_file", json!({"path": "a/b", "content": "x".repeat(11)})).await;
    assert_eq!(text, "write_file: the content has 11 bytes, more than 10; write smaller files");
    assert!(!fixture.path("a").exists());
    let huge = Fixture::new().refused("write_file", json!({"path": "a", "content": "x".repeat(64 << 20)})).await;
    assert!(huge.contains("67108864 bytes"), "{huge}");
}

#[tokio::test]
async fn what_is_no_file_is_not_replaced() {
    let fixture = Fixture::new();
    fixture.write("folder/file", "kept");
    fixture.link("link", "folder/file");
    fixture.fifo("pipe");
    let refused = async |path: &str| fixture.refused("write_file", json!({"path": path, "content": "x"})).await;
    assert_eq!(refused("folder").await, "write_file: `folder` is a folder; name a file in it");
    assert!(refused("link").await.contains("is a symbolic link; write to the file that it points to"));
    assert!(refused("pipe").await.contains("is not a regular file"));
    assert!(refused(".").await.contains("the root itself"));
    assert!(refused("folder/file/deeper/x").await.contains("is a file, not a folder"));
    assert_eq!(std::fs::read_to_string(fixture.path("folder/file")).unwrap(), "kept");
}

#[tokio::test]
async fn git_hooks_cannot_be_planted() {
    let fixture = Fixture::new();
    fixture.write(".git/config", "kept");
    fixture.link("hooks", ".git");
    for path in [".git/hooks/pre-commit", ".GIT/config", "hooks/config", "sub/.git/config", ".git"] {
        let text = fixture.refused("write_file", json!({"path": path, "content": "x"})).await;
        assert!(text.contains("nothing may be written inside .git"), "{path}: {text}");
    }
    assert_eq!(std::fs::read_to_string(fixture.path(".git/config")).unwrap(), "kept");
    fixture.ok("write_file", json!({"path": ".gitignore", "content": "x"})).await;
}

#[tokio::test]
async fn a_reader_sees_the_old_content_or_the_new_one_and_nothing_between() {
    let fixture = Fixture::new();
    let contents = ["a".repeat(100_000), "b".repeat(50_000)];
    fixture.write("a.txt", &contents[0]);
    let path = fixture.path("a.txt");
    let reader = std::thread::spawn({
        let contents = contents.clone();
        move || (0..300).all(|_| contents.contains(&std::fs::read_to_string(&path).unwrap()))
    });
    for round in 0..40 {
        fixture.ok("write_file", json!({"path": "a.txt", "content": contents[round % 2]})).await;
    }
    assert!(reader.join().unwrap());
}
