use louver_agent::tools::Limits;
use serde_json::json;

use crate::fixture::Fixture;

fn small() -> Fixture {
    Fixture::with_limits(Limits { read_bytes: 20, ..Limits::default() })
}

#[tokio::test]
async fn a_file_comes_back_byte_for_byte() {
    let fixture = Fixture::new();
    for content in ["", "\n", "a\r\nb\r\n", "no end", "é\u{feff}\t\u{1b}[0m\n\n"] {
        fixture.write("a.txt", content);
        assert_eq!(fixture.ok("read_file", json!({"path": "a.txt"})).await, content);
    }
}

#[tokio::test]
async fn lines_are_counted_from_one_and_the_end_may_lie_beyond_the_file() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\ntwo\nthree");
    let read = async |start: u64, end: u64| {
        fixture.ok("read_file", json!({"path": "a.txt", "start_line": start, "end_line": end})).await
    };
    assert_eq!(read(2, 2).await, "two\n");
    assert_eq!(read(2, 3).await, "two\nthree");
    assert_eq!(read(1, 1_000_000_000).await, "one\ntwo\nthree");
    assert_eq!(read(3, u64::MAX).await, "three");
}

#[tokio::test]
async fn ranges_that_make_no_sense_are_explained() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\ntwo\n");
    let refused = async |start: i64, end: i64| {
        fixture.refused("read_file", json!({"path": "a.txt", "start_line": start, "end_line": end})).await
    };
    assert_eq!(refused(3, 4).await, "read_file: `a.txt` has only 2 lines; ask for those");
    assert_eq!(refused(1_000_000_000, 2_000_000_000).await, "read_file: `a.txt` has only 2 lines; ask for those");
    assert_eq!(refused(2, 1).await, "read_file: end_line 1 comes before start_line 2; swap them");
    assert_eq!(refused(0, 1).await, "read_file: lines are counted from 1; use a start_line of at least 1");
    assert!(refused(-1, 1).await.starts_with("read_file: invalid value: integer `-1`"));
}

#[tokio::test]
async fn a_long_file_says_how_to_go_on() {
    let fixture = small();
    fixture.write("a.txt", "0123456\n".repeat(5));
    let text = fixture.ok("read_file", json!({"path": "a.txt"})).await;
    let note = "[lines 1 to 2 of a file of 40 bytes; one call shows at most 20 bytes; go on with start_line 3]";
    assert_eq!(text, format!("0123456\n0123456\n\n{note}"));
    let text = fixture.ok("read_file", json!({"path": "a.txt", "start_line": 5})).await;
    assert_eq!(text, "0123456\n");
}

#[tokio::test]
async fn a_line_longer_than_the_bound_is_cut_between_characters() {
    let fixture = small();
    fixture.write("a.txt", format!("a{}\nrest\n", "é".repeat(1_000_000)));
    let text = fixture.ok("read_file", json!({"path": "a.txt"})).await;
    let note = "[line 1 is longer than 20 bytes and was cut; find things in it with search_files]";
    assert_eq!(text, format!("a{}\n{note}", "é".repeat(9)));
    assert_eq!(fixture.ok("read_file", json!({"path": "a.txt", "start_line": 2})).await, "rest\n");
}

#[tokio::test]
async fn what_lies_too_far_into_a_huge_file_is_not_looked_for() {
    let fixture = Fixture::with_limits(Limits { scan_bytes: 10, ..Limits::default() });
    fixture.write("a.txt", "12\n".repeat(100));
    let text = fixture.refused("read_file", json!({"path": "a.txt", "start_line": 50})).await;
    assert_eq!(text, "read_file: only the first 10 bytes of `a.txt` can be read, which have 4 lines");
    let text = fixture.ok("read_file", json!({"path": "a.txt", "start_line": 3})).await;
    assert_eq!(text, "12\n1\n[only the first 10 bytes of a file of 300 bytes can be read]");
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let fixture = Fixture::new();
    fixture.write("nul", b"text\0more");
    fixture.write("late", [vec![b'a'; 100_000], vec![0]].concat());
    fixture.write("latin1", b"caf\xe9\n");
    for path in ["nul", "latin1"] {
        let text = fixture.refused("read_file", json!({"path": path})).await;
        assert!(text.contains("is binary or not UTF-8"), "{text}");
    }
    assert!(!fixture.ok("search_files", json!({"pattern": "more"})).await.contains("nul"));
}

#[tokio::test]
async fn folders_pipes_and_missing_files_are_named_as_such() {
    let fixture = Fixture::new();
    fixture.write("folder/a.txt", "");
    fixture.fifo("pipe");
    let refused = async |path: &str| fixture.refused("read_file", json!({"path": path})).await;
    assert_eq!(refused("folder").await, "read_file: `folder` is a folder; list it with list_files");
    assert_eq!(refused("pipe").await, "read_file: `pipe` is neither a file nor a folder and cannot be read");
    assert_eq!(refused("b.txt").await, "read_file: `b.txt` does not exist; see what does with list_files");
    assert_eq!(refused("folder/a.txt/b").await, "read_file: a part of `folder/a.txt/b` is a file, not a folder");
    assert!(refused(&"n".repeat(300)).await.contains("too long"));
}
