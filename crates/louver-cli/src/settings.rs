//! Step two: what it means. Everything is validated here and nothing has happened yet.

use crate::config::{Config, Provider, ProviderKind};
use crate::input::{Input, Source};
use crate::typed::{self, Command, Typed};
use crate::window::WindowChoice;
use anyhow::ensure;
use louver::address::Address;
use louver::policy::PolicyKind;
use louver_replay::{DEFAULT_POLICIES, Options};
use std::path::{Path, PathBuf};

/// A command that can be run.
#[derive(Debug)]
pub(crate) enum Meaning {
    Trim(Trim),
    Check(Check),
    Repair(Repair),
    Inspect(Inspect),
    Recall(Box<Recall>),
    Replay(Replay),
    Run(Box<Run>),
    Sandbox(typed::Sandbox),
    Demo,
    Completions(clap_complete::Shell),
    ConfigCheck(PathBuf),
    ConfigSchema,
}

#[derive(Debug)]
pub(crate) struct Trim {
    pub(crate) input: Input,
    pub(crate) window: WindowChoice,
    pub(crate) output: Option<PathBuf>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) explain: bool,
}

#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) task: PathBuf,
    pub(crate) provider: Provider,
    /// Who summarises, if not the same.
    pub(crate) condensing: Option<Provider>,
    pub(crate) config: Config,
    pub(crate) root: PathBuf,
    pub(crate) allow: Vec<String>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) resume: bool,
}

#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) input: Input,
    pub(crate) output: Option<PathBuf>,
    pub(crate) json: bool,
}

#[derive(Debug)]
pub(crate) struct Repair {
    pub(crate) input: Input,
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct Inspect {
    pub(crate) input: Input,
    pub(crate) window: WindowChoice,
    pub(crate) output: Option<PathBuf>,
    /// `None` leaves it to the terminal, 0 shows all.
    pub(crate) limit: Option<usize>,
    pub(crate) json: bool,
}

#[derive(Debug)]
pub(crate) struct Recall {
    pub(crate) wanted: Wanted,
    pub(crate) input: Input,
    pub(crate) window: WindowChoice,
    pub(crate) output: Option<PathBuf>,
    pub(crate) limit: usize,
    pub(crate) json: bool,
}

/// What is to be had back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Address(Address),
    Query(String),
}

#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) options: Options,
    /// A request to explain instead, counted from 1.
    pub(crate) explain: Option<usize>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
}

/// The configuration file that has to be read before the rest can be understood.
pub(crate) fn config_path(typed: &Typed) -> Option<&Path> {
    match &typed.command {
        Command::Trim(trim) => trim.window.config.as_deref(),
        Command::Inspect(inspect) => inspect.window.config.as_deref(),
        Command::Recall(recall) => recall.window.config.as_deref(),
        Command::Run(run) => run.config.as_deref(),
        _ => None,
    }
}

/// Puts flags and configuration together.
pub(crate) fn meaning(typed: Typed, config: Option<&Config>) -> anyhow::Result<Meaning> {
    Ok(match typed.command {
        Command::Trim(trim) => Meaning::Trim(Trim {
            input: input(trim.input),
            window: window(trim.window, config)?,
            output: output(trim.output),
            report: trim.report,
            explain: trim.explain,
        }),
        Command::Check(check) => {
            Meaning::Check(Check { input: input(check.input), output: output(check.output), json: check.json })
        }
        Command::Repair(repair) => {
            Meaning::Repair(Repair { input: input(repair.input), output: output(repair.output) })
        }
        Command::Inspect(inspect) => Meaning::Inspect(Inspect {
            input: input(inspect.input),
            window: window(inspect.window, config)?,
            output: output(inspect.output),
            limit: inspect.limit,
            json: inspect.json,
        }),
        Command::Recall(recall) => Meaning::Recall(Box::new(self::recall(recall, config)?)),
        Command::Replay(replay) => Meaning::Replay(self::replay(replay)?),
        Command::Run(run) => Meaning::Run(Box::new(self::run(run, config))),
        Command::Sandbox(sandbox) => Meaning::Sandbox(sandbox),
        Command::Demo(_) => Meaning::Demo,
        Command::Completions(completions) => Meaning::Completions(completions.shell),
        Command::Config(typed::Config::Check(check)) => Meaning::ConfigCheck(check.file),
        Command::Config(typed::Config::Schema(_)) => Meaning::ConfigSchema,
    })
}

