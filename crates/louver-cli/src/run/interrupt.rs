//! Ctrl-C, and a polite request to end.

use louver_agent::CancellationToken;
use std::io;
use tokio::signal::unix::{SignalKind, signal};

/// Cancels when somebody presses Ctrl-C or asks the process to end. From here on neither ends it by itself, so whoever
/// works must look at the token: servers that were started have to be ended first.
pub(super) fn cancel_on_interrupt(cancel: &CancellationToken) -> io::Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let cancel = cancel.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        cancel.cancel();
    });
    Ok(())
}
