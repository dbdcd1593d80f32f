use std::time::Duration;

use louver_agent::tools::Limits;
use serde_json::json;

use crate::fixture::Fixture;

#[tokio::test]
async fn hits_are_shown_with_path_and_line_in_the_order_of_the_paths() {
    let fixture = Fixture::new();
    fixture.write("b.rs", "fn a() {}\n\tfn b() {}\r\n");
    fixture.write("a/c.rs", "// fn\nx");
    fixture.write("target/d.rs", "fn d() {}");
    let text = fixture.ok("search_files", json!({"pattern": "fn"})).await;
    assert_eq!(text, "a/c.rs:1: // fn\nb.rs:1: fn a() {}\nb.rs:2: \tfn b() {}\n");
    let text = fixture.ok("search_files", json!({"pattern": "fn", "path": "target"})).await;
    assert_eq!(text, "target/d.rs:1: fn d() {}\n");
    let text = fixture.ok("search_files", json!({"pattern": "fn b", "path": "b.rs"})).await;
    assert_eq!(text, "b.rs:2: \tfn b() {}\n");
    assert_eq!(fixture.ok("search_files", json!({"pattern": "none"})).await, "[nothing was found]\n");
}

#[tokio::test]
async fn a_pattern_is_text_unless_it_is_said_to_be_a_regular_expression() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "f(x)\nfxx\nF(X)\n--help\n");
    let search = async |arguments| fixture.ok("search_files", arguments).await;
    assert_eq!(search(json!({"pattern": "f(x)"})).await, "a.txt:1: f(x)\n");
    assert_eq!(search(json!({"pattern": "^f.x", "regex": true})).await, "a.txt:1: f(x)\na.txt:2: fxx\n");
    assert_eq!(search(json!({"pattern": "f(x)", "ignore_case": true})).await, "a.txt:1: f(x)\na.txt:3: F(X)\n");
    assert_eq!(search(json!({"pattern": "--help"})).await, "a.txt:4: --help\n");
    assert_eq!(search(json!({"pattern": "x$", "regex": true})).await, "a.txt:2: fxx\n");
}

#[tokio::test]
async fn patterns_that_cannot_be_used_are_explained() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a".repeat(10_000));
    let refused =
        async |pattern: &str| fixture.refused("search_files", json!({"pattern": pattern, "regex": true})).await;
    assert!(refused("a(").await.contains("is no regular expression"));
    assert!(refused("").await.contains("is empty"));
    assert!(refused("a\nb").await.contains("line by line"));
    assert!(refused(&"a".repeat(1_001)).await.contains("1001 bytes, more than 1000"));
    assert!(refused("((a{1000}){1000}){1000}").await.contains("too big"));
    assert!(refused(&format!("{}a{}", "(".repeat(400), ")".repeat(400))).await.contains("is no regular expression"));
}

#[tokio::test]
async fn a_pattern_that_would_explode_elsewhere_takes_no_time() {
    let fixture = Fixture::new();
    fixture.write("a.txt", format!("{}!\n", "a".repeat(50_000)));
    let text = fixture.ok("search_files", json!({"pattern": "^(a+)+$", "regex": true})).await;
    assert_eq!(text, "[nothing was found]\n");
}

#[tokio::test]
async fn hits_bytes_and_long_lines_are_bounded_and_it_is_said() {
    let limits = Limits { hits: 2, scan_bytes: 1_000_000, ..Limits::default() };
    let fixture = Fixture::with_limits(limits);
    fixture.write("a.txt", "x\n".repeat(5));
    let text = fixture.ok("search_files", json!({"pattern": "x"})).await;
    assert_eq!(text, "a.txt:1: x\na.txt:2: x\n[the search ended after 2 lines; use a narrower pattern or path]\n");

    fixture.write("a.txt", format!("{}needle{}\n", "é".repeat(10_000), "b".repeat(1_000)));
    let text = fixture.ok("search_files", json!({"pattern": "needle"})).await;
    assert!(text.contains("éneedleb") && text.len() < 500, "{text}");

    fixture.write("a.txt", format!("{}needle\nneedle\n", "a".repeat(70_000)));
    let text = fixture.ok("search_files", json!({"pattern": "needle"})).await;
    assert_eq!(text, "a.txt:2: needle\n[only the first 65536 bytes of longer lines were searched]\n");

    fixture.write("b.txt", "b\n".repeat(1_000_000));
    let text = fixture.ok("search_files", json!({"pattern": "c"})).await;
    assert!(text.contains("there is too much text"), "{text}");
}

#[tokio::test]
async fn a_search_that_takes_too_long_ends_in_the_middle_of_a_file() {
    let fixture = Fixture::with_limits(Limits { search_time: Duration::ZERO, ..Limits::default() });
    fixture.write("a.txt", "a\n".repeat(1_000_000));
    let note = "[not everything was searched: it took too long; use a simpler pattern or path]\n";
    let text = fixture.ok("search_files", json!({"pattern": "b", "path": "a.txt"})).await;
    assert_eq!(text, format!("[nothing was found]\n{note}"));
    let text = fixture.ok("search_files", json!({"pattern": "b"})).await;
    assert!(text.contains("it took too long"), "{text}");
}

#[tokio::test]
async fn binary_files_pipes_and_broken_links_are_passed_over() {
    let fixture = Fixture::new();
    fixture.write("a.bin", b"needle\0");
    fixture.write("latin1.txt", b"needle caf\xe9\n");
    fixture.fifo("pipe");
    fixture.link("broken", "nothing");
    assert_eq!(fixture.ok("search_files", json!({"pattern": "needle"})).await, "latin1.txt:1: needle caf\u{fffd}\n");
    let text = fixture.refused("search_files", json!({"pattern": "needle", "path": "pipe"})).await;
    assert!(text.contains("neither a file nor a folder"), "{text}");
}
