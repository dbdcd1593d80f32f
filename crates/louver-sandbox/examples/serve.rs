//! Serves the sandbox until it is stopped, for clients in other languages.
//!
//! `cargo run -p louver-sandbox --example serve -- [SCENARIO] [CONTEXT_WINDOW]`: the scenario is a name or a file. The
//! first line of standard output is the address.

#![allow(clippy::print_stdout, reason = "the address is the whole output")]

use std::error::Error;

use louver_sandbox::{Sandbox, Scenario};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let scenario = Scenario::load(&arguments.next().unwrap_or_else(|| "demo".to_owned()))?;
    let mut builder = Sandbox::builder().scenario(scenario);
    if let Some(window) = arguments.next() {
        builder = builder.context_window(window.parse()?);
    }
    let mut running = builder.start("127.0.0.1:0").await?;
    println!("{}", running.addr());
    running.stopped().await;
    Ok(())
}
