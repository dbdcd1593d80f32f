use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::Environment;
use crate::launch::{Launcher, Life};

/// A program and all that it starts, which ends with this value at the latest.
///
/// Without a launcher, a process that moves to a session of its own gets away, and all of them outlive a kill of this one.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
    /// What the program's attendant lives by, if it has one.
    life: Option<Life>,
}

/// What git is told, whatever a repository says: that a folder with the files of a repository in it is none, that hooks
/// are not run, and no program that watches files. A model can write such files, and git would run what they name.
const GIT: [(&str, &str); 8] = [
    ("GIT_CONFIG_COUNT", "3"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// How long an attendant may take to end what it attends.
const GRACE: Duration = Duration::from_secs(15);

impl ProcessGroup {
    /// Starts a program with these variables and no others.
    pub(crate) fn spawn(
        launcher: Option<&Launcher>,
        program: &Path,
        arguments: &[String],
        environment: &Environment,
        set: impl FnOnce(&mut Command) -> io::Result<()>,
    ) -> io::Result<Self> {
        let start = |command: &mut Command| {
            command.env_clear().envs(GIT).envs(environment.variables()).process_group(0);
            set(command)?;
            command.spawn()
        };
        if let Some(launcher) = launcher {
            let (child, life) = launcher.spawn(program, arguments, start)?;
            return Ok(Self { child, life: Some(life) });
        }
        let child = start(Command::new(program).args(arguments).kill_on_drop(true))?;
        Ok(Self { child, life: None })
    }

    /// A program to talk to.
    pub(crate) fn spawn_piped(
        launcher: Option<&Launcher>,
        program: &str,
        arguments: &[String],
        environment: &Environment,
    ) -> io::Result<(Self, ChildStdin, ChildStdout, ChildStderr)> {
        if launcher.is_some() && !environment.has(program) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut group = Self::spawn(launcher, Path::new(program), arguments, environment, |command| {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            Ok(())
        })?;
        let child = &mut group.child;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((group, stdin, stdout, stderr)),
            _ => Err(io::Error::other("a standard stream is missing")),
        }
    }

    /// Waits until the program itself has ended; without a launcher, what it started may go on.
    ///
    /// It is not reaped yet, so that the group's number still belongs to it.
    pub(crate) async fn ended(&self) -> io::Result<()> {
        let Some(leader) = self.leader() else { return Ok(()) };
        let wait = move || waitid(WaitId::Pid(leader), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        tokio::task::spawn_blocking(wait).await??;
        Ok(())
    }

    /// Kills what is still running and says how the program ended.
    pub(crate) async fn finish(mut self) -> io::Result<ExitStatus> {
        // An attendant does it better: it finds those that got away.
        if self.life.take().is_some()
            && let Ok(status) = timeout(GRACE, self.child.wait()).await
        {
            return status;
        }
        self.kill();
        self.child.wait().await
    }

    /// Nothing once the program has been reaped.
    fn leader(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }

    fn kill(&self) {
        if let Some(leader) = self.leader() {
            // All of them may have ended already.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if self.life.is_none() {
            self.kill();
        }
    }
}
