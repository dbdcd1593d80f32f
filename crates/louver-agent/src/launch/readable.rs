//! What is installed: what programs need to read, and nobody's secrets.

use rustix::process::geteuid;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The system's own, and temporary folders.
const SYSTEM: [&str; 15] = [
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/proc",
    "/run/systemd/resolve",
    "/sbin",
    "/snap",
    "/sys",
    "/tmp",
    "/usr",
    "/var/tmp",
];

/// Toolchains in the home folder: their programs, libraries and caches, but no credentials.
const IN_HOME: [&str; 14] = [
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".config/git/attributes",
    ".config/git/config",
    ".config/git/ignore",
    ".gitconfig",
    ".nvm/versions",
    ".pyenv",
    ".rustup",
    "go/pkg",
];

/// Folders beside one with programs that belong to them.
const BESIDE_PROGRAMS: [&str; 4] = ["include", "lib", "lib64", "libexec"];

/// Everything that is installed on this machine and for this user.
pub(super) fn installed() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    folders.push(std::env::temp_dir());
    folders.extend(public(Path::new("/etc"), 2));
    if let Some(home) = std::env::home_dir() {
        folders.extend(IN_HOME.iter().map(|inside| home.join(inside)));
    }
    for variable in ["PYENV_ROOT", "RUSTUP_HOME", "VIRTUAL_ENV"] {
        folders.extend(std::env::var_os(variable).map(PathBuf::from));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders
        .extend(std::env::split_paths(&path).filter(|folder| folder.is_absolute()).flat_map(|at| with_libraries(&at)));
    folders.retain(|folder| folder.exists());
    folders.sort();
    folders.dedup();
    folders
}

/// A program that is named by its path, wherever a link leads, and what belongs to it.
#[cfg(target_os = "linux")]
pub(super) fn parts_of_program(program: &Path) -> Vec<PathBuf> {
    let real = program.canonicalize().ok().filter(|real| real.is_file());
    let folder = real.as_deref().and_then(Path::parent).filter(|folder| folder.ends_with("bin"));
    let libraries = folder.map(with_libraries).unwrap_or_default();
    real.into_iter().chain(libraries).collect()
}

/// A folder with programs, and what belongs to them.
fn with_libraries(programs: &Path) -> Vec<PathBuf> {
    let beside = programs.parent().into_iter().flat_map(|parent| BESIDE_PROGRAMS.map(|name| parent.join(name)));
    std::iter::once(programs.to_owned()).chain(beside).collect()
}

/// What anybody on this machine may read of a folder. An ordinary user cannot read the rest anyway; an administrator
/// could, and a program that runs as one should not.
fn public(path: &Path, depth: usize) -> Vec<PathBuf> {
    let is_public = |path: &Path| {
        let metadata = std::fs::metadata(path);
        metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
    };
    if !geteuid().is_root() || !path.is_dir() || depth == 0 {
        return if is_public(path) { vec![path.to_owned()] } else { Vec::new() };
    }
    let entries: Vec<PathBuf> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    match is_public(path) && entries.iter().all(|entry| is_public(entry)) {
        true => vec![path.to_owned()],
        false => entries.iter().flat_map(|entry| public(entry, depth - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_installed_holds_a_secret() {
        let installed = installed();
        assert!(installed.contains(&PathBuf::from("/usr")));
        let home = std::env::home_dir().unwrap_or_default();
        let secrets = ["/etc/shadow", "/etc/ssl/private", "/root", "/home"].map(PathBuf::from);
        let own = [".cargo/credentials.toml", ".ssh", ".git-credentials", ".config/git/credentials"];
        let own = own.map(|inside| home.join(inside));
        for secret in secrets.iter().chain(&own).chain([&home]) {
            let is_open = installed.iter().any(|folder| secret.starts_with(folder));
            assert!(!is_open || !geteuid().is_root() && secret.starts_with("/etc"), "{}", secret.display());
        }
    }
}
