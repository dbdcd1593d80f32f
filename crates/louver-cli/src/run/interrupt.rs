//! Ctrl-C, a polite request to end, and a terminal that is gone.

use louver_agent::CancellationToken;
use std::io;
use tokio::signal::unix::{SignalKind, signal};

/// Cancels when somebody presses Ctrl-C, asks the process to end, or closes its terminal, unless it was started to outlive
/// that (`nohup`). From here on none of them ends it by itself, so whoever works must look at the token: servers that were
/// started have to be ended first.
pub(super) fn cancel_on_interrupt(cancel: &CancellationToken) -> io::Result<()> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangup = if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
    let cancel = cancel.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            Some(_) = async { hangup.as_mut()?.recv().await } => {}
        }
        cancel.cancel();
    });
    Ok(())
}

/// Whether whoever started the process said that it goes on without its terminal. Where nobody knows, nobody did.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let hangup = SignalKind::hangup().as_raw_value() - 1;
    ignored >> hangup & 1 == 1
}
