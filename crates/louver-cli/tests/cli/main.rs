//! The real binary, from the outside.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod bad_input;
mod bounds;
mod check;
mod condense;
mod config;
mod configured;
mod corpus;
mod faults;
mod help;
mod inspect;
mod known_models;
mod mcp;
mod mcp_serving;
mod output;
mod proxy;
mod proxy_sentences;
mod proxy_world;
mod recall;
mod recall_archive;
mod replay;
mod running;
mod seeing;
mod terminal;
mod trim;
mod vectors;
mod wrap;

use assert_cmd::cargo::cargo_bin_cmd;
use std::path::{Path, PathBuf};

/// What a run left behind.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `louver` with these words, typed with spaces between, and this on stdin.
fn louver_with(words: &str, stdin: impl Into<Vec<u8>>) -> Run {
    let mut command = cargo_bin_cmd!("louver");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    let output = command.current_dir(root()).args(words.split_whitespace()).write_stdin(stdin).output().unwrap();
    Run::of(&output)
}

fn louver(words: &str) -> Run {
    louver_with(words, "")
}

impl Run {
    fn of(output: &std::process::Output) -> Self {
        Self {
            code: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// What every refusal looks like: exit 2, nothing on stdout, one line on stderr.
    #[track_caller]
    fn refused(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        let line = self.stderr.strip_prefix("error: ").unwrap_or_else(|| panic!("no error: {:?}", self.stderr));
        let line = line.strip_suffix('\n').unwrap();
        assert!(!line.contains('\n') && !line.is_empty(), "more than one line: {}", self.stderr);
        line
    }

    #[track_caller]
    fn done(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.stderr);
        &self.stdout
    }
}

/// The workspace's folder, which holds `examples`.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
