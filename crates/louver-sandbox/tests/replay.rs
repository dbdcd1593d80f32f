//! Recorded conversations answered over HTTP, in their own format and in another.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

mod client;

use std::path::{Path, PathBuf};

use client::{Client, follow, hello};
use louver_sandbox::{Format, Scenario};
use serde_json::Value;

const FILES_PER_FORMAT: usize = 4;
const MAX_TURNS: usize = 40;

/// The first few recordings of a format.
fn recordings(corpus: &Path, format: Format) -> Vec<PathBuf> {
    let index = std::fs::read_to_string(corpus.join("index.csv")).unwrap();
    let of_format = index.lines().filter(|line| line.split(',').nth(1) == Some(format.name()));
    of_format.filter_map(|line| line.split(',').next()).take(FILES_PER_FORMAT).map(|file| corpus.join(file)).collect()
}

/// Answers every turn of a recording in a format; how many requests that took.
async fn replay(recording: &Path, format: Format) -> usize {
    let wrapper: Value = serde_json::from_slice(&std::fs::read(recording).unwrap()).unwrap();
    let scenario = Scenario::transcript(&wrapper).unwrap();
    let turns = scenario.turns().len().min(MAX_TURNS);
    let client = Client::new(scenario).await;
    let mut body = hello(format);
    for turn in 0..turns {
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!(status, 200, "{} turn {turn}: {answer}", recording.display());
        if follow(format, &mut body, &answer, "ok") == 0 {
            let next = hello(format)[format.history_field()][0].clone();
            body[format.history_field()].as_array_mut().unwrap().push(next);
        }
    }
    turns
}

#[tokio::test]
async fn a_recording_replays_in_every_format_without_a_refusal() {
    let Some(corpus) = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from) else {
        println!("skipped: LOUVER_CORPUS is not set, so there is nothing to replay");
        return;
    };
    let mut requests = 0;
    for recorded in Format::ALL {
        for recording in recordings(&corpus, recorded) {
            for format in Format::ALL {
                requests += replay(&recording, format).await;
            }
        }
    }
    assert!(requests > 100, "{requests}");
}
