//! Recorded conversations under any policy: the command line's `replay`, as a function.

use crate::Fault;
use crate::settings::{parsed, typed};
use louver_replay::input::{Source, find, since};
use louver_replay::{DEFAULT_POLICIES, Options, Report, replay_files};
use serde_json::{Map, Value};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// Reads how to replay: the flags of the command line by their names; those that are null are not said.
///
/// # Errors
///
/// [`Fault::Usage`] for a name that is no setting or a value of another type, [`Fault::Settings`] for an unknown name of a
/// policy or counter.
pub fn read(given: Map<String, Value>) -> Result<Options, Fault> {
    let mut options = Options::of_policies(&DEFAULT_POLICIES).map_err(Fault::settings)?;
    for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        set(&mut options, &name, value)?;
    }
    Ok(options)
}

fn set(options: &mut Options, name: &str, value: Value) -> Result<(), Fault> {
    match name {
        "policy" => {
            options.contenders = Options::of_policies(&names(name, value)?).map_err(Fault::settings)?.contenders
        }
        "model" => options.model = Some(typed(name, value)?),
        "context_window" => options.context_window = Some(typed::<NonZeroU64>(name, value)?.get()),
        "max_output" => options.max_output = Some(typed(name, value)?),
        "counter" => options.counter = parsed(name, value)?,
        "overhead" => options.overhead = Some(typed(name, value)?),
        "prices" => options.cache_prices = Some(parsed(name, value)?),
        "gap" => options.gap_seconds = Some(typed(name, value)?),
        "cold_every" => options.cold_every = Some(typed::<NonZeroU64>(name, value)?.get()),
        "timings" => options.timings = typed(name, value)?,
        "threads" => options.threads = Some(typed::<NonZeroUsize>(name, value)?.get()),
        "since" => {
            options.selection.since_millis = Some(since(&typed::<String>(name, value)?).map_err(Fault::settings)?);
        }
        "project" => options.selection.project = Some(typed(name, value)?),
        _ => return Err(Fault::Usage(format!("`{name}` is no setting of a replay"))),
    }
    Ok(())
}

/// A list, or one name; several with commas between, as the command line has them.
fn names(setting: &str, value: Value) -> Result<Vec<String>, Fault> {
    match value {
        Value::String(names) => Ok(names.split(',').map(|name| name.trim().to_owned()).collect()),
        list => typed(setting, list),
    }
}

/// The files of paths: a folder with everything below it that ends in `.json` or `.jsonl`.
///
/// # Errors
///
/// Where there is none: a table of nothing would look like a finding.
pub fn files(paths: &[PathBuf]) -> Result<Vec<Source>, Fault> {
    let found = find(paths);
    if found.is_empty() {
        let places: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Fault::settings(format!("nothing to replay: no .json or .jsonl file in {}", places.join(", "))));
    }
    Ok(found)
}

/// Replays files, or conversations in memory. What cannot be read is named in the report and skipped.
///
/// # Errors
///
/// Options that nothing can be replayed with.
pub fn replay(sources: &[Source], options: &Options) -> Result<Report, Fault> {
    replay_files(sources, options, &|_| {}).map_err(Fault::settings)
}
