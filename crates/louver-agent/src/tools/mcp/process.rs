use std::io;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, serve_client};
use tokio::time::timeout;

use super::diagnostics::Diagnostics;
use super::running::{Running, client};
use crate::launch::Launcher;
use crate::tools::Environment;
use crate::tools::process_group::ProcessGroup;

/// Starts a program and makes its acquaintance, or says why not.
pub(super) async fn open(
    launcher: Option<&Launcher>,
    command: &str,
    args: &[String],
    environment: &Environment,
    patience: Duration,
) -> Result<Running, String> {
    let (group, stdin, stdout, stderr) = ProcessGroup::spawn_piped(launcher, command, args, environment)
        .map_err(|error| unstartable(command, &error))?;
    let diagnostics = Diagnostics::new(stderr);
    let reason = match timeout(patience, serve_client(client(), (stdout, stdin))).await {
        Ok(Ok(service)) => return Ok(Running { service, process: Some((group, diagnostics)) }),
        Ok(Err(error)) => unready(&error),
        Err(_) => {
            format!("did not get ready within {patience:?}; start `{command}` by hand to see why, or give it more time")
        }
    };
    // Once it has been killed there is nothing more to come on its standard error.
    let _ = group.finish().await;
    let said = diagnostics.into_text().await;
    Err(if said.is_empty() { reason } else { format!("{reason}; it said: {said}") })
}

fn unstartable(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("could not be started: there is no program `{command}`; install or correct it")
        }
        _ => format!("could not be started: `{command}`: {error}"),
    }
}

fn unready(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            "ended before it was ready".to_owned()
        }
        error => format!("does not speak the protocol: {error}"),
    }
}
