use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
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
    /// Files of the run itself, which are out of the tools' reach.
    hidden: Vec<RootPath>,
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
        Ok(Self { dir: Arc::new(dir), path, given, hidden: Vec::new() })
    }

    /// Puts a file out of the tools' reach, by whatever name: one that the run itself depends on. One that is not inside
    /// the root is so already.
    ///
    /// # Errors
    ///
    /// If the folder it is in does not exist.
    pub fn hide(&mut self, file: &Path) -> io::Result<()> {
        let file = std::path::absolute(file)?;
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
        let real = folder.canonicalize()?.join(name);
        if let Ok(inside) = real.strip_prefix(&self.path) {
            self.hidden.push(RootPath::from(inside.to_owned()));
        }
        Ok(())
    }

    /// The files that are hidden in it, as seen from it.
    pub fn hidden_files(&self) -> impl Iterator<Item = &Path> {
        self.hidden.iter().map(RootPath::as_path)
    }

    /// Whether this is the path of a hidden file.
    pub(crate) fn hides(&self, path: &RootPath) -> bool {
        self.hidden.contains(path)
    }

    /// Refuses a hidden file, also by another name, such as a hard link or one in another case.
    pub(crate) fn refuse_hidden(&self, path: &RootPath, metadata: Option<&Metadata>) -> Result<(), Refusal> {
        let is_same = |hidden: &RootPath| {
            let there = self.dir.symlink_metadata(hidden.as_path()).ok();
            let id = |metadata: &Metadata| (metadata.dev(), metadata.ino());
            there.zip(metadata).is_some_and(|(there, here)| id(&there) == id(here))
        };
        if self.hides(path) || self.hidden.iter().any(is_same) {
            let path = quote(&path.to_string());
            return Err(Refusal::new(format!("{path} belongs to the run itself and is out of reach; leave it alone")));
        }
        Ok(())
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
        self.refuse_hidden(path, Some(&metadata))?;
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
