use std::ffi::OsString;
use std::io;
use std::time::Instant;

use super::refusal::Refusal;
use super::root::problem;
use super::root_path::RootPath;
use super::{Limits, Root};

/// Folders that are shown but not entered unless they are asked for: not the task's own text, and huge.
pub(crate) const SKIPPED: [&str; 7] = [".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", "target"];

const MAX_DEPTH: usize = 64;

const TOO_LATE: &str = "it took too long";

/// Goes through a folder, in the order of its names, without following links.
#[derive(Debug)]
pub(crate) struct Walk {
    root: Root,
    is_recursive: bool,
    /// What is still to come, the next one last.
    pending: Vec<Entry>,
    entries_left: usize,
    deadline: Instant,
    /// Why it did not see everything.
    stop: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: RootPath,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Walk {
    /// Starts at a folder.
    pub(crate) fn new(root: &Root, folder: &RootPath, limits: &Limits, is_recursive: bool) -> Result<Self, Refusal> {
        let mut walk = Self {
            root: root.clone(),
            is_recursive,
            pending: Vec::new(),
            entries_left: limits.walked_entries,
            deadline: Instant::now() + limits.search_time,
            stop: None,
        };
        walk.enter(folder).map_err(|error| problem(folder, &error))?;
        Ok(walk)
    }

    /// Why it ended early, if it did.
    pub(crate) fn stop(&self) -> Option<&'static str> {
        self.stop
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Puts the entries of a folder next in line. A folder too big to be seen whole is left out whole: which part of
    /// it comes first is up to the file system.
    fn enter(&mut self, folder: &RootPath) -> io::Result<()> {
        let mut names: Vec<(OsString, Kind)> = Vec::new();
        for entry in self.root.dir().read_dir(folder.as_path())? {
            if names.len() >= self.entries_left || (names.len() % 1024 == 1023 && self.is_late()) {
                self.stop = Some(if self.is_late() { TOO_LATE } else { "there are too many entries" });
                return Ok(());
            }
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = match () {
                () if kind.is_symlink() => Kind::Link,
                () if kind.is_dir() => Kind::Folder,
                () if kind.is_file() => Kind::File,
                () => Kind::Other,
            };
            names.push((entry.file_name(), kind));
        }
        self.entries_left -= names.len();
        names.sort_unstable_by(|left, right| right.0.cmp(&left.0));
        let entries = names.into_iter().map(|(name, kind)| Entry { path: folder.join(&name), kind });
        let entries = entries.filter(|entry| !self.root.hides(&entry.path));
        self.pending.extend(entries);
        Ok(())
    }

    fn wants(&mut self, entry: &Entry) -> bool {
        if !self.is_recursive || entry.kind != Kind::Folder {
            return false;
        }
        if entry.path.depth() >= MAX_DEPTH {
            self.stop = Some("folders are nested too deep");
            return false;
        }
        !entry.path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped))
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.is_late() {
            self.stop = Some(TOO_LATE);
            return None;
        }
        let entry = self.pending.pop()?;
        if self.wants(&entry) {
            // A folder that vanished or may not be read is shown as a name with nothing in it.
            let _ = self.enter(&entry.path);
        }
        Some(entry)
    }
}
