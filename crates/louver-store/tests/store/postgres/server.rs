//! A server of the tests' own, in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A cluster and the process that serves it, ended when it is dropped.
pub(crate) struct Server {
    pub(crate) folder: TempDir,
    programs: PathBuf,
    port: u16,
}

/// A database of one test.
pub(crate) struct Database {
    pub(crate) address: String,
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

impl Server {
    /// The server that all tests of this process share. It is ended by the one who looks after it, with this process.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| {
            let server = Self::start()?;
            server.end_with_this_process();
            Some(server)
        });
        shared.as_ref()
    }

    /// A server of its own; nothing where none is installed and none has to be.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(
                std::env::var_os("LOUVER_E2E").is_none(),
                "LOUVER_E2E is set, but no PostgreSQL server is installed"
            );
            println!("skipped: no PostgreSQL server is installed (Debian's package postgresql)");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("louver-postgres").tempdir_in("/tmp").unwrap();
        let port = free_port();
        let server = Self { folder, programs, port };
        if is_root() {
            assert!(run(Command::new("chown").arg("postgres").arg(server.folder.path())));
        }
        let data = server.data();
        let mut making = server.program("initdb");
        making.args(["-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "-D"]).arg(&data);
        assert!(run(&mut making), "initdb failed");
        // What a process that was killed has written is there all the same: the machine goes on.
        let settings = "fsync = off\nfull_page_writes = off\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\n\
                        wal_recycle = off\nautovacuum = off\nunix_socket_directories = ''\nshared_buffers = 32MB\n";
        let path = data.join("postgresql.conf");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{before}\n{settings}port = {port}\n")).unwrap();
        server.up();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Everything that the server keeps.
    pub(crate) fn files(&self) -> PathBuf {
        self.data()
    }

    /// A program of the server's, as somebody who may run it.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        if !is_root() {
            return Command::new(path);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(path);
        command.current_dir("/");
        command
    }

    pub(crate) fn up(&self) {
        let log = self.folder.path().join("log");
        let started = self
            .program("pg_ctl")
            .args(["start", "-w", "-t", "60", "-D"])
            .arg(self.data())
            .arg("-l")
            .arg(&log)
            .stdout(Stdio::null())
            .status();
        assert!(started.unwrap().success(), "{}", std::fs::read_to_string(&log).unwrap_or_default());
    }

    /// A file of the server's own, that nobody else reads.
    pub(crate) fn write_own(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.data().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            assert!(run(Command::new("chown").arg("postgres").arg(&path)));
        }
    }

    /// Ends the server: `fast` lets nobody finish, `immediate` is as if the machine had failed.
    pub(crate) fn down(&self, mode: &str) {
        assert!(run(self.program("pg_ctl").args(["stop", "-w", "-m", mode, "-D"]).arg(self.data())));
    }

    /// An empty database.
    pub(crate) fn database(&self) -> Database {
        let name = format!("test{}", NEXT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        Database { address: self.address(&name) }
    }

    pub(crate) fn address(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// What a statement says, as `psql` prints it.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let output = Command::new("psql")
            .args(["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", statement])
            .arg(self.address(database))
            .output()
            .unwrap();
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A shared value is never dropped, so that a process of its own stops the server when this one is gone.
    fn end_with_this_process(&self) {
        let script = "(while kill -0 $TESTS 2>/dev/null; do sleep 0.5; done; \
                      kill -QUIT \"$(head -n 1 \"$DATA/postmaster.pid\")\" 2>/dev/null; sleep 1; rm -rf \"$FOLDER\") &";
        let mut watcher = Command::new("sh");
        watcher.args(["-c", script]).env("TESTS", std::process::id().to_string());
        watcher.env("DATA", self.data()).env("FOLDER", self.folder.path());
        watcher.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(self.data()).output();
    }
}

/// Where Debian has the programs of the newest server.
fn programs() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = folders.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    found.retain(|folder| folder.join("initdb").exists());
    found.sort();
    found.pop()
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn run(command: &mut Command) -> bool {
    let output = command.output().unwrap();
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}
