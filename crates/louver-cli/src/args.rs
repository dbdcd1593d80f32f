//! Step one: the arguments, as they were typed.

use crate::config::ProviderKind;
use crate::input::Input;
use crate::output::Output;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use louver::policy::{Row, TABLE};
use louver::tokens::CounterChoice;
use louver_replay::CachePrices;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

/// Keeps an LLM conversation inside its context window.
#[derive(Debug, Parser)]
#[command(name = "louver", version, arg_required_else_help = true, subcommand_required = true)]
#[command(after_long_help = include_str!("help/louver.txt").trim_end())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub(crate) color: Color,

    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Trim(Trim),
    Check(Check),
    Repair(Repair),
    Inspect(Inspect),
    Condense(Condense),
    Recall(Recall),
    Replay(Replay),
    Run(Run),
    Proxy(Proxy),
    Wrap(Wrap),
    #[command(subcommand)]
    Archive(Archive),
    Mcp(Mcp),
    Sandbox(Sandbox),
    Demo(Demo),
    Models(Models),
    Completions(Completions),
    #[command(subcommand)]
    Config(Config),
}

/// Leave messages out until the conversation fits
///
/// Prints the same kind of JSON as it reads. What stays is byte for byte what came in, and tool calls are never
/// separated from their results. No model is called.
///
/// Where the model's window is known and nothing else is asked for, the policy `ladder` decides. It cuts where it pays,
/// which can be long before the window is full; `ladder: {when: full}` in a config.yml lets it cut only what does not fit.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/trim.txt").trim_end())]
pub(crate) struct Trim {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) window: WindowFlags,
    #[command(flatten)]
    pub(crate) output: Output,

    /// Write what was decided to FILE, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Say in plain words, on stderr, what was decided and why
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Find what the provider would refuse
///
/// One line per violation: JSON path, rule, and the provider's own wording. A history that is longer than its model's
/// context window is one, too, where the input or --model says which model it is. Exits with 1 if there is any.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/check.txt").trim_end())]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) output: Output,

    /// The model that has to take it; beats the one that the input names
    #[arg(long, value_name = "NAME", help_heading = "Window")]
    pub(crate) model: Option<String>,

    /// The model's window in tokens, instead of the catalogue's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_negative_numbers = true, help_heading = "Window")]
    pub(crate) context_window: Option<u64>,

    /// How to count tokens; `auto` follows the model and is chars4 without one
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = counter_parser(), help_heading = "Window")]
    pub(crate) counter: CounterChoice,

    /// Print a JSON array of {path, rule, index, message}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Have what leaves summarised by a model of your own
///
/// Without --job: prints what to ask a model, as JSON: the prompt as `messages` of the input's format, its `bounds`, the
/// indices that the summary `covers`, and what was decided; `null` where no summary is needed yet. Condensing counts as
/// switched on, whatever the configuration says.
///
/// With --job and --summary: prints the conversation with the summary in place, as the same kind of JSON as the input, which
/// may have grown since. A job that was made from another history is refused. Exits with 1 if the summary is empty or larger
/// than what it replaces: what is printed then is cut without one.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/condense.txt").trim_end())]
pub(crate) struct Condense {
    #[command(flatten)]
    pub(crate) input: Input,

    /// The job, as this command printed it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "summary", help_heading = "Summary")]
    pub(crate) job: Option<PathBuf>,

    /// What the model answered, as plain text
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "job", help_heading = "Summary")]
    pub(crate) summary: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) window: WindowFlags,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Make a history legal with the fewest changes
///
/// Prints the same kind of JSON as it reads and lists each change on stderr. A legal history comes back byte for byte.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/repair.txt").trim_end())]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Show what fills the window
///
/// A row per message: what it holds, what it costs, how full the window is after it, which messages must stay together
/// (joined by a line on the left), which ones the policy always keeps, and totals by category.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/inspect.txt").trim_end())]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) window: WindowFlags,
    #[command(flatten)]
    pub(crate) output: Output,

    /// Show at most N messages, from both ends; 0 shows all [default: 200 on a terminal, else all]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) limit: Option<usize>,

    /// Print the same as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Have back what the policy leaves out
