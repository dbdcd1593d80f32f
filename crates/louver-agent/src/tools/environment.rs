use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::secrets::{HIDDEN, MIN_SECRET_BYTES};
use rustix::fs::{Access, access};

/// The variables that a command gets to see, and no others.
///
/// `Debug` shows their names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

/// What programs need to run at all; no key or token goes by these names.
const USUAL: [&str; 15] = [
    "CARGO_HOME",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
];

impl Environment {
    /// These variables.
    pub fn new<K: Into<OsString>, V: Into<OsString>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        Self { variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }

    /// Of this process's variables the usual harmless ones (`PATH`, `HOME`, `LANG` and the like) and those named.
    pub fn inherit<S: AsRef<OsStr>>(also: impl IntoIterator<Item = S>) -> Self {
        let also: Vec<OsString> = also.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let wanted = |name: &OsString| USUAL.iter().any(|usual| name == *usual) || also.contains(name);
        Self { variables: std::env::vars_os().filter(|(name, _)| wanted(name)).collect() }
    }

    /// The same with one more variable, or another value for it.
    ///
    /// ```
    /// use louver_agent::tools::Environment;
    ///
    /// let environment = Environment::default().with("LANG", "C");
    /// assert_eq!(environment, Environment::new([("LANG", "C")]));
    /// ```
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub(crate) fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// A text without the values of variables that are not among the usual ones: what is passed on so explicitly is a
    /// key or a token more often than not.
    pub(crate) fn redact(&self, mut text: String) -> String {
        let is_usual = |name: &OsString| USUAL.iter().any(|usual| name == *usual);
        for value in self.variables.iter().filter(|(name, _)| !is_usual(name)).filter_map(|(_, value)| value.to_str()) {
            // Shorter values are settings, such as `1` or `true`.
            if value.len() >= MIN_SECRET_BYTES && text.contains(value) {
                text = text.replace(value, HIDDEN);
            }
        }
        text
    }

    /// Whether a program is there: at its path, or in `PATH`.
    #[must_use]
    pub fn has(&self, program: &str) -> bool {
        if program.contains('/') {
            return Path::new(program).is_file();
        }
        let path = self.variables.get(OsStr::new("PATH")).map(OsString::as_os_str).unwrap_or_default();
        std::env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
    }

    /// Where `PATH` finds a program. Folders that are relative, or in `root`, are passed over, and so is a program
    /// that a link takes from there: the model can write to it.
    pub(crate) fn find(&self, program: &str, root: &Path) -> Option<PathBuf> {
        let path = self.variables.get(OsStr::new("PATH"))?;
        let is_outside = |path: &Path| path.canonicalize().is_ok_and(|real| !real.starts_with(root));
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|file| file.parent().is_some_and(is_outside) && is_outside(file) && is_executable(file))
    }
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_variables_are_inherited() {
        let environment = Environment::inherit(["CARGO_PKG_NAME"]);
        assert_eq!(environment.variables().get(OsStr::new("CARGO_PKG_NAME")), Some(&"louver-agent".into()));
        assert!(!environment.variables().contains_key(OsStr::new("CARGO_PKG_VERSION")));
        let known = |name: &OsString| USUAL.iter().any(|usual| name == *usual) || name == "CARGO_PKG_NAME";
        assert!(environment.variables().keys().all(known));
    }

    #[test]
    fn values_of_variables_that_are_not_usual_are_redacted() {
        let environment = Environment::new([("API_KEY", "sk-secret"), ("HOME", "/home/somebody"), ("CI", "true")]);
        let text = environment.redact("sk-secret is not in /home/somebody: true".to_owned());
        assert_eq!(text, "*** is not in /home/somebody: true");
    }

    #[test]
    fn debug_shows_names_and_no_values() {
        let environment = Environment::new([("API_KEY", "sk-secret")]);
        assert_eq!(format!("{environment:?}"), r#"{"API_KEY"}"#);
    }
}
