//! Step three: do it. A file per command.

mod archive;
mod asking;
mod check;
mod condense;
mod config;
mod demo;
mod explain;
mod inspect;
mod interrupt;
mod keys;
mod known_models;
mod live_line;
mod log;
mod mcp;
mod mcp_servers;
mod models;
mod money;
mod private_memory;
mod proxy;
mod proxy_setup;
mod recall;
mod recall_archive;
mod reload;
mod repair;
mod replay;
mod sandbox;
mod store;
mod summary_box;
mod task;
mod toolbox;
mod trim;
mod watched;
mod wrap;

pub use keys::Keys;

use crate::args::{self, Arguments, Color, Command};
use crate::config::{Config, Problems};
use crate::input::Stdin;
use crate::output::{Output, Staged};
use crate::printer::{Colors, Printer};
use crate::settings;
use crate::window::{Window, WindowChoice};
use clap::{CommandFactory, Parser};
use louver::Body;
use louver_agent::launch::Launcher;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// A negative finding.
    Finding,
    /// Bad usage, configuration or input; nothing was written.
    Refused,
    /// A provider failed.
    ProviderFailed,
    /// What a wrapped client ended with.
    Client(u8),
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Finding => 1,
            Self::Refused => 2,
            Self::ProviderFailed => 3,
            Self::Client(code) => code,
        }
    }
}

/// What a program has besides its arguments.
pub struct Streams<'s> {
    /// Standard input.
    pub stdin: &'s mut dyn Read,
    /// Whether a person types it.
    pub stdin_is_terminal: bool,
    /// Standard output.
    pub stdout: &'s mut dyn Write,
    /// Whether a person reads it.
    pub stdout_is_terminal: bool,
    /// Standard error.
    pub stderr: &'s mut dyn Write,
    /// Whether a person reads it, at a terminal whose cursor can be moved.
    pub stderr_is_terminal: bool,
    /// Which streams show colours, as far as the terminal and the environment say.
    pub colors: Colors,
    /// The terminal's width.
    pub columns: Option<usize>,
    /// Keys that are not in the environment.
    pub keys: Keys,
    /// What starts other programs so that they end with this one.
    pub launcher: Option<Launcher>,
}

impl fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").field("colors", &self.colors).field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// What every command works with.
struct Shell<'s> {
    /// What was typed.
    command: String,
    stdin: Stdin<'s>,
    printer: Printer<'s>,
    stdout_is_terminal: bool,
    columns: Option<usize>,
    keys: Keys,
    launcher: Option<Launcher>,
}

/// Runs the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: Streams<'_>) -> Exit {
    let Streams { stdin, stdin_is_terminal, stdout, stdout_is_terminal, stderr, .. } = streams;
    let Streams { stderr_is_terminal, colors, columns, keys, launcher, .. } = streams;
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut shell = Shell {
        command: typed(&arguments),
        stdin: Stdin { reader: stdin, is_terminal: stdin_is_terminal },
        printer: Printer::new(stdout, stderr, colors, stderr_is_terminal),
        stdout_is_terminal,
        columns,
        keys,
        launcher,
    };
    let done = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => shell.obey(&arguments),
        Err(answer) => shell.reply(&answer),
    };
    done.unwrap_or_else(|error| shell.give_up(&error))
}

