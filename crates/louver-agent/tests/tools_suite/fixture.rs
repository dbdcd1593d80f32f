use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use louver_agent::tools::{AllowList, Environment, Limits, Root, RunCommand, ToolOutput, ToolSet};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// What no tool may ever show.
pub(crate) const SECRET: &str = "nobody may read this";

/// A root to work in, with a folder beside it that is out of bounds.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) tools: ToolSet,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default(), &[])
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::with(limits, &[])
    }

    /// With commands, which see `PATH` and nothing else.
    pub(crate) fn with(limits: Limits, allowed: &[&str]) -> Self {
        let path = std::env::var_os("PATH").unwrap();
        Self::with_environment(limits, allowed, Environment::new([("PATH", path)]))
    }

    pub(crate) fn with_environment(limits: Limits, allowed: &[&str], environment: Environment) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/secret.txt"), SECRET).unwrap();
        let root = Root::open(folder.path().join("root")).unwrap();
        let mut tools = ToolSet::for_root(&root, limits.clone());
        let allow = AllowList::new(allowed).unwrap();
        tools.add(Arc::new(RunCommand::new(root, limits, allow, environment))).unwrap();
        Self { folder, tools }
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join("root").join(inside)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    pub(crate) fn write(&self, inside: &str, content: impl AsRef<[u8]>) {
        let path = self.path(inside);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn link(&self, inside: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(inside)).unwrap();
    }

    pub(crate) fn fifo(&self, inside: &str) -> PathBuf {
        let path = self.path(inside);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// A named pipe that tells whether anybody has it open.
    pub(crate) fn pipe(&self, inside: &str) -> Pipe {
        Pipe::new(self.fifo(inside))
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        self.tools.call(tool, arguments).await
    }

    /// The text of a call that has to go well.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments.clone()).await;
        assert!(!output.is_error, "{tool} {arguments}: {}", output.text);
        output.text
    }

    /// The text of a call that has to fail.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments.clone()).await;
        assert!(output.is_error, "{tool} {arguments}: {}", output.text);
        assert_eq!(output.files_changed, [] as [PathBuf; 0]);
        output.text
    }

    /// Every file outside the root, with its content.
    pub(crate) fn snapshot_outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.folder.path().join("root") {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path.clone());
                    files.insert(path, Vec::new());
                } else {
                    files.insert(path.clone(), std::fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

/// A named pipe that a process is to hold open for as long as it lives.
pub(crate) struct Pipe {
    pub(crate) path: String,
    written: oneshot::Receiver<()>,
    closed: Receiver<()>,
}

impl Pipe {
    fn new(path: PathBuf) -> Self {
        let (written, is_written) = oneshot::channel();
        let (closed, is_closed) = channel();
        let name = path.display().to_string();
        std::thread::spawn(move || {
            let mut pipe = File::open(path).unwrap();
            if pipe.read(&mut [0]).unwrap() == 1 {
                written.send(()).ok();
            }
            pipe.read_to_end(&mut Vec::new()).unwrap();
            closed.send(()).ok();
        });
        Self { path: name, written: is_written, closed: is_closed }
    }

    /// Waits until somebody writes to it.
    pub(crate) async fn written(&mut self) {
        (&mut self.written).await.unwrap();
    }

    /// Waits until everybody who held it is gone.
    pub(crate) fn closed(self) {
        self.closed.recv_timeout(Duration::from_secs(60)).expect("whoever holds the pipe is still alive");
    }
}
