//! Recorded conversations under any policy, on another thread.

#![allow(unreachable_pub, reason = "napi exports what is public here")]
#![cfg_attr(test, allow(dead_code, reason = "napi exports nothing to tests"))]

use crate::errors::thrown;
use louver_face::{Fault, replay};
use louver_replay::Options;
use louver_replay::input::Source;
use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi::{Env, Task};
use napi_derive::napi;
use std::path::PathBuf;

/// A replay that waits for its thread.
#[derive(Debug)]
pub struct Replaying {
    sources: Vec<Source>,
    options: Options,
}

#[napi]
impl Task for Replaying {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        let report = replay::replay(&self.sources, &self.options).map_err(thrown)?;
        report.to_json().map_err(|error| thrown(Fault::settings(error)))
    }

    fn resolve(&mut self, _env: Env, report: String) -> napi::Result<String> {
        Ok(report)
    }
}

/// The report of files and folders, or of what was recorded under these names, as JSON.
#[napi]
pub fn replay_all(
    paths: Option<Vec<String>>,
    names: Vec<String>,
    records: Vec<Buffer>,
    settings_json: String,
) -> napi::Result<AsyncTask<Replaying>> {
    let given = serde_json::from_str(&settings_json).map_err(|error| thrown(Fault::Usage(error.to_string())))?;
    let options = replay::read(given).map_err(thrown)?;
    let record = |(name, bytes): (String, Buffer)| Source::Bytes { name, bytes: bytes.into() };
    let sources = match paths {
        Some(paths) => replay::files(&paths.into_iter().map(PathBuf::from).collect::<Vec<_>>()).map_err(thrown)?,
        None => names.into_iter().zip(records).map(record).collect(),
    };
    Ok(AsyncTask::new(Replaying { sources, options }))
}
