//! `louver sandbox`: a strict stand-in for the providers' APIs.

use super::{Exit, Shell};
use crate::args::Sandbox as Job;
use anyhow::Context;
use louver_sandbox::{Sandbox, Scenario};

pub(super) fn run(job: &Job, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let scenario = Scenario::load(&job.scenario)?;
    let mut builder = Sandbox::builder().scenario(scenario).overflow_in_stream(job.overflow_in_stream);
    if let Some(tokens) = job.context_window {
        builder = builder.context_window(tokens);
    }
    super::task::runtime()?.block_on(async {
        let what = || format!("cannot listen on {} (127.0.0.1:0 takes any free port)", job.listen);
        let mut running = builder.start(&job.listen).await.with_context(what)?;
        shell.printer.text(&format!("{}\n", running.url()))?;
        shell.printer.note("The journal is at /_sandbox/journal; Ctrl-C stops.");
        tokio::select! {
            () = running.stopped() => {}
            stopped = tokio::signal::ctrl_c() => stopped?,
        }
        running.shutdown().await;
        Ok(Exit::Done)
    })
}
