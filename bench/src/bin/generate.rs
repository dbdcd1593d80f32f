//! Writes a generated conversation as a JSON array of messages.
//!
//! `generate FORMAT TURNS [SEED]`

use louver::wire::Format;
use louver_bench::Conversation;
use std::process::ExitCode;

fn main() -> ExitCode {
    match conversation(std::env::args().skip(1).collect()) {
        Ok(conversation) => {
            println!("{}", conversation.list());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}: generate FORMAT TURNS [SEED]");
            ExitCode::from(2)
        }
    }
}

fn conversation(arguments: Vec<String>) -> Result<Conversation, String> {
    let mut arguments = arguments.into_iter();
    let format: Format =
        arguments.next().ok_or("no format")?.parse().map_err(|error: louver::wire::UnknownFormat| error.to_string())?;
    let turns = arguments.next().ok_or("no turns")?.parse().map_err(|_| "turns is a number")?;
    let seed = arguments.next().map_or(Ok(1), |seed| seed.parse()).map_err(|_| "seed is a number")?;
    Ok(Conversation::generate(format, turns, seed))
}