fn recall(typed: typed::Recall, config: Option<&Config>) -> anyhow::Result<Recall> {
    let window = window(typed.window, config)?;
    Ok(Recall {
        wanted: wanted(typed.wanted)?,
        input: input(typed.input),
        // Addresses are what the ladder writes; where it cannot decide, all is searched, and no other policy is asked.
        window: WindowChoice { without_window: window.policy.clone(), ..window },
        output: output(typed.output),
        limit: usize::try_from(typed.limit)?,
        json: typed.json,
    })
}

/// What starts like an address has to be one; words are anything else.
fn wanted(typed: String) -> anyhow::Result<Wanted> {
    ensure!(!typed.trim().is_empty(), "ID|QUERY is empty: expected an address such as 12, or words to search for");
    match typed.parse() {
        Ok(address) => Ok(Wanted::Address(address)),
        Err(error) if Address::is_meant_by(&typed) => Err(error.into()),
        Err(_) => Ok(Wanted::Query(typed)),
    }
}

/// A task to run: what was typed beats what the configuration says.
fn run(typed: typed::Run, config: Option<&Config>) -> Run {
    let config = config.cloned().unwrap_or_default();
    let rehearsal = typed.provider.filter(|kind| *kind == ProviderKind::Sandbox);
    let condensing = config.context.condensing_provider.as_ref();
    Run {
        task: typed.task,
        provider: provider(typed.provider, config.provider.as_ref()),
        condensing: condensing.map(|configured| provider(rehearsal, Some(configured))),
        config,
        root: typed.root,
        allow: typed.allow,
        state: typed.state,
        resume: typed.resume,
    }
}

/// Who answers. The sandbox stands in for whoever is configured; of any other that is typed, the configuration says
/// nothing where it is about somebody else.
fn provider(typed: Option<ProviderKind>, configured: Option<&Provider>) -> Provider {
    let kind = typed.or(configured.map(|provider| provider.kind)).unwrap_or(ProviderKind::Sandbox);
    match configured {
        Some(configured) if configured.kind == kind => configured.clone(),
        Some(configured) if kind == ProviderKind::Sandbox => {
            Provider { wire: Some(configured.chosen_wire()), model: configured.model.clone(), ..Provider::new(kind) }
        }
        _ => Provider::new(kind),
    }
}

fn replay(typed: typed::Replay) -> anyhow::Result<Replay> {
    let explain = typed.explain.map(usize::try_from).transpose()?;
    let names: Vec<&str> = typed.policy.iter().map(|row| row.name).collect();
    let names = if names.is_empty() { DEFAULT_POLICIES.to_vec() } else { names };
    let options = Options {
        model: typed.model,
        context_window: typed.context_window,
        max_output: typed.max_output,
        counter: typed.counter,
        overhead: typed.overhead,
        cache_prices: typed.prices,
        gap_seconds: typed.gap,
        cold_every: typed.cold_every,
        timings: typed.timings,
        ..Options::of_policies(&names)?
    };
    Ok(Replay { paths: typed.paths, options, explain, json: typed.json, html: typed.html })
}

fn input(typed: typed::Input) -> Input {
    Input { source: Source::of(typed.path), format: typed.format, max_bytes: typed.max_bytes }
}

/// `-o -` is stdout.
fn output(typed: typed::Output) -> Option<PathBuf> {
    typed.path.filter(|path| path.as_os_str() != "-")
}

