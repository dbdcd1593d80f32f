//! Where conversations come from.

use super::{MAX_BYTES, ReadError};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file, or text that was read elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Text with the name it has in reports.
    Text {
        /// The name.
        name: String,
        /// The text.
        text: String,
    },
    /// What was read elsewhere and may be no text: then it is skipped as such a file is.
    Bytes {
        /// The name.
        name: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl Source {
    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Text { name, .. } | Self::Bytes { name, .. } => name.clone(),
        }
    }

    /// Its size; 0 where that cannot be had.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::File(path) => path.metadata().map_or(0, |metadata| metadata.len()),
            Self::Text { text, .. } => text.len() as u64,
            Self::Bytes { bytes, .. } => bytes.len() as u64,
        }
    }

    /// When it was last changed, in milliseconds since 1970, where that can be had.
    pub(crate) fn modified_millis(&self) -> Option<i64> {
        let Self::File(path) = self else {
            return None;
        };
        let since = path.metadata().ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    }

    pub(crate) fn text(&self) -> Result<String, ReadError> {
        let size = self.bytes();
        if size > MAX_BYTES {
            return Err(ReadError::TooLarge(size));
        }
        match self {
            Self::File(path) => std::fs::read_to_string(path).map_err(ReadError::File),
            Self::Text { text, .. } => Ok(text.clone()),
            Self::Bytes { bytes, .. } => {
                let mut text = String::with_capacity(bytes.len());
                bytes.as_slice().read_to_string(&mut text).map_err(ReadError::File)?;
                Ok(text)
            }
        }
    }
}

/// The files of paths: a file as it is, a folder with everything below it that ends in `.json` or `.jsonl`, sorted.
/// What is not there is kept as a file, so that reading it names it.
#[must_use]
pub fn find(paths: &[PathBuf]) -> Vec<Source> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            collect(path, &mut found);
        } else {
            found.push(path.clone());
        }
    }
    found.into_iter().map(Source::File).collect()
}

pub(super) fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        // Reading the folder as a file will fail and name it.
        found.push(folder.to_owned());
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_link = path.is_symlink();
        if path.is_dir() {
            // A link to a folder could lead back up.
            if !is_link {
                collect(&path, found);
            }
        } else if has_extension(&path, "json") || has_extension(&path, "jsonl") {
            found.push(path);
        }
    }
}

pub(super) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|other| other == extension)
}
