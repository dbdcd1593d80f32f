//! Several processes on one file, and one that is killed.

use super::place;
use crate::suite::{NOW, chain, content, conversation, decision, said};
use louver::address::Address;
use louver_store::{
    ChainPoint, ChainQuery, Content, Decisions, Inserted, Maintenance, NewContent, RecallRequest, Recalled, Sequence,
    SqliteStore,
};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const STORE: &str = "LOUVER_STORE_FILE";
const NAME: &str = "LOUVER_STORE_RACER";
const RACES: u64 = 10_000;
/// How many inserts a racer has under way.
const AT_ONCE: usize = 64;

/// This test program again, as a process of its own.
pub(super) fn child(task: &str, store: &Path, name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("sqlite::processes::{task}"), "--ignored", "--nocapture"]);
    command.env(STORE, store).env(NAME, name).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn child_store() -> SqliteStore {
    SqliteStore::open(PathBuf::from(std::env::var_os(STORE).unwrap())).unwrap()
}

fn all(numbers: std::ops::Range<u64>) -> ChainQuery {
    let hashes = numbers.map(chain).collect();
    ChainQuery { upstream: "anthropic".to_owned(), hashes, after: Sequence::default() }
}

/// The lines of a child that start with a word, without it.
pub(super) fn told<'t>(output: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    output.lines().filter_map(move |line| line.split_once(word)).map(|(_, rest)| rest.trim())
}

#[tokio::test]
async fn of_racing_processes_one_wins_each_time() {
    let (_folder, path) = place();
    let mut racers: Vec<Child> = ["a", "b"].iter().map(|name| child("race", &path, name)).collect();
    let mut lines: Vec<_> = racers.iter_mut().map(|racer| BufReader::new(racer.stdout.take().unwrap())).collect();
    let mut starts: Vec<_> = racers.iter_mut().map(|racer| racer.stdin.take().unwrap()).collect();
    let mut outputs = [String::new(), String::new()];
    // Nobody starts before everybody is there.
    for _ in (0..RACES).step_by(AT_ONCE) {
        for (lines, output) in lines.iter_mut().zip(&mut outputs) {
            let mut line = String::new();
            while !line.contains("ready") {
                line.clear();
                assert!(lines.read_line(&mut line).unwrap() > 0, "{output}");
                output.push_str(&line);
            }
        }
        starts.iter_mut().for_each(|start| start.write_all(b"go\n").unwrap());
    }
    let mut winners: HashMap<u64, String> = HashMap::new();
    for ((mut racer, mut lines), output) in racers.into_iter().zip(lines).zip(&mut outputs) {
        lines.read_to_string(output).unwrap();
        assert!(racer.wait().unwrap().success());
        for (number, record) in told(output, "mine").filter_map(|line| line.split_once(' ')) {
            assert_eq!(winners.insert(number.parse().unwrap(), record.to_owned()), None, "{number} was won twice");
        }
    }
    assert_eq!(winners.len() as u64, RACES);
    let wins = |name: &str| winners.values().filter(|record| *record == name).count();
    assert!(wins("a") > 0 && wins("b") > 0, "there was no race");
    let store = SqliteStore::open(&path).unwrap();
    let kept = store.decisions_on(all(0..RACES)).await.unwrap();
    assert_eq!(kept.len() as u64, RACES);
    for number in 0..RACES {
        let Inserted::Theirs(winner) = store.insert_decision(decision(number, 0, "late")).await.unwrap() else {
            panic!()
        };
        assert_eq!(&*winner.decision.record, winners[&number].as_bytes());
        if number > 50 {
            break;
        }
    }
    let by_chain: HashMap<_, _> = kept.iter().map(|kept| (kept.decision.key.chain, &kept.decision.record)).collect();
    assert!(winners.iter().all(|(number, record)| &**by_chain[&chain(*number)] == record.as_bytes()));
}