///
/// An address as it stands in stubs and ledgers gives those messages of INPUT, which is the full history. Anything else
/// is searched for in what the policy leaves out of it; where no window is known, in all of it. Words are found whole
/// and by their pieces (main_loop in src/main_loop.rs), in any case, and the rarest decide. Exits with 1 if nothing is
/// found.
///
/// With --archive the messages are those that `louver proxy` or `louver wrap` kept for you (`archive: full`). A ledger
/// says in its first line how it is named: TAG:12 is message 12 of that conversation, TAG:words searches what that cut
/// left out. Without a tag INPUT names a conversation of `louver archive list`; without both, all are searched.
#[derive(Debug, Args)]
#[command(mut_arg("policy", |policy| policy.help("How to decide what stays [default: ladder]")))]
#[command(after_long_help = include_str!("help/recall.txt").trim_end())]
pub(crate) struct Recall {
    /// An address such as 12, 3-17 or [louver:3-17, 20-41], or words to search for
    #[arg(value_name = "ID|QUERY")]
    pub(crate) wanted: String,

    /// Look into what the proxy kept; an address or words may have a ledger's tag before them, as in TAG:12
    #[arg(long, conflicts_with_all = NOT_IN_AN_ARCHIVE, help_heading = "Archive")]
    pub(crate) archive: bool,

    #[command(flatten)]
    pub(crate) input: Input,
    /// The archive's file or postgres:// address, instead of the file in the user's data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "archive", help_heading = "Archive")]
    pub(crate) store: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) window: WindowFlags,
    #[command(flatten)]
    pub(crate) output: Output,

    /// Show at most N passages that were found, the best first
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one::<usize>, allow_negative_numbers = true)]
    pub(crate) limit: usize,

    /// Print a JSON array: {index, role, parts} and the whole message, or the text that was found
    #[arg(long)]
    pub(crate) json: bool,
}

/// What says how a history is read and decided about: an archive has done both.
const NOT_IN_AN_ARCHIVE: [&str; 11] = [
    "format",
    "at",
    "policy",
    "max_messages",
    "preserve_first",
    "preserve_last",
    "context_window",
    "model",
    "max_output",
    "profile",
    "config",
];

/// Run a task with a model inside the window
///
/// Gives the model tools for files and allowed commands inside a folder, and goes on until it says that the task is
/// done. What the model says and which tools it calls appear on stderr as it happens, and nothing with -q; stdout has the
/// figures and the result. Ctrl-C stops cleanly; with --state a killed run goes on where it was.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/run.txt").trim_end())]
pub(crate) struct Run {
    /// The file that says what is to be done
    #[arg(value_name = "TASK.md", value_hint = ValueHint::FilePath)]
    pub(crate) task: PathBuf,

    /// The configuration
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Who answers, instead of what the config says
    #[arg(long, value_name = "NAME", value_parser = provider_parser())]
    pub(crate) provider: Option<ProviderKind>,

    /// The folder that the tools cannot leave
    #[arg(long, value_name = "FOLDER", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) root: PathBuf,

    /// A command that may be run, such as `cargo` or `git status`; can be given again
    #[arg(long, value_name = "COMMAND")]
    pub(crate) allow: Vec<String>,

    /// Let commands use TCP, which they cannot otherwise where the kernel can prevent it
    #[arg(long)]
    pub(crate) allow_tcp: bool,

    /// Change nothing in the folder: no file is written, and commands can only read
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Ask at the terminal before anything is written, run or called: once, always, no
    #[arg(long)]
    pub(crate) ask: bool,

    /// The longest reply in tokens, and the room kept free for it
    #[arg(long, value_name = "N")]
    pub(crate) max_output: Option<u64>,

    /// Where a killed run is remembered: a new file, or one that holds a finished run
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) state: Option<PathBuf>,

    /// Go on with the run that --state remembers
    #[arg(long, requires = "state")]
    pub(crate) resume: bool,

    /// Lose the unfinished run in --state; with --resume, go on although TASK.md has changed
    #[arg(long, requires = "state")]
    pub(crate) force: bool,

    /// Append what happens inside to FILE: every decision and every trim; RUST_LOG says what else, or less
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) log: Option<PathBuf>,

    /// Append every decision about the window to FILE, one JSON object a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
}

