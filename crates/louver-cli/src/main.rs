//! The binary `louver`.

use anstream::{AutoStream, ColorChoice};
use louver_agent::launch::{Launcher, serve};
use louver_cli::{Colors, Keys, Streams, run};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(exit) = serve(std::env::args_os()) {
        return exit;
    }
    let keys = Keys::settle();
    let (stdin, stdout, mut stderr) = (io::stdin(), io::stdout(), io::stderr());
    let colors = Colors {
        out: AutoStream::choice(&stdout) != ColorChoice::Never,
        err: AutoStream::choice(&stderr) != ColorChoice::Never,
    };
    let exit = run(
        std::env::args_os(),
        Streams {
            stdin_is_terminal: stdin.is_terminal(),
            stdout_is_terminal: stdout.is_terminal(),
            columns: terminal_size::terminal_size().map(|(width, _)| width.0.into()),
            colors,
            stdin: &mut stdin.lock(),
            stderr_is_terminal: stderr.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
            stdout: &mut io::BufWriter::new(stdout.lock()) as &mut dyn Write,
            // Not locked: whatever serves logs there from other threads.
            stderr: &mut stderr,
            keys,
            launcher: Launcher::current().ok(),
        },
    );
    ExitCode::from(exit.code())
}
