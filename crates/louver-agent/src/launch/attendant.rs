//! The process that stays with a program until nothing is left of it.

use super::confined::CONFINED;
use super::confinement::Confinement;
use super::processes::{descendants, sweep};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, set_child_subreaper};
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus};

/// How often the number of processes is looked at.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Starts a program, waits for its end or for the pipe to close, and leaves nothing behind.
pub(super) fn attend(pipe: &str, confinement: &str, command: &[OsString]) -> io::Result<ExitCode> {
    // Orphans come here instead of getting away.
    set_child_subreaper(Some(getpid()))?;
    let life = File::open(format!("/proc/self/fd/{pipe}"))?;
    let parsed: Option<Confinement> = serde_json::from_str(confinement)?;
    let temporary = parsed.is_some().then(temporary_folder).transpose()?;
    let mut program = Command::new(std::env::current_exe()?);
    program.arg(CONFINED).arg(getpid().to_string()).arg(confinement).args(command).process_group(0);
    if let Some(folder) = &temporary {
        program.env("TMPDIR", folder);
    }
    let status = program.spawn().and_then(|child| watch(child, &life, parsed.map(|confined| confined.processes)));
    sweep(getpid());
    if let Some(folder) = &temporary {
        // What cannot be removed is the machine's to clean up.
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(end_like(status?))
}

/// A folder of nobody else's, gone with the program.
fn temporary_folder() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir();
    for number in 0_u32.. {
        let folder = folder.join(format!("louver-{}-{number}", getpid()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Waits until the program ends, or has to.
fn watch(mut child: Child, life: &File, max_processes: Option<u64>) -> io::Result<ExitStatus> {
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let program = pidfd_open(id, PidfdFlags::empty())?;
    loop {
        let mut events = [PollFd::new(&program, PollFlags::IN), PollFd::new(life, PollFlags::IN)];
        match poll(&mut events, Some(&LOOK)) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        let [has_ended, is_alone] = events.map(|event| !event.revents().is_empty());
        if has_ended {
            return child.wait();
        }
        // The limit that every process has does not hold for an administrator's.
        let is_crowd = || max_processes.is_some_and(|max| descendants(getpid()).len() as u64 > max);
        if is_alone || is_crowd() {
            child.kill()?;
            return child.wait();
        }
    }
}

/// The same end as the program's: its exit code, or its signal.
fn end_like(status: ExitStatus) -> ExitCode {
    let signal = status.signal().unwrap_or_default();
    if let Some(signal) = Signal::from_named_raw(signal) {
        // Twice, because some signals are heard once before they end a process.
        for _ in 0..2 {
            let _ = kill_process(getpid(), signal);
        }
    }
    let code = status.code().unwrap_or(128 + signal);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
