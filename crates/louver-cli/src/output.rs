//! Writing files so that they appear whole or not at all.

use crate::input::spoken;
use anyhow::Context;
use clap::{Args, ValueHint};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where the result goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// Write to FILE instead of stdout; it appears whole or not at all
    #[arg(id = "OUTPUT", short = 'o', long = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    path: Option<PathBuf>,
}

impl Output {
    /// The file, unless it is stdout, which `-` stands for, too.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.as_os_str() != "-")
    }
}

/// A file that is written but not yet in its place. Dropped before [`commit`](Self::commit), it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Staged {
    name: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A finished file beside its target.
    Beside { file: NamedTempFile, target: PathBuf },
    /// A device or a pipe, which nothing can be renamed onto.
    Into { file: File, bytes: Vec<u8> },
}

impl Staged {
    /// Writes `bytes` beside `path`.
    pub(crate) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        let place = stage(path, bytes).with_context(|| path.display().to_string())?;
        Ok(Self { name: path.to_owned(), place })
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        let done = match self.place {
            Place::Beside { file, target } => file.persist(&target).map(drop).map_err(|failed| failed.error),
            Place::Into { mut file, bytes } => file.write_all(&bytes),
        };
        done.map_err(spoken).with_context(|| self.name.display().to_string())
    }
}

fn stage(path: &Path, bytes: &[u8]) -> anyhow::Result<Place> {
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|about| about.is_dir()) {
        anyhow::bail!("is a directory, not a file");
    }
    if existing.as_ref().is_some_and(|about| !about.is_file()) {
        let file = OpenOptions::new().write(true).open(&target).map_err(spoken)?;
        return Ok(Place::Into { file, bytes: bytes.to_owned() });
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = new_file(folder).map_err(spoken)?;
    file.write_all(bytes).map_err(spoken)?;
    if let Some(about) = existing {
        file.as_file().set_permissions(about.permissions()).map_err(spoken)?;
    }
    file.as_file().sync_data().map_err(spoken)?;
    Ok(Place::Beside { file, target })
}

/// Temporary files are private; an output is an ordinary file, so it gets what the umask leaves.
fn new_file(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".louver-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// A JSON array with one element a line.
pub(crate) fn json_list<T: serde::Serialize>(elements: &[T]) -> anyhow::Result<String> {
    let lines: Vec<String> = elements.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) })
}
