//! `recall --archive`: what the proxy left out comes back, to whoever said it.

use crate::{Run, json, root};
use assert_cmd::cargo::cargo_bin_cmd;
use louver::Format;
use louver_store::{
    Account, ChainHash, Content, ConversationInfo, Decision, DecisionKey, Decisions, Maintenance, NewContent,
    NewMessage, Outcome, Queued, RequestEntry, SqliteStore, UnixMillis,
};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A store with a conversation of Ann's, of whose five messages a cut left out the second and the third.
struct Kept {
    file: PathBuf,
    _folder: TempDir,
}

const SAID: [&str; 5] = ["Look for the zebra.", "A zebra at the gate.", "Not a horse.", "Thanks.", "Where is it now?"];

/// The hash after so many messages.
fn chain(messages: u8) -> ChainHash {
    ChainHash([0xa0 + messages; 32])
}

fn decision() -> Decision {
    let (upstream, model) = ("anthropic".to_owned(), "claude-sonnet-5-5".to_owned());
    let record = r#"{"version":1,"engine":"0.1.0","policy":"ladder","messages":5,"gone":[{"start":1,"end":3}],
        "head_end":1,"touches":3,"texts":""}"#;
    Decision {
        key: DecisionKey { chain: chain(5), upstream, model, attempt: 0 },
        touches: chain(3),
        conversation: "c1".into(),
        at: UnixMillis(0),
        record: record.as_bytes().into(),
    }
}

fn kept() -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("louver.db");
    let message = |(text, number): (&str, u8)| NewMessage {
        chain: chain(number),
        raw: format!(r#"{{"role":"user","content":"{text}"}}"#).into(),
    };
    let conversation = |id: &str, reader: &str| ConversationInfo {
        id: id.into(),
        parent: None,
        reader: reader.into(),
        format: Format::Anthropic,
        model: "claude-sonnet-5-5".to_owned(),
    };
    let content = NewContent {
        conversation: conversation("c1", "ann"),
        at: UnixMillis(0),
        index: 0,
        previous: None,
        messages: SAID.into_iter().zip(1..).map(message).collect(),
    };
    let unkept = conversation("c3", "ann");
    let nothing_kept = conversation("c4", "eve");
    let others = NewContent {
        conversation: conversation("c2", "bob"),
        messages: vec![message(("Bob has a zebra, too.", 9))],
        ..content.clone()
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let store = SqliteStore::open(&file).unwrap();
        store.put_content(content).await.unwrap();
        store.put_content(others).await.unwrap();
        store.insert_decision(decision()).await.unwrap();
        for info in [unkept, nothing_kept] {
            let request = RequestEntry::new(UnixMillis(1), "anthropic", "sonnet", Outcome::Passed);
            assert_eq!(store.record_request(&info, request), Queued::Waiting);
        }
        store.close().await.unwrap();
    });
    Kept { file, _folder: folder }
}

fn recall(user: &str, store: &Path, words: &[&str]) -> Run {
    let mut command = cargo_bin_cmd!("louver");
    command.current_dir(root()).env("USER", user).env_remove("CLICOLOR_FORCE").args(["recall", "--archive"]);
    Run::of(&command.args(words).arg("--store").arg(store).output().unwrap())
}

#[test]
fn a_tag_and_an_address_give_the_messages_of_that_chain() {
    let kept = kept();
    let run = recall("ann", &kept.file, &["a5a5a5a5a5a5:1-2"]);
    assert_eq!(run.done(), "#1  user  text\nA zebra at the gate.\n\n#2  user  text\nNot a horse.\n");
    let run = recall("ann", &kept.file, &["a5a5a5a5a5a5:[louver:1]", "--json"]);
    let expected = serde_json::json!({ "role": "user", "content": SAID[1] });
    assert_eq!((json(run.done())[0]["index"].as_u64(), &json(&run.stdout)[0]["message"]), (Some(1), &expected));
    // A conversation by its name is what it last was.
    assert_eq!(recall("ann", &kept.file, &["4", "c1"]).done(), "#4  user  text\nWhere is it now?\n");
    // What stands behind the tag is not of its chain.
    let run = recall("ann", &kept.file, &["a2a2a2a2:2"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "a2a2a2a2: message 2 is not kept there\n"));
}

#[test]
fn words_are_searched_in_what_that_cut_left_out() {
    let kept = kept();
    let run = recall("ann", &kept.file, &["a5a5a5a5a5a5:zebra"]);
    assert_eq!(run.done(), "#1  user  text\n    A zebra at the gate.\n");
    // Without a tag everything of the reader's is searched, and each hit says how it is asked for.
    let run = recall("ann", &kept.file, &["zebra"]);
    assert!(run.done().contains("#a2a2a2a2a2a2:1  user") && run.stdout.contains("#a1a1a1a1a1a1:0  user"));
    assert!(!run.stdout.contains("Bob"), "{}", run.stdout);
    assert_eq!(recall("ann", &kept.file, &["a2a2a2a2a2a2:1"]).done(), "#1  user  text\nA zebra at the gate.\n");
    let run = recall("ann", &kept.file, &["thanks", "c1", "--json"]);
    assert_eq!(json(run.done())[0]["tag"], "a4a4a4a4a4a4");
    let run = recall("ann", &kept.file, &["a5a5a5a5a5a5:xylophone"]);
    let sentence = "a5a5a5a5a5a5: none of these words stands in what was left out\n";
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (1, "", sentence));
}