impl Shell<'_> {
    fn obey(&mut self, arguments: &Arguments) -> anyhow::Result<Exit> {
        match arguments.color {
            Color::Auto => {}
            Color::Always => self.printer.colors = Colors { out: true, err: true },
            Color::Never => self.printer.colors = Colors::default(),
        }
        self.printer.is_quiet = arguments.quiet;
        let config = settings::config_path(arguments).map(|path| self.load(path)).transpose()?;
        let window = |flags| WindowChoice::new(flags, config.as_ref());
        match &arguments.command {
            Command::Trim(args) => trim::run(args, &window(&args.window), self),
            Command::Check(args) => check::run(args, self),
            Command::Repair(args) => repair::run(args, self),
            Command::Inspect(args) => inspect::run(args, &window(&args.window), self),
            Command::Condense(args) => condense::run(args, &window(&args.window), self),
            Command::Recall(args) if args.archive => recall_archive::run(args, self),
            Command::Recall(args) => recall::run(args, &settings::wanted(&args.wanted)?, window(&args.window), self),
            Command::Replay(args) => self.replay(args),
            Command::Run(args) => task::run(&settings::run(args, config), self),
            Command::Proxy(args) => proxy::run(args, config.as_ref(), self),
            Command::Wrap(args) => wrap::run(args, self),
            Command::Archive(args) => archive::run(args, self),
            Command::Mcp(args) => mcp::run(args, self),
            Command::Sandbox(args) => sandbox::run(args, self),
            Command::Demo(_) => demo::run(self),
            Command::Models(args) => known_models::run(args, self),
            Command::Completions(args) => self.completions(args.shell),
            Command::Config(args::Config::Check(args)) => config::check(&args.file, self),
            Command::Config(args::Config::Schema(_)) => config::schema(self),
        }
    }

    fn load(&mut self, path: &Path) -> anyhow::Result<Config> {
        let checked = Config::load(path)?;
        for warning in &checked.warnings {
            self.printer.warning(&format!("{}:{warning}", path.display()));
        }
        Ok(checked.config)
    }

    fn replay(&mut self, args: &args::Replay) -> anyhow::Result<Exit> {
        let configs: Vec<Config> = args.config.iter().map(|path| self.load(path)).collect::<Result<_, _>>()?;
        replay::run(args, &settings::replay(args, &configs)?, self)
    }

    fn completions(&mut self, shell: clap_complete::Shell) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "louver", &mut script);
        self.printer.data(&script)?;
        Ok(Exit::Done)
    }

    /// Help that was asked for goes to stdout; everything else that clap says is an error in one line.
    fn reply(&mut self, answer: &clap::Error) -> anyhow::Result<Exit> {
        use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        let rendered = answer.render();
        if !answer.use_stderr() {
            self.printer.text(&rendered.ansi().to_string())?;
            return Ok(Exit::Done);
        }
        match answer.kind() {
            DisplayHelpOnMissingArgumentOrSubcommand => self.printer.answer(rendered.ansi().to_string().trim_end()),
            _ => self.printer.error(&one_line(&rendered.to_string())),
        }
        Ok(Exit::Refused)
    }

    /// A reader that has gone away wants nothing more, not even an error.
    fn give_up(&mut self, error: &anyhow::Error) -> Exit {
        let is_closed = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        };
        if error.chain().any(is_closed) {
            return Exit::Done;
        }
        match error.downcast_ref::<Problems>() {
            Some(problems) => problems.lines().for_each(|line| self.printer.error(&line)),
            None => self.printer.error(&format!("{error:#}")),
        }
        Exit::Refused
    }

    /// Files first, each whole or not at all; then stdout.
    fn deliver(&mut self, result: Deliverable<'_>, output: &Output) -> anyhow::Result<()> {
        let bytes = result.bytes();
        match output.file() {
            Some(path) => Staged::write(path, &bytes)?.commit(),
            None => self.show(&result),
        }
    }

    fn show(&mut self, result: &Deliverable<'_>) -> anyhow::Result<()> {
        match result {
            Deliverable::Text(text) => self.printer.text(text),
            Deliverable::Json(json) => {
                self.printer.data(json.as_bytes())?;
                // A prompt should not stand behind the last brace; what is piped on stays byte for byte.
                let wants_newline = self.stdout_is_terminal && !json.ends_with('\n');
                self.printer.data(if wants_newline { b"\n" } else { b"" })
            }
        }
    }

    /// Says which flags and keys were given in vain.
    fn warn_of_idle_settings(&mut self, window: &Window) {
        self.warn_of_idle(&window.idle, window.config.policy.name());
    }

    fn warn_of_idle(&mut self, names: &[&str], policy: &str) {
        for name in names {
            self.printer.warning(&format!("{name} has no effect with the policy `{policy}`"));
        }
    }

    /// Says that the format is a guess.
    fn warn_if_ambiguous(&mut self, body: &Body) {
        if body.is_ambiguous() {
            self.printer
                .warning("this could be more than one format; it is read as openai-chat (--format says otherwise)");
        }
    }
}

/// A command's result.
#[derive(Clone, Copy, Debug)]
enum Deliverable<'a> {
    /// For people.
    Text(&'a str),
    /// For programs, byte for byte.
    Json(&'a str),
}

impl Deliverable<'_> {
    /// What a file gets: no colours.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => anstream::adapter::strip_str(text).to_string().into_bytes(),
            Self::Json(json) => json.as_bytes().to_owned(),
        }
    }
}

/// A command as a person would type it.
fn typed(arguments: &[OsString]) -> String {
    let words = arguments.iter().skip(1).map(|word| {
        let word = word.to_string_lossy();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:~@%+".contains(letter);
        match !word.is_empty() && word.chars().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    std::iter::once("louver".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// What clap says over several lines, in one. Its advice to put `--` before an unknown flag helps nobody.
fn one_line(message: &str) -> String {
    let lines = message.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"));
    let mut sentence = String::new();
    for line in said {
        let gap = match line.strip_prefix("tip: ") {
            _ if sentence.is_empty() => "",
            Some(_) => "; ",
            None => " ",
        };
        sentence.push_str(gap);
        sentence.push_str(line.trim_start_matches("tip: "));
    }
    sentence.strip_prefix("error: ").unwrap_or(&sentence).to_owned()
}
