//! `run --log` and `RUST_LOG`: what the program says about its own work.

use crate::input::spoken;
use anyhow::{Context, anyhow};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The variable that says what is logged, as elsewhere: `debug`, `info,louver_agent=trace`.
const VARIABLE: &str = "RUST_LOG";

/// Lines of the log on their way to whoever prints.
pub(super) type LogLines = UnboundedReceiver<String>;

/// Logs to a file where one is named, else, where the environment asks for a log, to whoever reads the lines: only one
/// may write to a terminal with a live line.
pub(super) fn start(file: Option<&Path>) -> anyhow::Result<Option<LogLines>> {
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.trim().is_empty());
    let wanted = wanted.map(|wanted| wanted.parse::<Targets>()).transpose();
    let wanted = wanted.map_err(|error| anyhow!("{VARIABLE}: {error}"))?;
    match (file, wanted) {
        (Some(path), wanted) => {
            let file = append_to(path)?;
            // Everything of ours: every decision, and what was trimmed.
            let usual = || Targets::new().with_default(LevelFilter::INFO).with_target("louver", LevelFilter::DEBUG);
            log_to(Mutex::new(file), wanted.unwrap_or_else(usual));
            Ok(None)
        }
        (None, Some(wanted)) => {
            let (sender, lines) = unbounded_channel();
            log_to(Lines(sender), wanted);
            Ok(Some(lines))
        }
        (None, None) => Ok(None),
    }
}

/// A file for lines that only its owner reads: they tell what a conversation is about.
pub(super) fn append_to(path: &Path) -> anyhow::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    file.map_err(spoken).with_context(|| path.display().to_string())
}

fn log_to(writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static, wanted: Targets) {
    let layer = fmt::layer().with_ansi(false).with_writer(writer).with_filter(wanted);
    // A second one in the same process logs where the first does.
    let _ = tracing_subscriber::registry().with(layer).try_init();
}

/// Sends lines on. The formatter writes each in one piece.
struct Lines(UnboundedSender<String>);

impl<'w> MakeWriter<'w> for Lines {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> &'w Self {
        self
    }
}

impl io::Write for &Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody reads any more once the run is over.
        let _ = self.0.send(String::from_utf8_lossy(bytes).trim_end().to_owned());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
