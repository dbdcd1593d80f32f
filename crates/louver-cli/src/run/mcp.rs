//! `louver mcp`: a model asks the user's own store.

use super::{Exit, Shell, proxy_setup, store};
use crate::args::Mcp as Job;
use louver_proxy::McpServer;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// The longest message that is read.
const MAX_MESSAGE: u64 = 1 << 20;

pub(super) fn run(job: &Job, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let place = job.store.clone().map_or_else(store::default_place, Ok)?;
    let store = store::open_to_read(&place)?;
    let server = McpServer::new(Arc::clone(&store), proxy_setup::keeper_settings().user);
    let runtime = super::task::runtime()?;
    let mut input = BufReader::new(&mut *shell.stdin.reader);
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(MAX_MESSAGE).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if !line.ends_with(b"\n") && read as u64 == MAX_MESSAGE {
            anyhow::bail!("a message on standard input is longer than {MAX_MESSAGE} bytes");
        }
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        if let Some(answer) = runtime.block_on(server.answer(&line)) {
            shell.printer.data(format!("{answer}\n").as_bytes())?;
        }
    }
    runtime.block_on(store.close())?;
    Ok(Exit::Done)
}
