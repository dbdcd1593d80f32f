use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions, Permissions, PermissionsExt};
use serde::Deserialize;
use serde_json::{Value, json};

use super::off_thread::off_thread;
use super::refusal::{Refusal, quote};
use super::root::problem;
use super::root_path::RootPath;
use super::{Limits, Root, Tool, ToolDefinition, ToolOutput};

/// `write_file`: a new file, or a new content for one, all or nothing.
#[derive(Debug, Clone)]
pub struct WriteFile {
    root: Root,
    limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    path: String,
    content: String,
}

impl WriteFile {
    /// Writes files below `root`.
    pub fn new(root: Root, limits: Limits) -> Self {
        Self { root, limits }
    }

    fn write(&self, request: &Request) -> Result<ToolOutput, Refusal> {
        let path = self.root.parse(&request.path)?;
        let size = request.content.len();
        if size > self.limits.write_bytes {
            let limit = self.limits.write_bytes;
            let reason = format!("the content has {size} bytes, more than {limit}; write smaller files");
            return Err(Refusal::new(reason));
        }
        let Some(name) = path.file_name() else {
            return Err(Refusal::new("the path is the root itself; name a file in it"));
        };
        refuse_repository(&path)?;
        let (parent, folder) = self.open_parent(&path)?;
        let real = parent.join(name);
        refuse_repository(&real)?;
        self.root.refuse_hidden(&real, folder.symlink_metadata(name).ok().as_ref())?;
        let mode = mode_of(&folder, name, &real)?;
        let verb = if mode.is_none() { "created" } else { "replaced" };
        replace(&folder, name, request.content.as_bytes(), mode).map_err(|error| problem(&path, &error))?;
        let text = format!("{verb} {real} ({size} bytes)");
        Ok(ToolOutput { files_changed: vec![real.into_path_buf()], ..ToolOutput::text(text) })
    }

    /// Opens the folder that the file goes to, made if need be, with its path free of links.
    fn open_parent(&self, path: &RootPath) -> Result<(RootPath, Dir), Refusal> {
        let parent = path.parent();
        let dir = self.root.dir();
        let opened = || -> io::Result<(RootPath, Dir)> {
            dir.create_dir_all(parent.as_path())?;
            let real = dir.canonicalize(parent.as_path())?;
            let folder = dir.open_dir(&real)?;
            Ok((RootPath::from(real), folder))
        };
        opened().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Refusal::new(format!("a part of {} is a file, not a folder", quote(&parent.to_string())))
            }
            _ => problem(&parent, &error),
        })
    }
}

/// Hooks and settings in there are run by git, past the allow list of commands.
fn refuse_repository(path: &RootPath) -> Result<(), Refusal> {
    if path.has_component(".git") {
        return Err(Refusal::new("nothing may be written inside .git; use git commands, if they are allowed"));
    }
    Ok(())
}

/// The mode of the file that is there already, if one is. That it runs as its owner is not part of it.
fn mode_of(folder: &Dir, name: &OsStr, path: &RootPath) -> Result<Option<u32>, Refusal> {
    let shown = quote(&path.to_string());
    match folder.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(problem(path, &error)),
        Ok(metadata) if metadata.is_file() => Ok(Some(metadata.permissions().mode() & 0o777)),
        Ok(metadata) if metadata.is_dir() => Err(Refusal::new(format!("{shown} is a folder; name a file in it"))),
        Ok(metadata) if metadata.is_symlink() => {
            let reason = format!("{shown} is a symbolic link; write to the file that it points to, by its own path");
            Err(Refusal::new(reason))
        }
        Ok(_) => Err(Refusal::new(format!("{shown} is not a regular file; write to another path"))),
    }
}

/// Writes beside the file and renames, which never follows a link and never leaves half a file.
fn replace(folder: &Dir, name: &OsStr, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    let (temporary, mut file) = temporary_file(folder)?;
    let mut written = || -> io::Result<()> {
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.write_all(content)?;
        file.sync_data()?;
        folder.rename(&temporary, folder, name)
    };
    written().inspect_err(|_| {
        // The write has failed already; that is what gets reported.
        let _ = folder.remove_file(&temporary);
    })
}

/// A new file of a name that nobody uses. A run that was killed may have left one behind.
fn temporary_file(folder: &Dir) -> io::Result<(String, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".louver-draft-{}-{number}", std::process::id());
        match folder.open_with(&name, &options) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (name, file)),
        }
    }
}

#[async_trait::async_trait]
impl Tool for WriteFile {
    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Writes a text file, replacing the whole of it if it exists. Folders on the way are made. At most {} bytes.",
            self.limits.write_bytes
        );
        let properties = json!({
            "path": {"type": "string", "description": "The file, relative to the root."},
            "content": {"type": "string", "description": "The whole content of the file."},
        });
        ToolDefinition::new("write_file", &description, &properties, &["path", "content"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        off_thread(self, arguments, Self::write).await
    }
}
