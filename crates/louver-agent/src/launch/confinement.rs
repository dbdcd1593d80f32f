//! What a program may touch.

use super::readable;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a program may touch, and how much of the machine it may take.
///
/// Files are guarded by Landlock, where the kernel has it: the program and all it starts read and write below a folder and
/// in a temporary folder of their own, read what is installed, and see nothing else. UDP, and sockets that are files, are
/// not guarded.
///
/// ```
/// use louver_agent::launch::Confinement;
///
/// let folder = tempfile::tempdir()?;
/// let confinement = Confinement::to(folder.path()).allow_tcp();
/// assert_ne!(confinement, Confinement::to(folder.path()));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    pub(super) folder: PathBuf,
    pub(super) is_read_only: bool,
    pub(super) readable: Vec<PathBuf>,
    pub(super) has_tcp: bool,
    /// Processes and threads, besides those that the user has already.
    pub(super) processes: u64,
    /// Of each process.
    pub(super) memory_bytes: u64,
    /// Of each file.
    pub(super) file_bytes: u64,
}

/// How much of a [`Confinement`] the kernel can enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Files and TCP.
    Full,
    /// Files; the kernel is too old to guard TCP.
    Files,
    /// Nothing: there is no Landlock.
    None,
}

impl Confinement {
    /// To a folder, with all that is installed readable, and no TCP.
    pub fn to(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            is_read_only: false,
            readable: readable::installed(),
            has_tcp: false,
            processes: 512,
            memory_bytes: 8 << 30,
            file_bytes: 4 << 30,
        }
    }

    /// The same, but nothing in the folder can be changed.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// The same with TCP connections.
    #[must_use]
    pub fn allow_tcp(self) -> Self {
        Self { has_tcp: true, ..self }
    }

    /// The same with other limits: processes besides those that the user has, and bytes of memory of each of them.
    #[must_use]
    pub fn limits(self, processes: u64, memory_bytes: u64, file_bytes: u64) -> Self {
        Self { processes, memory_bytes, file_bytes, ..self }
    }
}

impl Guard {
    /// What this kernel can do.
    #[cfg(target_os = "linux")]
    pub fn of_this_kernel() -> Self {
        use landlock::{AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr};
        let required = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let can = |ruleset: Result<Ruleset, landlock::RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
        let files = can(required().handle_access(AccessFs::ReadFile));
        match files && can(required().handle_access(AccessNet::ConnectTcp)) {
            true => Self::Full,
            false if files => Self::Files,
            false => Self::None,
        }
    }

    /// What this kernel can do: nothing of the kind.
    #[cfg(not(target_os = "linux"))]
    pub fn of_this_kernel() -> Self {
        Self::None
    }
}
