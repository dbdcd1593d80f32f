//! Where the clients keep their sessions.

use super::Source;
use super::source::{collect, has_extension};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A client that records its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: &'static str,
    /// The folder that its sessions are in, or would be.
    pub folder: PathBuf,
}

/// The clients whose sessions can be read, with their folders below a home. `variable` reads the environment, which can
/// move them.
#[must_use]
pub fn clients(home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> [Client; 3] {
    let base = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
    [
        Client { name: "Claude Code", folder: base("CLAUDE_CONFIG_DIR", ".claude").join("projects") },
        Client { name: "Codex", folder: base("CODEX_HOME", ".codex").join("sessions") },
        Client { name: "Gemini CLI", folder: base("GEMINI_CLI_HOME", "").join(".gemini/tmp") },
    ]
}

impl Client {
    /// The session files in its folder, sorted; other files that it keeps there are left out.
    #[must_use]
    pub fn sessions(&self) -> Vec<Source> {
        let mut found = Vec::new();
        if self.folder.is_dir() {
            collect(&self.folder, &mut found);
        }
        found.retain(|path| self.wrote(path));
        found.into_iter().map(Source::File).collect()
    }

    fn wrote(&self, path: &Path) -> bool {
        match self.name {
            "Gemini CLI" => path.components().any(|part| part.as_os_str() == "chats"),
            _ => has_extension(path, "jsonl"),
        }
    }
}
