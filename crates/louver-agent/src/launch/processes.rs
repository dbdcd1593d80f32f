//! The processes of this machine, as `/proc` has them.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// How long what was killed may take to be gone; a process that waits for a disk or a network cannot be killed.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
struct Process {
    id: i32,
    parent: i32,
    is_dead: bool,
    threads: u64,
    user: u32,
}

/// How many processes and threads a user has.
pub(super) fn threads_of(user: u32) -> u64 {
    all().iter().filter(|process| process.user == user).map(|process| process.threads).sum()
}

/// All that a process started, and what that started, as far as it is alive.
pub(super) fn descendants(of: Pid) -> Vec<Pid> {
    let all = all();
    let mut found = BTreeSet::from([of.as_raw_nonzero().get()]);
    loop {
        let before = found.len();
        let children: Vec<i32> =
            all.iter().filter(|child| found.contains(&child.parent)).map(|child| child.id).collect();
        found.extend(children);
        if found.len() == before {
            break;
        }
    }
    let living = all.iter().filter(|process| found.contains(&process.id) && !process.is_dead);
    living.filter_map(|process| Pid::from_raw(process.id)).filter(|id| *id != of).collect()
}

/// Kills all that a process started until nothing is left of it. Orphans have to come to this process.
pub(super) fn sweep(of: Pid) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let living = descendants(of);
        for process in &living {
            // It may have ended by itself.
            let _ = kill_process(*process, Signal::KILL);
        }
        while let Ok(Some(_)) = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {}
        if living.is_empty() || Instant::now() > deadline {
            return;
        }
    }
}

fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The name of a program, in parentheses, may hold anything; what follows it does not.
fn read(id: i32) -> Option<Process> {
    let folder = format!("/proc/{id}");
    let user = std::fs::metadata(&folder).ok()?.uid();
    let stat = std::fs::read(format!("{folder}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let is_dead = matches!(*fields.first()?, "Z" | "X");
    Some(Process { id, parent: fields.get(1)?.parse().ok()?, is_dead, threads: fields.get(17)?.parse().ok()?, user })
}
