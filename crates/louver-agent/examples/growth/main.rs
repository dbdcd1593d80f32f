//! Measures how a conversation grows, with and without a window, and writes what `docs/growth.md` shows.
//!
//! `cargo run -p louver-agent --example growth [-- FOLDER]` writes `growth.csv` and `growth.svg` into the folder (`docs`)
//! and puts the table of figures into its `growth.md`. The output is the same on every machine.

mod measure;
mod page;
mod plot;

use measure::{Api, Kept, run};
use std::error::Error;
use std::path::PathBuf;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "docs".to_owned()));
    let mut runs = Vec::new();
    for api in Api::ALL {
        for kept in Kept::ALL {
            runs.push(run(api, kept).await?);
        }
    }
    if let Some(wrong) = runs.iter().find_map(measure::unpredicted) {
        return Err(wrong.into());
    }
    std::fs::write(folder.join("growth.csv"), measure::csv(&runs))?;
    std::fs::write(folder.join("growth.svg"), plot::svg(&runs))?;
    let path = folder.join("growth.md");
    let page = page::with_figures(&std::fs::read_to_string(&path)?, &runs)?;
    Ok(std::fs::write(path, page)?)
}