/// Flags beat the configuration, which beats the defaults.
fn window(typed: typed::Window, config: Option<&Config>) -> anyhow::Result<WindowChoice> {
    let has_message_flags =
        typed.max_messages.is_some() || typed.preserve_first.is_some() || typed.preserve_last.is_some();
    let wanted = match typed.policy {
        Some(row) => Some(row.kind()),
        None => config.and_then(Config::wanted_policy).or(has_message_flags.then(|| PolicyKind::default_for(false))),
    };
    let set = |mut policy: PolicyKind| {
        if let Some(config) = config {
            config.apply(&mut policy);
        }
        set_flags(&typed, &mut policy);
        policy
    };
    let policy = set(wanted.clone().unwrap_or_else(|| PolicyKind::default_for(true)));
    let mut idle = idle_flags(&policy, &typed);
    idle.extend(config.map(|config| config.idle_keys(&policy)).unwrap_or_default());
    Ok(WindowChoice {
        // A list of messages alone does not say how large the window is; then the message window has to do.
        without_window: if wanted.is_none() { set(PolicyKind::default_for(false)) } else { policy.clone() },
        policy,
        total_tokens: typed.total_tokens,
        model: typed.model,
        configured_model: config.and_then(|config| config.provider.as_ref()?.model.clone()),
        context_window: typed.context_window.or(config.and_then(|config| config.context.context_window)),
        max_output: typed.max_output,
        counter: typed.counter,
        idle,
    })
}

fn set_flags(typed: &typed::Window, policy: &mut PolicyKind) {
    if let Some(messages) = policy.messages_mut() {
        messages.max_messages = typed.max_messages.unwrap_or(messages.max_messages);
        messages.preserve_first_n = typed.preserve_first.unwrap_or(messages.preserve_first_n);
        messages.preserve_last_n = typed.preserve_last.unwrap_or(messages.preserve_last_n);
    }
    if let Some(tokens) = policy.tokens_mut()
        && typed.profile.is_some()
    {
        tokens.current_profile_id.clone_from(&typed.profile);
    }
}

/// Flags that the policy does not look at.
fn idle_flags(policy: &PolicyKind, typed: &typed::Window) -> Vec<&'static str> {
    let counts_messages = policy.messages().is_some();
    let has_token_window = policy.tokens().is_some();
    let flags = [
        ("--max-messages", typed.max_messages.is_some() && !counts_messages),
        ("--preserve-first", typed.preserve_first.is_some() && !counts_messages),
        ("--preserve-last", typed.preserve_last.is_some() && !counts_messages),
        ("--context-window", typed.context_window.is_some() && !policy.needs_budget()),
        ("--max-output", typed.max_output.is_some() && !policy.needs_budget()),
        ("--total-tokens", typed.total_tokens.is_some() && !has_token_window),
        ("--profile", typed.profile.is_some() && !has_token_window),
    ];
    flags.into_iter().filter(|(_, is_idle)| *is_idle).map(|(flag, _)| flag).collect()
}

#[cfg(test)]
mod tests {
    use super::{Meaning, Wanted, meaning, wanted};
    use crate::config::{Config, Provider, ProviderKind, Wire};
    use crate::typed::Typed;
    use clap::Parser;

