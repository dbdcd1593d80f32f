use std::io;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::Environment;

/// A program and all that it starts, which ends with this value at the latest.
///
/// A process that moves to a session of its own gets away.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    pub(crate) fn spawn(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        Ok(Self { child })
    }

    /// A program to talk to.
    pub(crate) fn spawn_piped(
        program: &str,
        arguments: &[String],
        environment: &Environment,
    ) -> io::Result<(Self, ChildStdin, ChildStdout, ChildStderr)> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment.variables());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Self::spawn(&mut command)?;
        let child = &mut group.child;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((group, stdin, stdout, stderr)),
            _ => Err(io::Error::other("a standard stream is missing")),
        }
    }

    /// Waits until the program itself has ended; what it started may go on.
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
        self.kill();
    }
}
