//! A run that is shown while it lasts.

use super::Shell;
use super::live_line::live_line;
use crate::printer::safe;
use louver_agent::provider::Provider;
use louver_agent::tools::ToolSet;
use louver_agent::{Executor, ExecutorConfig, Observer, RunError, RunEvent, RunSummary};
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
        let (sender, mut lines) = mpsc::unbounded_channel();
        let is_live = shell.printer.shows_progress();
        self.config.options.observer = Observer::new(move |event| {
            // The live line counts what left, and a line per cut would push everything else off the screen.
            let is_shown = !(is_live && matches!(event, RunEvent::Truncated { .. }));
            if let Some(line) = event.message().filter(|_| is_shown) {
                // Nobody reads any more once the run is over.
                let _ = sender.send(line);
            }
        });
        let executor = Executor::new(self.provider, self.tools, self.config);
        let (started, mut live) = (Instant::now(), executor.live());
        let mut tick = tokio::time::interval(TICK);
        let mut work = std::pin::pin!(async {
            match resumed {
                Some(path) => executor.resume(path).await,
                None => executor.run(task).await,
            }
        });
        let ended = loop {
            tokio::select! {
                ended = &mut work => break ended,
                Some(line) = lines.recv() => shell.printer.note(&safe(&line)),
                Ok(()) = live.changed() => {}
                _ = tick.tick() => {}
            }
            let state = live.borrow_and_update().clone();
            if state.iteration > 0 {
                shell.printer.progress(&live_line(&state, started.elapsed(), shell.columns));
            }
        };
        shell.printer.end_progress();
        while let Ok(line) = lines.try_recv() {
            shell.printer.note(&safe(&line));
        }
        ended
    }
}
