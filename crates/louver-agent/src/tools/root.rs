use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::refusal::{Refusal, quote};
use super::root_path::RootPath;

/// The folder that the tools work in and cannot leave.
///
/// It is held open, and everything below it is opened relative to that handle, so that no link, however it got there,
/// leads out. Links that stay inside work. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Root {
    dir: Arc<Dir>,
    path: PathBuf,
    given: PathBuf,
}

impl Root {
    /// Opens a folder as a root.
    ///
    /// # Errors
    ///
    /// If it does not exist, is no folder, or may not be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let given = std::path::absolute(path.as_ref())?;
        let path = given.canonicalize()?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { dir: Arc::new(dir), path, given })
    }

    /// Where it is, free of links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Reads a path that the model wrote.
    pub(crate) fn parse(&self, text: &str) -> Result<RootPath, Refusal> {
        RootPath::parse(text, &[&self.path, &self.given])
    }

    /// Opens a regular file for reading; what would block or is no file is refused.
    pub(crate) fn open_file(&self, path: &RootPath) -> Result<File, Refusal> {
        let mut options = OpenOptions::new();
        // A named pipe would otherwise wait for somebody to write to it.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        options.read(true).custom_flags(flags);
        let file = self.dir.open_with(path.as_path(), &options).map_err(|error| problem(path, &error))?;
        let metadata = file.metadata().map_err(|error| problem(path, &error))?;
        if metadata.is_dir() {
            return Err(Refusal::new(format!("{} is a folder; list it with list_files", quote(&path.to_string()))));
        }
        if !metadata.is_file() {
            let reason = format!("{} is neither a file nor a folder and cannot be read", quote(&path.to_string()));
            return Err(Refusal::new(reason));
        }
        Ok(file)
    }
}

/// An error of the file system, with what to do about it.
pub(crate) fn problem(path: &RootPath, error: &io::Error) -> Refusal {
    let path = quote(&path.to_string());
    Refusal::new(match error.kind() {
        io::ErrorKind::NotFound => format!("{path} does not exist; see what does with list_files"),
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            format!("{path} leads out of the root through a symbolic link; only what is inside the root can be used")
        }
        io::ErrorKind::PermissionDenied => format!("{path} may not be accessed: permission denied"),
        io::ErrorKind::NotADirectory => format!("a part of {path} is a file, not a folder"),
        io::ErrorKind::InvalidFilename => format!("{path} has a name that is too long; use a shorter one"),
        _ => format!("{path} cannot be used: {error}"),
    })
}
