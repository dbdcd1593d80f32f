//! `louver config`: check a configuration file, or print its schema.

use super::{Exit, Shell};
use crate::config;
use crate::printer::safe;
use louver::PolicyKind;
use std::path::Path;

pub(super) fn check(path: &Path, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let config = shell.load(path)?;
    let wanted = config.wanted_policy();
    let policy = wanted.as_ref().map_or("not set", |policy| policy.name());
    let mut likely = wanted.clone().unwrap_or_else(|| PolicyKind::default_for(true));
    config.apply(&mut likely);
    shell.warn_of_idle(&config.idle_keys(&likely), likely.name());
    let name = safe(&path.display().to_string());
    shell.printer.note(&format!("{name}: valid (policy: {policy})"));
    Ok(Exit::Done)
}

pub(super) fn schema(shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let mut text = serde_json::to_string_pretty(&config::schema())?;
    text.push('\n');
    shell.printer.data(text.as_bytes())?;
    Ok(Exit::Done)
}
