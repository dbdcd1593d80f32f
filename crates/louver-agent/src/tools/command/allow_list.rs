use std::path::Path;

use thiserror::Error;

use super::command_line;
use crate::tools::Root;
use crate::tools::refusal::{Refusal, quote};

/// The commands that may be run.
///
/// An entry is a program (`cargo`) or a program with the arguments it has to start with (`git status`). A program is a
/// plain name, looked up in `PATH`, or an absolute path, and the model has to write it the same way. Mind that an
/// interpreter, or a build tool, on this list runs whatever the model puts in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    entries: Vec<Vec<String>>,
}

/// An entry of an allow list makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the allowed command `{entry}` {problem}")]
pub struct AllowListError {
    /// The entry as it was given.
    pub entry: String,
    problem: &'static str,
}

impl AllowList {
    /// Allows these commands and no others.
    ///
    /// # Errors
    ///
    /// If an entry is empty, needs a shell, or names its program by a relative path.
    pub fn new<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Result<Self, AllowListError> {
        let entries = entries.into_iter().map(|entry| parse(entry.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Whether all programs are out of the model's reach.
    ///
    /// # Errors
    ///
    /// If an absolute path leads into the root, where the model can write what is to be run.
    pub fn check_root(&self, root: &Root) -> Result<(), AllowListError> {
        let is_written =
            |entry: &&Vec<String>| entry.first().is_some_and(|program| is_inside(root, Path::new(program)));
        match self.entries.iter().find(is_written) {
            Some(entry) => Err(AllowListError {
                entry: entry.join(" "),
                problem: "is a program inside the root, where the model can write; allow one that is elsewhere",
            }),
            None => Ok(()),
        }
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a command starts with all words of an entry.
    pub(crate) fn check(&self, words: &[String]) -> Result<(), Refusal> {
        if self.entries.iter().any(|entry| words.starts_with(entry)) {
            return Ok(());
        }
        let command = quote(&words.join(" "));
        Err(Refusal::new(format!("the command {command} is not allowed; {}", self.allowed())))
    }

    /// What is allowed, in words.
    pub(crate) fn allowed(&self) -> String {
        let entries: Vec<String> = self.entries.iter().map(|entry| entry.join(" ")).collect();
        match entries.is_empty() {
            true => "no command is allowed".to_owned(),
            false => format!("commands must start with one of: {}", entries.join(", ")),
        }
    }
}

/// Whether an absolute path leads into the root, itself or through a link.
pub(super) fn is_inside(root: &Root, program: &Path) -> bool {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    program.is_absolute() && (program.starts_with(root.path()) || real.starts_with(root.path()))
}

fn parse(entry: &str) -> Result<Vec<String>, AllowListError> {
    let refuse = |problem| AllowListError { entry: entry.to_owned(), problem };
    let words = command_line::split(entry).map_err(|_| refuse("has to be plain words"))?;
    let program = words.first().filter(|program| !program.is_empty()).ok_or_else(|| refuse("is empty"))?;
    if program.contains('/') && !Path::new(program).is_absolute() {
        return Err(refuse("names its program by a relative path; use a plain name or an absolute path"));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entries: &[&str], command: &[&str]) -> bool {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        AllowList::new(entries).unwrap().check(&words).is_ok()
    }

    #[test]
    fn a_command_has_to_start_with_the_words_of_an_entry() {
        let entries = ["cargo", "git status", "/usr/bin/env"];
        assert!(check(&entries, &["cargo", "test"]));
        assert!(check(&entries, &["git", "status", "-s"]));
        assert!(check(&entries, &["/usr/bin/env"]));
        let refused: [&[&str]; 8] = [
            &["git"],
            &["git", "push"],
            &["git", "-c", "status"],
            &["git status"],
            &["cargo-evil"],
            &["./cargo"],
            &["/usr/bin/cargo"],
            &["env"],
        ];
        for command in refused {
            assert!(!check(&entries, command), "{command:?}");
        }
        assert!(!check(&[], &["ls"]));
    }

    #[test]
    fn entries_that_make_no_sense_are_named() {
        for entry in ["", "  ", "''", "ls; rm", "./run.sh", "bin/x"] {
            let error = AllowList::new([entry]).unwrap_err();
            assert_eq!(error.entry, entry);
        }
        let error = AllowList::new(["bin/x"]).unwrap_err().to_string();
        let expected =
            "the allowed command `bin/x` names its program by a relative path; use a plain name or an absolute path";
        assert_eq!(error, expected);
    }
}