#[test]
fn nobody_reads_what_others_said() {
    let kept = kept();
    let sentence = "no conversation of yours in this archive is known by this name\n";
    for (user, words) in [
        ("bob", ["a5a5a5a5a5a5:1", ""]),
        ("bob", ["a5a5a5a5a5a5:zebra", ""]),
        ("bob", ["1", "c1"]),
        ("bob", ["zebra", "c1"]),
        ("ann", ["0123456789ab:1", ""]),
        ("ann", ["0123456789ab:zebra", ""]),
    ] {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let run = recall(user, &kept.file, &words);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{user} {words:?}");
        assert!(run.stderr.ends_with(sentence), "{}", run.stderr);
    }
}

#[test]
fn what_cannot_be_asked_is_refused_in_one_sentence() {
    let kept = kept();
    let run = recall("ann", &kept.file, &["12"]);
    assert!(run.refused().starts_with("message 12 of which conversation?"), "{}", run.stderr);
    let nowhere = recall("ann", Path::new("/nowhere/louver.db"), &["a5a5a5a5:1"]);
    assert!(nowhere.refused().contains("there is no store here"), "{}", nowhere.stderr);
    assert_eq!(recall("ann", &kept.file, &["zebra", "--model", "gpt-5"]).code, 2);
}

#[test]
fn what_is_not_archived_is_said() {
    let kept = kept();
    let sentence = "no message of yours is archived here: `louver proxy --archive full` and `louver wrap` keep them, from then \
        on\n";
    for words in [vec!["12"], vec!["1", "c4"], vec!["zebra"], vec!["zebra", "c4"], vec!["a5a5a5a5a5a5:1"]] {
        let run = recall("eve", &kept.file, &words);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{words:?}");
        assert!(run.stderr.ends_with(sentence), "{words:?}: {}", run.stderr);
    }
    assert_eq!(recall("eve", &kept.file, &["12"]).stderr, format!("the archive: {sentence}"));
    let run = recall("ann", &kept.file, &["1", "c3"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, "c3: no message of this conversation is archived\n"));
}

/// The program as somebody who may read a store but write nothing: neither its file nor beside it.
#[cfg(unix)]
fn unwritable(kept: &Kept) -> impl Fn(&[&str]) -> std::process::Command {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let folder = kept.file.parent().unwrap().to_owned();
    let is_root = Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0);
    // Root may write everywhere, so it is nobody, who may not be able to reach the program where it is.
    let program = if is_root {
        let copy = folder.join("louver");
        std::fs::copy(assert_cmd::cargo::cargo_bin!("louver"), &copy).unwrap();
        copy
    } else {
        assert_cmd::cargo::cargo_bin!("louver").to_owned()
    };
    let allow = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        allow(&path, if path.ends_with("louver") { 0o555 } else { 0o444 });
    }
    allow(&folder, 0o555);
    move |args| {
        let mut command = std::process::Command::new(&program);
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        command.current_dir("/").env_clear().env("USER", "ann").args(args);
        command
    }
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_it_is_read_all_the_same() {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    let kept = kept();
    let (folder, store) = (kept.file.parent().unwrap(), kept.file.to_str().unwrap());
    let louver = unwritable(&kept);
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        (names, std::fs::read(&kept.file).unwrap())
    };
    let before = files();
    let run = |args: &[&str]| Run::of(&louver(args).output().unwrap());
    let recalled = run(&["recall", "--archive", "a5a5a5a5a5a5:1", "--store", store]);
    assert_eq!(recalled.done(), "#1  user  text\nA zebra at the gate.\n");
    assert!(run(&["recall", "--archive", "a5a5a5a5a5a5:zebra", "--store", store]).done().contains("A zebra"));
    assert!(run(&["archive", "list", "--store", store]).done().contains("c1"));
    let refused = run(&["archive", "delete", "c1", "--store", store]);
    assert!(refused.refused().contains("the store may not be written"), "{}", refused.stderr);

    let mut command = louver(&["mcp", "--store", store]);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    for what in ["a5a5a5a5a5a5:2", "zebra"] {
        let call = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "recall", "arguments": { "what": what } } });
        writeln!(child.stdin.as_mut().unwrap(), "{call}").unwrap();
    }
    let served = Run::of(&child.wait_with_output().unwrap());
    let answers: Vec<String> =
        served.done().lines().map(|line| json(line)["result"]["content"][0]["text"].to_string()).collect();
    assert!(answers[0].contains("Not a horse.") && answers[1].contains("zebra at the gate"), "{answers:?}");
    assert!(files() == before, "something was written");
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}