    fn trim(arguments: &str, config: &str) -> super::Trim {
        let typed = Typed::try_parse_from(format!("louver trim {arguments}").split_whitespace()).unwrap();
        match meaning(typed, Some(&Config::parse(config).unwrap().config)).unwrap() {
            Meaning::Trim(trim) => trim,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_beat_the_configuration() {
        let config = "policy: both\nprofile: code\nexecution: {conversation: {max_messages: 40, preserve_last_n: 7}}";
        let window = trim("--max-messages 9 --profile chat", config).window;
        assert_eq!((window.policy.name(), window.policy.messages().unwrap().max_messages), ("both", 9));
        let messages = window.policy.messages().unwrap();
        assert_eq!((messages.preserve_last_n, messages.preserve_first_n), (7, 1));
        assert_eq!(window.policy.tokens().unwrap().current_profile_id.as_deref(), Some("chat"));
        assert_eq!(trim("--policy tokens", config).window.policy.name(), "tokens");
        let config = "context: {context_window: 8000}";
        assert_eq!(trim("--policy tokens", config).window.context_window, Some(8000));
        assert_eq!(trim("--policy tokens --context-window 9000", config).window.context_window, Some(9000));
    }

    fn run(arguments: &str, config: &str) -> super::Run {
        let typed = Typed::try_parse_from(format!("louver run TASK.md {arguments}").split_whitespace()).unwrap();
        match meaning(typed, Some(&Config::parse(config).unwrap().config)).unwrap() {
            Meaning::Run(run) => *run,
            other => panic!("{other:?}"),
        }
    }

    const OPENAI: &str =
        "provider: {type: openai-api, wire: responses, model: gpt-5, base_url: 'https://g', api_key_env: K}
context: {condensing_provider: {type: anthropic-api, model: claude-haiku-4-5}}";

    #[test]
    fn the_configured_provider_answers_unless_another_is_typed() {
        let configured = run("", OPENAI).provider;
        assert_eq!((configured.kind, configured.chosen_wire()), (ProviderKind::OpenaiApi, Wire::Responses));
        assert_eq!(run("--provider openai-api", OPENAI).provider, configured);
        assert_eq!(run("--provider anthropic-api", OPENAI).provider, Provider::new(ProviderKind::AnthropicApi));
        assert_eq!(run("", "").provider, Provider::new(ProviderKind::Sandbox));
    }

    #[test]
    fn the_sandbox_stands_in_for_all_that_is_configured() {
        let rehearsal = run("--provider sandbox", OPENAI);
        let stand_in = Provider {
            wire: Some(Wire::Responses),
            model: Some("gpt-5".to_owned()),
            ..Provider::new(ProviderKind::Sandbox)
        };
        assert_eq!(rehearsal.provider, stand_in);
        assert_eq!(rehearsal.condensing.unwrap().kind, ProviderKind::Sandbox);
        assert_eq!(run("", OPENAI).condensing.unwrap().kind, ProviderKind::AnthropicApi);
    }

    #[test]
    fn the_ladder_decides_unless_something_else_is_asked_for() {
        let policies = |arguments, config| {
            let window = trim(arguments, config).window;
            [window.policy.name().to_owned(), window.without_window.name().to_owned()]
        };
        assert_eq!(policies("", ""), ["ladder", "messages"]);
        assert_eq!(policies("--max-messages 3", ""), ["messages", "messages"]);
        assert_eq!(policies("", "execution: {max_conversation_messages: 3}"), ["messages", "messages"]);
        assert_eq!(policies("--policy tokens", ""), ["tokens", "tokens"]);
        assert_eq!(policies("", "policy: ladder-lean"), ["ladder-lean", "ladder-lean"]);
    }

    #[test]
    fn an_address_is_told_from_words() {
        let is_address = |typed: &str| matches!(wanted(typed.to_owned()).unwrap(), Wanted::Address(_));
        assert!(["12", "3-17", "[louver:3-17, 20-41]"].into_iter().all(is_address));
        assert!(!["\"12\"", "twelve", "17-3", "3 17", "see [louver:3]"].into_iter().any(is_address));
        assert!(wanted("[louver:3".to_owned()).is_err() && wanted(" ".to_owned()).is_err());
    }

    #[test]
    fn flags_without_effect_are_known() {
        assert_eq!(trim("--policy tokens --max-messages 3", "").window.idle, ["--max-messages"]);
        assert_eq!(trim("--policy messages --context-window 9", "").window.idle, ["--context-window"]);
        assert!(trim("--context-window 9", "").window.idle.is_empty());
        assert!(trim("--policy both --context-window 9 --preserve-first 1", "").window.idle.is_empty());
    }
}