/// Watch the window at work, no key needed
///
/// Runs a scripted task of 65 tool calls under a cap of 30 messages against a strict stand-in for two providers' APIs, and
/// shows what the stand-in judged; then the same under the default policy, and both bills. Works in a temporary folder;
/// nothing leaves this machine.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/demo.txt").trim_end())]
pub(crate) struct Demo {}

/// Stand between clients and their providers and keep every conversation inside the window
///
/// Point a client's base URL at it. Requests that need nothing pass byte for byte; others go out with what was left out
/// replaced by a ledger, and the same view is sent until the next cut. The first line of stdout is the address. Requests
/// are logged on stderr as JSON.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/proxy.txt").trim_end())]
pub(crate) struct Proxy {
    /// Where to listen [default: 127.0.0.1:8787]; port 0 takes a free one. Other addresses than this machine's own need --token-env
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Where requests go: anthropic, openai, chatgpt and gemini are known; any other name is reached under /up/NAME
    #[arg(long, value_name = "NAME=URL")]
    pub(crate) upstream: Vec<String>,

    /// Which new cuts are made: keep (those that pay), rescue (those without which a request is refused), observe, off
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,

    /// What decides about cuts; ladder-careful if nothing is said
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,

    /// The context window, in tokens, instead of each model's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(crate) context_window: Option<u64>,

    /// What is kept beside decisions: off, decisions (requests and money), full (messages, too)
    #[arg(long, value_name = "WHAT")]
    pub(crate) archive: Option<String>,

    /// The file that decisions are kept in, or a database as postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) store: Option<PathBuf>,

    /// The environment variable that holds the access token, for the API and for clients elsewhere
    #[arg(long, value_name = "VAR")]
    pub(crate) token_env: Option<String>,

    /// Read settings from a configuration file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Try configuration, store and upstreams, say what is wrong, and stop
    #[arg(long)]
    pub(crate) check: bool,
}

/// Run claude, codex or gemini behind a proxy of its own
///
/// Starts a proxy on a free port, runs the client with the variables it needs, and says at the end what was saved and left
/// out. Nothing in the client's configuration is changed; it exits with the client's code.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/wrap.txt").trim_end())]
pub(crate) struct Wrap {
    /// Which client
    #[arg(value_name = "CLIENT")]
    pub(crate) client: WrappedClient,

    /// Where its requests go, instead of its provider's own address
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,

    /// The file that decisions and messages are kept in, or a database as postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) store: Option<PathBuf>,

    /// Which new cuts are made: keep, rescue, observe, off
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,

    /// The context window, in tokens, instead of each model's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(crate) context_window: Option<u64>,

    /// What the client is started with
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) arguments: Vec<OsString>,
}

