//! A run that is shown while it lasts.

use super::Shell;
use super::asking::Asking;
use super::live_line::live_line;
use super::log::LogLines;
use crate::printer::safe;
use louver_agent::provider::Provider;
use louver_agent::tools::ToolSet;
use louver_agent::{Executor, ExecutorConfig, Observer, RunError, RunEvent, RunSummary, redact};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often the line is drawn again although nothing happened, so that its clock goes on.
const TICK: Duration = Duration::from_secs(1);

/// A run that is shown while it lasts.
pub(super) struct Watched {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) tools: Arc<ToolSet>,
    pub(super) config: ExecutorConfig,
    pub(super) show: Show,
}

/// What is shown of a run besides its live line.
#[derive(Default)]
pub(super) struct Show {
    /// What the model says and which tools it calls.
    pub(super) talk: bool,
    /// Where decisions are written, one JSON object a line.
    pub(super) decisions: Option<File>,
    /// What is logged and wants to be read here.
    pub(super) log: Option<LogLines>,
    /// Who may be in the middle of answering, so that nothing is drawn over the question.
    pub(super) asking: Option<Arc<Asking>>,
}

impl Watched {
    /// Runs to the end, or until it is cancelled, and draws what is going on: lines on a pipe, a live line and what is
    /// not in it at a terminal.
    pub(super) async fn run(
        mut self,
        task: &str,
        resumed: Option<&Path>,
        shell: &mut Shell<'_>,
    ) -> Result<RunSummary, RunError> {
        let (sender, mut events) = mpsc::unbounded_channel();
        self.config.options.observer = Observer::new(move |event| {
            // Nobody reads any more once the run is over.
            let _ = sender.send(event.clone());
        });
        let executor = Executor::new(self.provider, self.tools, self.config);
        let (started, mut live) = (Instant::now(), executor.live());
        let mut tick = tokio::time::interval(TICK);
        let mut work = std::pin::pin!(async {
            match resumed {
                Some(path) => executor.resume_task(path, task).await,
                None => executor.run(task).await,
            }
        });
        let ended = loop {
            tokio::select! {
                ended = &mut work => break ended,
                Some(event) = events.recv() => self.show.event(&event, shell),
                Some(line) = self.show.logged() => shell.printer.answer(&safe(&line)),
                Ok(()) = live.changed() => {}
                _ = tick.tick() => {}
            }
            let state = live.borrow_and_update().clone();
            let is_asked = self.show.asking.as_ref().is_some_and(|asking| asking.is_waiting());
            if state.iteration > 0 && !is_asked {
                shell.printer.progress(&live_line(&state, started.elapsed(), shell.columns));
            }
        };
        shell.printer.end_progress();
        while let Ok(event) = events.try_recv() {
            self.show.event(&event, shell);
        }
        while let Some(line) = self.show.log.as_mut().and_then(|log| log.try_recv().ok()) {
            shell.printer.answer(&safe(&line));
        }
        ended
    }
}

impl Show {
    /// The next line of the log; never, where nobody wants to read it here.
    async fn logged(&mut self) -> Option<String> {
        match &mut self.log {
            Some(log) => log.recv().await,
            None => std::future::pending().await,
        }
    }

    fn event(&mut self, event: &RunEvent, shell: &mut Shell<'_>) {
        if let RunEvent::Decided(decision) = event {
            self.write(decision, shell);
        }
        // The live line counts what left, and a line per cut would push everything else off the screen.
        let is_counted = shell.printer.shows_progress() && matches!(event, RunEvent::Truncated { .. });
        if is_counted || (event.is_talk() && !self.talk) {
            return;
        }
        for line in event.message().iter().flat_map(|said| said.lines()) {
            match event {
                RunEvent::Warning(_) => shell.printer.warning(line),
                _ => shell.printer.note(&safe(line)),
            }
        }
    }

    /// A file that takes no more is given up, and the run goes on.
    fn write(&mut self, decision: &louver_agent::Decision, shell: &mut Shell<'_>) {
        let Some(file) = &mut self.decisions else {
            return;
        };
        let line = serde_json::to_string(decision).unwrap_or_default();
        let mut line = redact(&line).into_owned().into_bytes();
        line.push(b'\n');
        if let Err(error) = file.write_all(&line) {
            shell.printer.warning(&format!("--events: {error}; no more decisions are written"));
            self.decisions = None;
        }
    }
}