#[tokio::test]
#[ignore = "run as a child"]
async fn race() {
    let (store, name) = (child_store(), std::env::var(NAME).unwrap());
    for start in (0..RACES).step_by(AT_ONCE) {
        println!("ready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let numbers = start..(start + AT_ONCE as u64).min(RACES);
        let inserts = numbers.clone().map(|number| store.insert_decision(decision(number, 0, &name)));
        for (number, inserted) in numbers.zip(futures_util::future::join_all(inserts).await) {
            if let Inserted::Mine(winner) = inserted.unwrap() {
                assert_eq!(*winner.decision.record, *name.as_bytes());
                println!("mine {number} {name}");
            }
        }
    }
}

pub(super) fn written(number: u64) -> NewContent {
    let info = conversation(&format!("c{number}"), "ann");
    content(&info, (0..3).map(|message| said(&format!("message {message} of {number}"))))
}

#[tokio::test]
async fn what_a_killed_process_was_told_is_kept_is_kept() {
    let (_folder, path) = place();
    let mut next = 0;
    for round in 0..6 {
        let mut writer = child("write", &path, &next.to_string());
        let mut lines = BufReader::new(writer.stdout.take().unwrap());
        // Somewhere between two answers, or in the middle of one.
        let wanted = 5 + round * 7;
        let (mut output, mut seen) = (String::new(), 0);
        while seen < wanted {
            assert!(lines.read_line(&mut output).unwrap() > 0, "{output}");
            seen = told(&output, "kept").count();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        lines.read_to_string(&mut output).unwrap();

        let store = SqliteStore::open(&path).unwrap();
        store.check().await.unwrap();
        for number in told(&output, "kept").map(|number| number.parse().unwrap()) {
            let found = store.decisions_on(all(number..number + 1)).await.unwrap();
            assert_eq!((found.len(), found[0].is_shown), (1, true), "{number}");
            next = next.max(number + 1);
        }
        for number in told(&output, "put").map(|number| number.parse().unwrap()) {
            let address = "0-2".parse::<Address>().unwrap();
            let tag = crate::suite::end(&written(number)).into();
            let request =
                RecallRequest { reader: "ann".into(), point: ChainPoint::Tag(tag), address, max_bytes: usize::MAX };
            let found = store.recall(request).await.unwrap();
            assert!(matches!(found, Recalled::Messages { messages, next: None } if messages.len() == 3), "{number}");
        }
    }
}

#[tokio::test]
#[ignore = "run as a child"]
async fn write() {
    let (store, first) = (child_store(), std::env::var(NAME).unwrap().parse::<u64>().unwrap());
    for number in first.. {
        let inserted = store.insert_decision(decision(number, number, "written")).await.unwrap();
        store.mark_shown(inserted.winner().decision.key.clone()).await.unwrap();
        println!("kept {number}");
        store.put_content(written(number)).await.unwrap();
        println!("put {number}");
    }
}

#[tokio::test]
async fn a_process_sees_that_another_has_decided() {
    let (_folder, path) = place();
    let (ours, theirs) = (SqliteStore::open(&path).unwrap(), SqliteStore::open(&path).unwrap());
    let before = ours.decisions_version().await.unwrap();
    let inserted = theirs.insert_decision(decision(1, 0, "theirs")).await.unwrap();
    let after = ours.decisions_version().await.unwrap();
    assert_ne!(before, after);
    assert_eq!(theirs.decisions_version().await.unwrap(), after);
    let later = ChainQuery { after: Sequence::default(), ..all(0..5) };
    assert_eq!(ours.decisions_on(later).await.unwrap(), [inserted.into_winner()]);
    // What is only accounted for or archived does not disturb.
    theirs.put_content(NewContent { at: NOW, ..written(1) }).await.unwrap();
    assert_eq!(ours.decisions_version().await.unwrap(), after);
}

#[test]
fn a_new_store_may_be_opened_by_many_at_once() {
    for _ in 0..10 {
        let (_folder, path) = place();
        std::thread::scope(|scope| {
            let open = || SqliteStore::open(&path);
            let opening: Vec<_> = (0..12).map(|_| scope.spawn(open)).collect();
            for opened in opening {
                opened.join().unwrap().unwrap();
            }
        });
    }
}