/// A client that can be wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WrappedClient {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// List, show, export and delete what the proxy keeps
///
/// A conversation is named by its ID as `louver archive list` and the header x-louver-conversation have it.
#[derive(Debug, Subcommand)]
#[command(after_long_help = include_str!("help/archive.txt").trim_end())]
pub(crate) enum Archive {
    /// All conversations, the latest first
    List(ArchiveList),
    /// One conversation: its requests, cuts and money
    Show(ArchiveOne),
    /// The messages of a conversation as a JSON list
    Export(ArchiveOne),
    /// Remove a conversation's messages and requests; its decisions, which hold no text, stay
    Delete(ArchiveOne),
    /// Make the file as small as it can be, and remove decisions older than 400 days
    Vacuum(ArchiveStore),
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveList {
    #[command(flatten)]
    pub(crate) store: ArchiveStore,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveOne {
    /// The conversation, as `louver archive list` and the header x-louver-conversation name it
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) store: ArchiveStore,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveStore {
    /// The file or postgres:// address, instead of the file in the user's data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) store: Option<PathBuf>,
}

/// Let a model ask for what was left out, over MCP on stdin and stdout
///
/// Two tools: `recall` gives back messages that a ledger stands for, by their address or by words; `inspect` says what was
/// sent, left out and saved. Both read what the proxy kept for you with `--archive full`, as `louver wrap` does. A running
/// proxy serves the same over HTTP under /louver/mcp, to whoever has a token.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/mcp.txt").trim_end())]
pub(crate) struct Mcp {
    /// The file or postgres:// address, instead of the file in the user's data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) store: Option<PathBuf>,
}

/// Serve a strict stand-in for the providers' APIs on this machine
///
/// It refuses what the real APIs refuse, in their words, and keeps their prompt-cache books. Its model follows a script.
/// The first line of stdout is the address; GET /_sandbox/journal lists every request it judged.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/sandbox.txt").trim_end())]
pub(crate) struct Sandbox {
    /// Where to listen: an address of this machine itself; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,

    /// What the model does: demo, echo, faults, or a file (a scenario or a recorded conversation)
    #[arg(long, value_name = "NAME|FILE", default_value = "demo")]
    pub(crate) scenario: String,

    /// The context window, in tokens, instead of each model's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub(crate) context_window: Option<u64>,

    /// Refuse what does not fit within the stream, after it has begun, where events are asked for
    #[arg(long)]
    pub(crate) overflow_in_stream: bool,
}

/// Replay recorded conversations: what each policy costs and forgets
///
/// Every request of every conversation is made again under each policy, priced by the provider's cache rules, checked
/// for legality, and searched for what the recorded answer refers to. No model is called. Replay is off-policy: it says
/// what a window still knows, not whether a task would have succeeded.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/replay.txt").trim_end())]
pub(crate) struct Replay {
    /// Files and folders; `-` reads stdin [default: the sessions of Claude Code, Codex and Gemini CLI]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Only conversations that went on after this day, or time
    #[arg(long, value_name = "DATE", value_parser = louver_replay::input::since, help_heading = "Sessions")]
    pub(crate) since: Option<i64>,

    /// Only conversations of a project: its path, or a part of it
    #[arg(long, value_name = "P", help_heading = "Sessions")]
    pub(crate) project: Option<String>,

    /// List the N dearest sessions; 0 lists none
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole::<usize>, help_heading = "Sessions", allow_negative_numbers = true)]
    pub(crate) top: usize,

    /// The policies to compare [default: all but both and ladder-full]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = policy_parser(), help_heading = "Policy")]
    pub(crate) policy: Vec<&'static Row>,

    /// Compare the policy of a config.yml, too, with its settings; can be given again
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Policy")]
    pub(crate) config: Vec<PathBuf>,

    /// The model whose prices, window and counter hold [default: the recorded one]
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    pub(crate) model: Option<String>,

    /// The window in tokens, instead of the model's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, help_heading = "Policy", allow_negative_numbers = true)]
    pub(crate) context_window: Option<u64>,

    /// Tokens to reserve for the reply [default: 8192]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "Policy", allow_negative_numbers = true)]
    pub(crate) max_output: Option<u64>,

    /// How to count tokens; `auto` follows the model
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = counter_parser(), help_heading = "Policy")]
    pub(crate) counter: CounterChoice,

    /// What system prompt and tools cost where a record has neither them nor what was billed, in tokens
    #[arg(long, value_name = "N", value_parser = whole::<u64>, help_heading = "Prices", allow_negative_numbers = true)]
    pub(crate) overhead: Option<u64>,

    /// Cache write and read prices as multiples of the input price, such as 1.25/0.1
    #[arg(long, value_name = "W/R", help_heading = "Prices")]
    pub(crate) prices: Option<CachePrices>,

    /// One pause between all requests, in seconds, instead of the recorded times
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>, help_heading = "Prices", allow_negative_numbers = true)]
    pub(crate) gap: Option<u64>,

    /// Every K-th request finds the cache cold
    #[arg(long, value_name = "K", value_parser = at_least_one::<u64>, help_heading = "Prices", allow_negative_numbers = true)]
    pub(crate) cold_every: Option<u64>,

    /// Say what request T of one file held under each policy, and what it lacked
    #[arg(long, value_name = "T", value_parser = at_least_one::<usize>, help_heading = "Output", allow_negative_numbers = true)]
    pub(crate) explain: Option<usize>,

    /// Add to each row how long a request took
    #[arg(long, help_heading = "Output")]
    pub(crate) timings: bool,

    /// Write every row and the totals to FILE, as JSON; `-` prints them instead of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,

    /// Write a page with charts to FILE; `-` prints it instead of the table
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
}

