//! A folder to work in, a scripted model, and a run of the real binary between them.

use assert_cmd::cargo::cargo_bin;
use louver_agent::launch::Guard;
use louver_sandbox::{Call, Running, Sandbox, Scenario, Turn};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The key of every run; it must turn up nowhere.
pub(crate) const KEY: &str = "sk-attacked-0123456789abcdef";

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) sandbox: Running,
    _runtime: Runtime,
}

impl World {
    /// A model that makes these calls, one after the other, and is done.
    pub(crate) fn calling(calls: impl IntoIterator<Item = Call>) -> Self {
        let calls =
            calls.into_iter().fold(Scenario::new("attack"), |scenario, call| scenario.turn(Turn::calls([call])));
        Self::new(calls.turn(Turn::calls([Call::new("task_complete", json!({"summary": "Done."}))])))
    }

    pub(crate) fn new(scenario: Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        std::fs::write(folder.path().join("TASK.md"), "Attack.").unwrap();
        let runtime = Runtime::new().unwrap();
        let sandbox = runtime.block_on(Sandbox::builder().scenario(scenario).start("127.0.0.1:0")).unwrap();
        let world = Self { folder, sandbox, _runtime: runtime };
        world.configure("");
        world
    }

    /// A configuration that asks the sandbox, and says more.
    pub(crate) fn configure(&self, more: &str) {
        let url = self.sandbox.url();
        let config =
            format!("provider: {{type: anthropic-api, base_url: '{url}', api_key_env: ATTACKED_KEY}}\n{more}\n");
        std::fs::write(self.path("config.yml"), config).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn inside(&self, name: &str) -> PathBuf {
        self.path("root").join(name)
    }

    /// `louver run` with a state file outside of its root, and these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin!("louver"));
        command.current_dir(self.folder.path()).env("ATTACKED_KEY", KEY);
        command.args(["run", "TASK.md", "--config", "config.yml", "--root", "root", "--state", "run.state"]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The same as a user who is no administrator; nothing, said aloud, where that cannot be.
    pub(crate) fn unprivileged(&self, test: &str, arguments: &[&str]) -> Option<Command> {
        if !is_root() {
            return Some(self.command(arguments));
        }
        let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let louver = cargo_bin!("louver");
        let tried = Command::new("setpriv").args(nobody).arg(louver).arg("--version").output();
        if !tried.is_ok_and(|tried| tried.status.success()) {
            eprintln!("not run: {test}: nobody else can be asked to run {}", louver.display());
            return None;
        }
        for path in [self.folder.path(), &self.path("root"), &self.path("TASK.md"), &self.path("config.yml")] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(nobody).arg(louver).args(self.command(arguments).get_args());
        command.current_dir(self.folder.path()).env("ATTACKED_KEY", KEY).stdin(Stdio::null());
        Some(command)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// A run that ends well; what its state file remembers of it.
    #[track_caller]
    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        std::fs::read_to_string(self.path("run.state")).unwrap()
    }

    /// A named pipe in the root.
    pub(crate) fn pipe(&self, name: &str) -> PathBuf {
        let path = self.inside(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// A run, and the writing end of the pipe `go` that a command of it now reads from.
    pub(crate) fn waiting(&self, arguments: &[&str]) -> (Child, File) {
        let go = self.pipe("go");
        let louver = self.command(arguments);
        // Whoever runs the tests may have been told to outlive its terminal, which is inherited.
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP").arg(louver.get_program()).args(louver.get_args());
        command.current_dir(self.folder.path()).env("ATTACKED_KEY", KEY);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Opens as soon as the command reads.
        let go = File::options().write(true).open(go).unwrap();
        (child, go)
    }
}

/// A command line for a shell, which has to be allowed.
pub(crate) fn shell(line: &str) -> Call {
    Call::new("run_command", json!({"command": "sh", "args": ["-c", line]}))
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Waits until nobody holds the writing end of a pipe any longer.
pub(crate) fn gone(mut pipe: File) {
    pipe.read_to_end(&mut Vec::new()).unwrap();
}

pub(crate) fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0
}

/// Whether the kernel has what a test is about; if not, the test says so and ends.
pub(crate) fn has_landlock(test: &str) -> bool {
    let has = Guard::of_this_kernel() != Guard::None;
    if !has {
        eprintln!("not run: {test}: this kernel has no Landlock");
    }
    has
}

/// Whether a program is installed; if not, the test says so and ends.
pub(crate) fn has_program(test: &str, program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !has {
        eprintln!("not run: {test}: there is no {program} here");
    }
    has
}

/// A file that is not installed, not temporary and not in the root. Sources in a temporary folder have none, and the test
/// says so and ends: commands may read there.
pub(crate) fn elsewhere(test: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    if temporary.iter().any(|folder| file.starts_with(folder)) {
        eprintln!("not run: {test}: commands may read temporary folders, and these sources lie in one");
        return None;
    }
    Some(file)
}
