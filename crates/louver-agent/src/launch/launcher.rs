//! The binary that programs are started by.

#[cfg(target_os = "linux")]
use super::attendant;
#[cfg(target_os = "linux")]
use super::confined::{self, CONFINED};
use super::confinement::Confinement;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::process::Command;

/// The first argument of an attendant.
const ATTENDANT: &str = "__attend";
/// What a shell says of a program that cannot be run.
const CANNOT_RUN: u8 = 126;

/// The binary that starts programs: one whose `main` begins with [`serve`].
#[derive(Clone, Debug)]
pub struct Launcher {
    binary: PathBuf,
    confinement: Option<Confinement>,
}

/// As long as this is there, so is the program.
#[derive(Debug)]
pub(crate) struct Life(#[expect(dead_code, reason = "it is there to be dropped")] PipeWriter);

impl Launcher {
    /// This very binary.
    ///
    /// # Errors
    ///
    /// Nobody knows where it is, or the system is none on which programs can be attended.
    pub fn current() -> io::Result<Self> {
        match cfg!(target_os = "linux") {
            true => std::env::current_exe().map(|binary| Self { binary, confinement: None }),
            false => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The same, which confines what it starts.
    #[must_use]
    pub fn confining(self, confinement: Confinement) -> Self {
        Self { confinement: Some(confinement), ..self }
    }

    /// Starts a program with an attendant. What `spawn` sets holds for both.
    #[cfg(target_os = "linux")]
    pub(crate) fn spawn<T>(
        &self,
        program: &Path,
        arguments: &[String],
        spawn: impl FnOnce(&mut Command) -> io::Result<T>,
    ) -> io::Result<(T, Life)> {
        use rustix::io::{FdFlags, fcntl_setfd};
        use std::os::fd::AsRawFd;
        let (reader, writer) = io::pipe()?;
        // Programs that are started in the same moment may get it, too; from its reading end there is nothing to be had.
        fcntl_setfd(&reader, FdFlags::empty())?;
        let mut command = Command::new(&self.binary);
        command.arg(ATTENDANT).arg(reader.as_raw_fd().to_string());
        command.arg(serde_json::to_string(&self.confinement)?).arg(program).args(arguments);
        Ok((spawn(&mut command)?, Life(writer)))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn spawn<T>(
        &self,
        _: &Path,
        _: &[String],
        _: impl FnOnce(&mut Command) -> io::Result<T>,
    ) -> io::Result<(T, Life)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Does what a [`Launcher`] asks of the binary, if the arguments of this process say so: the first thing that `main` of such
/// a binary does.
///
/// ```
/// use louver_agent::launch::serve;
///
/// assert_eq!(serve(["louver".into(), "run".into()]), None);
/// ```
#[cfg(target_os = "linux")]
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    use std::io::Write;
    let arguments: Vec<OsString> = arguments.into_iter().skip(1).collect();
    let [role, first, second, command @ ..] = arguments.as_slice() else { return None };
    let (Some(first), Some(second)) = (first.to_str(), second.to_str()) else { return None };
    let error = match role {
        role if role == OsStr::new(ATTENDANT) => match attendant::attend(first, second, command) {
            Ok(code) => return Some(code),
            Err(error) => error,
        },
        role if role == OsStr::new(CONFINED) => confined::become_program(first, second, command),
        _ => return None,
    };
    let program = command.first().map(Path::new).unwrap_or(Path::new("")).display();
    // Where nobody reads, nobody is told.
    let _ = writeln!(io::stderr(), "{program} could not be run: {error}");
    Some(ExitCode::from(CANNOT_RUN))
}

/// Does nothing where programs cannot be attended.
#[cfg(not(target_os = "linux"))]
pub fn serve(_: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    None
}