/// Show what the catalogue knows about models
///
/// Windows, the most they write, and prices in dollars per million tokens. A name is looked up as in every other command:
/// exactly, with its provider's prefix, without its date, and last by its family; where it is none, every model whose name
/// holds it is listed. Exits with 1 if there is none.
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/models.txt").trim_end())]
pub(crate) struct Models {
    /// A model's name, or a part of it
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Print a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/completions.txt").trim_end())]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Work with config.yml
#[derive(Debug, Subcommand)]
#[command(after_long_help = include_str!("help/config.txt").trim_end())]
pub(crate) enum Config {
    Check(ConfigCheck),
    Schema(ConfigSchema),
}

/// Report every error of a configuration file, each with its line
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/config-check.txt").trim_end())]
pub(crate) struct ConfigCheck {
    /// The file
    #[arg(value_name = "FILE", default_value = "config.yml", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// Print the JSON schema of a configuration file, for editors
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("help/config-schema.txt").trim_end())]
pub(crate) struct ConfigSchema {}

/// What decides about messages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct WindowFlags {
    /// How to decide what stays [default: ladder; messages where no context window is known or flags are about messages]
    #[arg(long, value_name = "NAME", value_parser = policy_parser())]
    pub(crate) policy: Option<&'static Row>,

    /// The most messages to keep; 0 keeps all [default: 100]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) max_messages: Option<usize>,

    /// How many messages at the start always stay [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) preserve_first: Option<usize>,

    /// How many messages at the end always stay [default: 20]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, allow_negative_numbers = true)]
    pub(crate) preserve_last: Option<usize>,

    /// The model's window in tokens, instead of the catalogue's
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_negative_numbers = true)]
    pub(crate) context_window: Option<u64>,

    /// The model, for its window and its counter; beats the one that the input names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Tokens to reserve for the reply [default: the input's max_tokens, else 8192]
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(crate) max_output: Option<u64>,

    /// What the provider counted for all but the last message
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    pub(crate) total_tokens: Option<u64>,

    /// The profile whose condensing threshold counts
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    /// How to count tokens; `auto` follows the model and is chars4 without one
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = counter_parser())]
    pub(crate) counter: CounterChoice,

    /// A config.yml; flags beat it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

fn policy_parser() -> impl TypedValueParser<Value = &'static Row> {
    let values = TABLE.iter().map(|row| PossibleValue::new(row.name).help(row.summary));
    PossibleValuesParser::new(values).try_map(|name| Row::find(&name))
}

fn provider_parser() -> impl TypedValueParser<Value = ProviderKind> {
    let names = ProviderKind::ALL.map(ProviderKind::name);
    PossibleValuesParser::new(names).map(|name| {
        let found = ProviderKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.unwrap_or(ProviderKind::Sandbox)
    })
}

fn counter_parser() -> impl TypedValueParser<Value = CounterChoice> {
    let about = |choice: &CounterChoice| match choice {
        CounterChoice::Chars4 => "four characters a token",
        CounterChoice::O200k => "exact for GPT-4o and later",
        CounterChoice::Cl100k => "exact for GPT-4 and GPT-3.5",
        _ => "what the catalogue says about the model",
    };
    let values = CounterChoice::ALL.iter().map(|choice| PossibleValue::new(choice.to_string()).help(about(choice)));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<CounterChoice>())
}

fn whole<N: FromStr>(typed: &str) -> Result<N, &'static str> {
    typed.parse().map_err(|_| "expected a whole number, 0 or more")
}

fn at_least_one<N: FromStr + Default + PartialOrd>(typed: &str) -> Result<N, &'static str> {
    typed.parse().ok().filter(|number| *number > N::default()).ok_or("expected a whole number, 1 or more")
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_agree_with_each_other() {
        Arguments::command().debug_assert();
    }
}
