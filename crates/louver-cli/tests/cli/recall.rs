//! `recall`: what was left out comes back, by its address or by its words.

use crate::{json, louver, louver_with, root};
use std::collections::BTreeSet;
use std::fs;

const LEFT_OUT: &str = "--policy messages --max-messages 30";

fn indices(found: &str) -> Vec<u64> {
    json(found).as_array().unwrap().iter().map(|row| row["index"].as_u64().unwrap()).collect()
}

#[test]
fn an_address_gives_the_messages_as_they_came() {
    let original = fs::read_to_string(root().join("examples/agent.json")).unwrap();
    let run = louver("recall [louver:3,17-18] examples/agent.json --json");
    assert_eq!(indices(run.done()), [3, 17, 18]);
    for line in run.stdout.lines().filter(|line| line.len() > 2) {
        let (_, message) = line.split_once(r#","message":"#).unwrap();
        assert!(original.contains(message.trim_end_matches(',').strip_suffix('}').unwrap()), "{line}");
    }
    insta::assert_snapshot!("recall_address", louver("recall 17-18 examples/agent.json").done());
}

#[test]
fn words_are_found_only_in_what_was_left_out() {
    let run = louver(&format!("recall twelfths examples/agent.json {LEFT_OUT} --json --limit 100"));
    let found: BTreeSet<u64> = indices(run.done()).into_iter().collect();
    assert!(!found.is_empty() && found.iter().all(|index| (1..31).contains(index)), "{found:?}");
    let first = &json(&run.stdout)[0];
    assert!(first["text"].as_str().unwrap().contains("twelfths") && first["role"].is_string(), "{first}");
    insta::assert_snapshot!("recall_hits", louver(&format!("recall twelfths examples/agent.json {LEFT_OUT}")).done());
    assert_eq!(
        indices(louver(&format!("recall twelfths examples/agent.json {LEFT_OUT} --json --limit 2")).done()).len(),
        2
    );
}

#[test]
fn what_ladder_changed_is_searched_too() {
    let flags = "--context-window 9000 --max-output 1000";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    louver(&format!("trim examples/agent.json --policy ladder {flags} -q --report {}", path.display())).done();
    let report = json(&fs::read_to_string(path).unwrap());
    let lists = ["evicted", "edited"].map(|list| report[list].as_array().unwrap().clone());
    let left_out: BTreeSet<u64> = lists.concat().iter().map(|index| index.as_u64().unwrap()).collect();
    let run = louver(&format!("recall twelfths examples/agent.json {flags} --json --limit 1000"));
    let found: BTreeSet<u64> = indices(run.done()).into_iter().collect();
    assert!(!found.is_empty() && found.is_subset(&left_out), "{found:?} {left_out:?}");
}

#[test]
fn where_no_window_is_known_everything_is_searched() {
    let input = r#"[{"role":"user","content":"a zebra"},{"role":"user","content":"a horse"}]"#;
    let run = louver_with("recall Zebra --format openai-chat", input);
    assert_eq!(run.done(), "#0  user  text\n    a zebra\n");
    let note = "No context window is known (--model or --context-window says it), so the whole history is searched.\n";
    assert_eq!(run.stderr, note);
    let long = format!(r#"[{{"role":"user","content":"zebra {}"}}]"#, "hay ".repeat(9000));
    let run =
        louver_with("recall zebra --format openai-chat --policy tokens --context-window 2000 --max-output 100", long);
    assert!(run.done().starts_with("#0  user"), "{}", run.stdout);
    assert!(run.stderr.starts_with("The whole history is searched: "), "{}", run.stderr);
}

#[test]
fn nothing_found_is_a_finding_in_one_sentence() {
    for (words, sentence) in [
        ("xylophone", "none of these words stands in what was left out"),
        ("***", "none of these words stands in what was left out"),
        ("77", "there is no message 77: the log has 60, counted from 0 (in quotes, '\"77\"' is searched for)"),
    ] {
        let run = louver(&format!("recall {words} examples/agent.json {LEFT_OUT}"));
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{words}");
        assert_eq!(run.stderr, format!("examples/agent.json: {sentence}\n"));
        let run = louver(&format!("recall {words} examples/agent.json {LEFT_OUT} --json"));
        assert_eq!((run.code, run.stdout.as_str()), (1, "[]\n"), "{words}");
    }
    let run = louver("recall word examples/chat.json --policy everything");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("the policy `everything` leaves nothing out"), "{}", run.stderr);
}

#[test]
fn a_bad_address_is_refused() {
    let run = louver("recall [louver:x] examples/agent.json");
    assert_eq!(run.refused(), "`[louver:x]` names no messages: expected 12, 3-17 or 3-17, 20-41");
    louver("recall 12 no-such-file.json").refused();
    louver("recall 12 examples/agent.json --limit 0").refused();
    louver("recall").refused();
}

#[test]
fn words_are_marked_on_a_terminal_only_and_nothing_moves_the_cursor() {
    let input = r#"[{"role":"user","content":"a\u001b[2J zebra\u202e\r\nb"}]"#;
    for words in ["recall zebra", "recall 0"] {
        let plain = louver_with(&format!("{words} --format openai-chat"), input);
        assert!(!plain.done().contains(['\u{1b}', '\r', '\u{202e}']), "{:?}", plain.stdout);
        let colored = louver_with(&format!("{words} --format openai-chat --color always"), input);
        assert!(colored.done().contains('\u{1b}') && !colored.stdout.contains("\u{1b}[2J"), "{:?}", colored.stdout);
    }
    let marked = louver_with("recall zebra --format openai-chat --color always", input);
    assert!(marked.done().contains("\u{1b}[33mzebra\u{1b}[0m"), "{:?}", marked.stdout);
}
