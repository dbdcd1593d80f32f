use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use super::refusal::{Refusal, quote, visible};

/// A path below the root as the model wrote it, free of `..`: the root itself, or names joined by `/`.
///
/// It is only a wish. That what it names really lies inside is for the [`Root`](super::Root) to see to, which opens it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RootPath(PathBuf);

const MAX_BYTES: usize = 4_096;

impl RootPath {
    /// Reads a path; `..` is resolved by its letters, and an absolute path may name one of the `roots`' own.
    pub(crate) fn parse(text: &str, roots: &[&Path]) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::new("the path is empty; name a file or folder, or `.` for the root"));
        }
        if text.len() > MAX_BYTES {
            let reason = format!("the path has {} bytes, more than {MAX_BYTES}; use a shorter one", text.len());
            return Err(Refusal::new(reason));
        }
        if text.chars().any(char::is_control) {
            let reason = format!("the path {} has a control character in it; leave that out", quote(text));
            return Err(Refusal::new(reason));
        }
        let path = Path::new(text);
        let relative = roots.iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        normal(relative).map(Self).ok_or_else(|| {
            let reason = format!("the path {} leads out of the root; give one relative to the root", quote(text));
            Refusal::new(reason)
        })
    }

    /// As a path to open below the root; the root itself is `.`.
    pub(crate) fn as_path(&self) -> &Path {
        if self.0.as_os_str().is_empty() { Path::new(".") } else { &self.0 }
    }

    pub(crate) fn parent(&self) -> Self {
        Self(self.0.parent().map(Path::to_owned).unwrap_or_default())
    }

    pub(crate) fn file_name(&self) -> Option<&OsStr> {
        self.0.file_name()
    }

    pub(crate) fn join(&self, name: &OsStr) -> Self {
        Self(self.0.join(name))
    }

    /// Whether any of its names is this one, in any case: some file systems do not tell them apart.
    pub(crate) fn has_component(&self, name: &str) -> bool {
        self.0.components().any(|component| component.as_os_str().eq_ignore_ascii_case(name))
    }

    pub(crate) fn depth(&self) -> usize {
        self.0.components().count()
    }

    pub(crate) fn into_path_buf(self) -> PathBuf {
        self.0
    }
}

impl From<PathBuf> for RootPath {
    /// Takes a path that the root itself gave out.
    fn from(path: PathBuf) -> Self {
        Self(normal(&path).unwrap_or_default())
    }
}

impl fmt::Display for RootPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.as_path().to_string_lossy().chars().flat_map(visible).collect();
        formatter.write_str(&text)
    }
}

/// The path without `.` and `..`, or nothing if it is absolute or climbs above where it starts.
pub(crate) fn normal(path: &Path) -> Option<PathBuf> {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => result.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !result.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        RootPath::parse(text, &[Path::new("/srv/root")])
            .map(|path| path.to_string())
            .map_err(|refusal| refusal.reason().to_owned())
    }

    #[test]
    fn paths_inside_are_written_the_plain_way() {
        assert_eq!(parse("src/main.rs"), Ok("src/main.rs".to_owned()));
        assert_eq!(parse("./src//x/../main.rs"), Ok("src/main.rs".to_owned()));
        assert_eq!(parse("/srv/root/src/main.rs"), Ok("src/main.rs".to_owned()));
        assert_eq!(parse("/srv/root"), Ok(".".to_owned()));
        assert_eq!(parse("a/.."), Ok(".".to_owned()));
        assert_eq!(parse("~/x"), Ok("~/x".to_owned()));
        assert_eq!(parse("..a/b.."), Ok("..a/b..".to_owned()));
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for path in
            ["..", "../x", "a/../../x", "/", "/etc/passwd", "/srv/rooted/x", "/srv/root/../x", "//etc", "a/../.."]
        {
            assert!(parse(path).is_err_and(|reason| reason.contains("leads out of the root")), "{path}");
        }
    }

    #[test]
    fn absurd_paths_are_refused() {
        assert!(parse("").is_err_and(|reason| reason.contains("is empty")));
        assert!(parse(&"a/".repeat(50_000)).is_err_and(|reason| reason.contains("100000 bytes")));
        assert!(parse("a\0b").is_err_and(|reason| reason.contains("control character")));
        assert!(parse("a\nb").is_err_and(|reason| reason.contains("`a\\nb`")));
    }

    proptest! {
        #[test]
        fn what_is_accepted_stays_inside_and_is_read_back_as_itself(text in "(/srv/root)?(/|\\.|\\.\\.|[a-c~ é]|/\\.\\./){0,12}") {
            if let Ok(path) = RootPath::parse(&text, &[Path::new("/srv/root")]) {
                prop_assert!(path.as_path().is_relative());
                prop_assert!(!path.has_component(".."));
                prop_assert!(Path::new("/srv/root").join(path.as_path()).starts_with("/srv/root"));
                prop_assert_eq!(RootPath::parse(&path.to_string(), &[]), Ok(path));
            }
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = RootPath::parse(&text, &[Path::new("/")]);
        }
    }
}
