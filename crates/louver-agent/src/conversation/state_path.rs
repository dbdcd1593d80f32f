//! The place of a state file: opened without following anything, locked, private.

use super::state_error::StateError;
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Only its owner reads and writes it.
const PRIVATE: u32 = 0o600;

/// A regular file at its place, locked for as long as this value lives.
#[derive(Debug)]
pub(super) struct StatePath {
    path: PathBuf,
    file: File,
}

impl StatePath {
    /// Opens and locks the file that is there, if one is. Links, devices and folders are refused.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, StateError> {
        // Looked at before it is opened, because opening a device can do something; and once more afterwards, because
        // somebody may have put something else there.
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StateError::io(path, error)),
            Ok(metadata) => refuse_others(path, &metadata)?,
        }
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
        let opened = OpenOptions::new().read(true).append(true).custom_flags(flags).open(path);
        let file = opened.map_err(|error| StateError::io(path, error))?;
        refuse_others(path, &file.metadata().map_err(|error| StateError::io(path, error))?)?;
        let found = Self { path: path.to_owned(), file };
        found.lock()?;
        match found.is_in_place()? {
            true => Ok(Some(found)),
            false => Err(StateError::InUse(path.to_owned())),
        }
    }

    /// A new file with this in it, where nothing is.
    pub(super) fn create(path: &Path, text: &str) -> Result<Self, StateError> {
        Self::put(path, text, RenameFlags::NOREPLACE)
    }

    /// Another file in the place of this one, at once.
    pub(super) fn replace(self, text: &str) -> Result<Self, StateError> {
        // This one stays locked until the other is there, and locked.
        Self::put(&self.path, text, RenameFlags::empty())
    }

    fn put(path: &Path, text: &str, flags: RenameFlags) -> Result<Self, StateError> {
        let io_error = |error| StateError::io(path, error);
        let (beside, mut file) = draft(path).map_err(io_error)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        let state = Self { path: path.to_owned(), file };
        let moved = written
            .map_err(io_error)
            .and_then(|()| state.lock())
            .and_then(|()| renameat_with(CWD, &beside, CWD, path, flags).map_err(|error| io_error(error.into())));
        if let Err(error) = moved {
            // That it could not be put there is what matters.
            let _ = std::fs::remove_file(&beside);
            return Err(match error {
                StateError::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                    StateError::InUse(path.to_owned())
                }
                error => error,
            });
        }
        Ok(state)
    }

    fn lock(&self) -> Result<(), StateError> {
        self.file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => StateError::InUse(self.path.clone()),
            TryLockError::Error(error) => self.error(error),
        })
    }

    /// All of it.
    pub(super) fn read(&mut self) -> Result<String, StateError> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes).map_err(|error| self.error(error))?;
        let text = String::from_utf8(bytes);
        text.map_err(|_| StateError::occupied(&self.path, "no text, so no state file"))
    }

    /// Cuts it to what was written whole, and makes it private if it was not.
    pub(super) fn truncate(&self, length: u64) -> Result<(), StateError> {
        let private = self.file.set_permissions(Permissions::from_mode(PRIVATE));
        private.and_then(|()| self.file.set_len(length)).map_err(|error| self.error(error))
    }

    /// Writes at its end, which nobody else has moved.
    pub(super) fn append(&mut self, text: &str, length: u64) -> Result<(), StateError> {
        let found = self.file.metadata().map_err(|error| self.error(error))?.len();
        if found != length || !self.is_in_place()? {
            return Err(StateError::Changed(self.path.clone()));
        }
        self.file.write_all(text.as_bytes()).map_err(|error| self.error(error))
    }

    pub(super) fn sync(&self) -> Result<(), StateError> {
        self.file.sync_data().map_err(|error| self.error(error))
    }

    /// Whether the path still leads to this file.
    fn is_in_place(&self) -> Result<bool, StateError> {
        let own = self.file.metadata().map_err(|error| self.error(error))?;
        let there = std::fs::symlink_metadata(&self.path);
        Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())))
    }

    fn error(&self, source: io::Error) -> StateError {
        StateError::io(&self.path, source)
    }
}

impl Drop for StatePath {
    /// Closing would do it, too, but not before a process that is just being started has let go of its copy.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn refuse_others(path: &Path, metadata: &std::fs::Metadata) -> Result<(), StateError> {
    let kind = metadata.file_type();
    let what = match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a folder",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if !kind.is_file() => "a pipe or a socket",
        () if metadata.nlink() > 1 => "a file with another name besides (a hard link)",
        () => return Ok(()),
    };
    Err(StateError::occupied(path, what))
}

/// A new private file beside a path. A run that was killed may have left one behind.
fn draft(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true).mode(PRIVATE);
    for number in 0_u32.. {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.{number}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        match options.open(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (beside, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
