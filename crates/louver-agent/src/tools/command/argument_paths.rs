use std::path::{Path, PathBuf};

use crate::tools::Root;
use crate::tools::refusal::{Refusal, quote};
use crate::tools::root_path::{RootPath, normal};

/// What the arguments of a command may point at.
///
/// This guards against mistakes. It is no jail: a program that opens other files on its own is not kept from it, and
/// which programs run is up to the [`AllowList`](super::AllowList).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ArgumentPaths {
    /// An argument that reads as a path outside the root is refused.
    #[default]
    InsideRoot,
    /// Arguments are not looked at.
    Anywhere,
}

impl ArgumentPaths {
    pub(crate) fn check(self, root: &Root, arguments: &[String]) -> Result<(), Refusal> {
        match self {
            Self::Anywhere => Ok(()),
            Self::InsideRoot => arguments.iter().try_for_each(|argument| check(root, argument)),
        }
    }
}

fn check(root: &Root, argument: &str) -> Result<(), Refusal> {
    for reading in readings(argument) {
        let real = root.path().join(reading).canonicalize().ok();
        if let Some(inside) = real.as_deref().and_then(|real| real.strip_prefix(root.path()).ok()) {
            root.refuse_hidden(&RootPath::from(inside.to_owned()), None)?;
        }
    }
    if readings(argument).all(|reading| is_inside(root.path(), Path::new(reading))) {
        return Ok(());
    }
    let argument = quote(argument);
    Err(Refusal::new(format!(
        "the argument {argument} points out of the root; use a path relative to the root, which is the working folder"
    )))
}

/// The ways in which a program may find a path in an argument: `x`, `--name=x`, `-nx`, `@x`, `file://x`.
fn readings(argument: &str) -> impl Iterator<Item = &str> {
    let value = argument.split_once('=').map(|(_, value)| value);
    let short = argument.strip_prefix('-').and_then(|rest| rest.char_indices().nth(1).map(|(at, _)| &rest[at..]));
    let listed = argument.strip_prefix('@');
    let file = argument.find("file://").map(|at| &argument[at + "file://".len()..]);
    [Some(argument), value, short, listed, file].into_iter().flatten().filter(|reading| !is_address(reading))
}

/// Whether it is the address of something that is no file.
fn is_address(reading: &str) -> bool {
    let is_scheme = |scheme: &str| !scheme.is_empty() && scheme.chars().all(|part| part.is_ascii_alphanumeric());
    reading.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme) && !scheme.eq_ignore_ascii_case("file"))
}

fn is_inside(root: &Path, path: &Path) -> bool {
    if path == Path::new("/dev/null") {
        return true;
    }
    let Ok(relative) = path.strip_prefix(root).or_else(|error| if path.is_absolute() { Err(error) } else { Ok(path) })
    else {
        return false;
    };
    normal(relative).is_some() && nearest(&root.join(relative)).is_none_or(|real| real.starts_with(root))
}

/// The path, or its nearest parent that exists, free of links.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|path| path.canonicalize().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn arguments_that_point_out_are_refused_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        std::fs::create_dir(root.path().join("src")).unwrap();
        symlink("/etc", root.path().join("out")).unwrap();
        symlink("src", root.path().join("in")).unwrap();
        let own = root.path().join("src").display().to_string();

        let inside = [
            "",
            "-",
            "--",
            "-n",
            "test",
            "src/main.rs",
            "src/../x",
            "HEAD..main",
            "a..b",
            "--color=always",
            "-j2",
            "in/x",
            "https://a.example/b",
            "--url=https://a.example/../..",
            "/dev/null",
            "..a",
            own.as_str(),
            "é=é",
            "-é",
        ];
        for argument in inside {
            assert_eq!(check(&root, argument), Ok(()), "{argument}");
        }
        let outside = [
            "..",
            "../x",
            "/etc/passwd",
            "/",
            "src/../../x",
            "--file=/etc/passwd",
            "--file=../x",
            "-C/etc",
            "-C..",
            "@/etc/passwd",
            "out",
            "out/passwd",
            "out/new/file",
            "--file=out/passwd",
            "-iout/passwd",
            "file:///etc/passwd",
            "--url=file:///etc/passwd",
            "../a://b",
        ];
        for argument in outside {
            assert!(
                check(&root, argument).is_err_and(|refusal| refusal.reason().contains("out of the root")),
                "{argument}"
            );
        }
        assert_eq!(ArgumentPaths::Anywhere.check(&root, &["/etc".to_owned()]), Ok(()));
    }
}
