//! The process that becomes the program, once it has given up what the program must not have.

use super::confinement::Confinement;
use super::processes::threads_of;
use super::readable::parts_of_program;
use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, getuid, set_parent_process_death_signal, setrlimit,
};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The first argument of such a process.
pub(super) const CONFINED: &str = "__confined";

/// The newest that is known; of what an older kernel cannot do the rest is enforced.
const NEWEST: ABI = ABI::V9;

/// What every program writes to or reads from.
const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Becomes the program; comes back only if it cannot.
pub(super) fn become_program(attendant: &str, confinement: &str, command: &[OsString]) -> io::Error {
    let [program, arguments @ ..] = command else { return io::ErrorKind::InvalidInput.into() };
    match prepare(attendant, confinement, Path::new(program)) {
        Ok(()) => Command::new(program).args(arguments).exec(),
        Err(error) => error,
    }
}

fn prepare(attendant: &str, confinement: &str, program: &Path) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have died before that was said.
    if getppid().is_none_or(|parent| parent.to_string() != attendant) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    let confinement: Option<Confinement> = serde_json::from_str(confinement)?;
    let Some(confinement) = confinement else { return Ok(()) };
    let processes = threads_of(getuid().as_raw()).saturating_add(confinement.processes);
    limit(Resource::Nproc, processes)?;
    limit(Resource::Data, confinement.memory_bytes)?;
    limit(Resource::Fsize, confinement.file_bytes)?;
    limit(Resource::Core, 0)?;
    restrict(&confinement, program).map_err(io::Error::other)
}

fn limit(resource: Resource, at_most: u64) -> io::Result<()> {
    let most = getrlimit(resource).maximum.map_or(at_most, |maximum| maximum.min(at_most));
    Ok(setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?)
}

/// As far as the kernel can; what it cannot, whoever starts a run is told.
fn restrict(confinement: &Confinement, program: &Path) -> Result<(), RulesetError> {
    let (all, read) = (AccessFs::from_all(NEWEST), AccessFs::from_read(NEWEST));
    let mut ruleset = Ruleset::default().handle_access(all)?.scope(Scope::from_all(NEWEST))?;
    if !confinement.has_tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let own = if confinement.is_read_only { read } else { all };
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    ruleset
        .create()?
        .add_rules(path_beneath_rules(&confinement.readable, read))?
        .add_rules(path_beneath_rules(parts_of_program(program), read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules([&confinement.folder], own))?
        .add_rules(path_beneath_rules(
            [std::env::temp_dir()].iter().filter(|_| std::env::var_os("TMPDIR").is_some()),
            all,
        ))?
        .restrict_self()?;
    Ok(())
}
