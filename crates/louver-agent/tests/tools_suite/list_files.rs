use louver_agent::tools::Limits;
use serde_json::json;

use crate::fixture::Fixture;

fn tree(fixture: &Fixture) {
    for file in ["b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "target/debug/x", "a/node_modules/y", ".git/config"] {
        fixture.write(file, "text");
    }
    fixture.link("link", "a");
}

#[tokio::test]
async fn a_folder_is_listed_in_the_order_of_its_names() {
    let fixture = Fixture::new();
    tree(&fixture);
    let root = ".git/\na/\na.txt\nb.txt\nlink@\ntarget/\n";
    assert_eq!(fixture.ok("list_files", json!({})).await, root);
    assert_eq!(fixture.ok("list_files", json!(null)).await, root);
    assert_eq!(
        fixture.ok("list_files", json!({"path": "a", "recursive": false})).await,
        "a/b/\na/node_modules/\na/z.txt\n"
    );
}

#[tokio::test]
async fn recursion_enters_neither_links_nor_what_is_skipped_unless_asked_for() {
    let fixture = Fixture::new();
    tree(&fixture);
    let all = fixture.ok("list_files", json!({"recursive": true})).await;
    let expected = ".git/\na/\na/b/\na/b/c.txt\na/node_modules/\na/z.txt\na.txt\nb.txt\nlink@\ntarget/\n";
    assert_eq!(all, expected);
    let target = fixture.ok("list_files", json!({"path": "target", "recursive": true})).await;
    assert_eq!(target, "target/debug/\ntarget/debug/x\n");
    assert_eq!(fixture.ok("list_files", json!({"path": "link"})).await, "link/b/\nlink/node_modules/\nlink/z.txt\n");
}

#[tokio::test]
async fn a_long_list_ends_with_how_much_is_missing() {
    let fixture = Fixture::with_limits(Limits { listed_entries: 3, ..Limits::default() });
    for number in 0..10 {
        fixture.write(&format!("{number}.txt"), "");
    }
    let text = fixture.ok("list_files", json!({})).await;
    assert_eq!(text, "0.txt\n1.txt\n2.txt\n[7 more entries are not shown; list a folder further down]\n");
}

#[tokio::test]
async fn a_folder_with_too_many_entries_is_left_out_whole() {
    let fixture = Fixture::with_limits(Limits { walked_entries: 50, ..Limits::default() });
    for number in 0..100 {
        fixture.write(&format!("many/{number}.txt"), "");
    }
    fixture.write("other.txt", "");
    let note = "[not everything was looked at: there are too many entries; list a folder further down]\n";
    let text = fixture.ok("list_files", json!({"recursive": true})).await;
    assert_eq!(text, format!("many/\nother.txt\n{note}"));
    assert_eq!(fixture.ok("list_files", json!({"path": "many"})).await, note);
}

#[tokio::test]
async fn folders_nested_without_end_are_not_followed_without_end() {
    let fixture = Fixture::new();
    fixture.write(&format!("{}x.txt", "d/".repeat(100)), "");
    let text = fixture.ok("list_files", json!({"recursive": true})).await;
    assert_eq!(text.lines().count(), 65);
    assert!(text.contains("nested too deep"), "{text}");
}

#[tokio::test]
async fn odd_names_stay_on_one_line_and_what_is_no_folder_is_named() {
    let fixture = Fixture::new();
    fixture.write("a\nb", "");
    assert_eq!(fixture.ok("list_files", json!({})).await, "a\\nb\n");
    fixture.write("file", "");
    let refused = async |path: &str| fixture.refused("list_files", json!({"path": path})).await;
    assert_eq!(refused("file").await, "list_files: `file` is not a folder; read it with read_file");
    assert!(refused("none").await.contains("does not exist"));
    std::fs::create_dir(fixture.path("empty")).unwrap();
    assert_eq!(fixture.ok("list_files", json!({"path": "empty"})).await, "[the folder is empty]\n");
}
