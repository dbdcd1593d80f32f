//! Keys, kept out of the environment.
//!
//! What a process was started with stands in `/proc` for as long as it lives, and taking a variable away changes nothing
//! there. That the process is not dumpable keeps other programs of an ordinary user from reading it, but not those of an
//! administrator. So a run that finds keys in its environment starts itself again without them, in its own place, and
//! hands them over on standard input, from which a run reads nothing else.

use crate::args::{Arguments, Command};
use crate::config::Config;
use crate::settings;
use clap::Parser;
use louver_agent::ApiKey;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::io;

/// Says that the keys wait on standard input.
const HANDED_OVER: &str = "LOUVER_KEYS_ON_STDIN";

/// What is handed over at most: as much as a pipe holds while nobody reads.
const MAX_BYTES: usize = 60_000;

/// Keys and tokens by the names of their variables: those that were handed over, or else those of the environment.
#[derive(Default)]
pub struct Keys {
    handed_over: BTreeMap<String, String>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.handed_over.keys()).finish()
    }
}

impl Keys {
    /// Takes what was handed over; or starts the program again without the keys that its arguments and configuration name,
    /// which does not come back. To be called before anything else happens.
    #[must_use]
    pub fn settle() -> Self {
        if std::env::var_os(HANDED_OVER).is_some() {
            return Self { handed_over: receive().unwrap_or_default() };
        }
        // Where that cannot be done, the run itself says so.
        let _ = hand_over(std::env::args_os().collect());
        Self::default()
    }

    /// The value of a variable.
    pub(super) fn value(&self, variable: &str) -> Option<String> {
        self.handed_over.get(variable).cloned().or_else(|| std::env::var(variable).ok())
    }

    /// The key in a variable.
    pub(super) fn key(&self, variable: &str) -> Option<ApiKey> {
        self.value(variable).as_deref().and_then(ApiKey::parse)
    }

    /// The variables of a run that are in the environment all the same.
    pub(super) fn left_in_environment(job: &settings::Run<'_>) -> Vec<String> {
        names(job).into_iter().filter(|name| std::env::var_os(name).is_some()).collect()
    }
}

/// The variables that hold what a run keeps to itself.
fn names(job: &settings::Run<'_>) -> BTreeSet<String> {
    let providers = [Some(&job.provider), job.condensing.as_ref()].into_iter().flatten();
    let keys = providers.filter_map(|provider| provider.key_variable());
    let servers = job.config.tools.mcp_servers.values();
    let given = servers.flat_map(|server| server.env.iter().chain(&server.token_env)).map(String::as_str);
    keys.chain(given).map(str::to_owned).collect()
}

/// The keys in the environment that a run with these arguments wants. What is wrong with them is said later.
fn found(arguments: &[OsString]) -> BTreeMap<String, String> {
    let Ok(arguments) = Arguments::try_parse_from(arguments) else { return BTreeMap::new() };
    let Command::Run(run) = &arguments.command else { return BTreeMap::new() };
    let config = run.config.as_deref().and_then(|path| Config::load(path).ok());
    let job = settings::run(run, config.map(|checked| checked.config));
    names(&job).into_iter().filter_map(|name| Some((name.clone(), std::env::var(&name).ok()?))).collect()
}

#[cfg(target_os = "linux")]
fn hand_over(arguments: Vec<OsString>) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    let keys = found(&arguments);
    let text = serde_json::to_string(&keys)?;
    if keys.is_empty() || text.len() > MAX_BYTES {
        return Ok(());
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(text.as_bytes())?;
    drop(writer);
    let mut arguments = arguments.into_iter();
    let mut again = std::process::Command::new(std::env::current_exe()?);
    again.arg0(arguments.next().unwrap_or_default()).args(arguments).stdin(reader).env(HANDED_OVER, "1");
    for name in keys.keys() {
        again.env_remove(name);
    }
    Err(again.exec())
}

#[cfg(not(target_os = "linux"))]
fn hand_over(_: Vec<OsString>) -> io::Result<()> {
    Ok(())
}

fn receive() -> io::Result<BTreeMap<String, String>> {
    let text = io::read_to_string(io::stdin())?;
    #[cfg(target_os = "linux")]
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(serde_json::from_str(&text)?)
}
