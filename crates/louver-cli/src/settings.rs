//! Step two: what arguments and configuration come to. Everything is validated here and nothing has happened yet. What
//! decides about messages is in `window.rs`.

use crate::args::{self, Arguments, Command};
use crate::config::{Config, Provider, ProviderKind};
use anyhow::ensure;
use louver::address::Address;
use louver::policy::PolicyKind;
use louver_replay::{Contender, DEFAULT_POLICIES, Options, Selection};
use std::path::Path;

/// A task to run, and with whom.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) args: &'a args::Run,
    pub(crate) provider: Provider,
    /// Who summarises, if not the same.
    pub(crate) condensing: Option<Provider>,
    pub(crate) config: Config,
}

/// What is to be had back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    Address(Address),
    Query(&'a str),
}

/// The configuration file that has to be read before the rest can be understood.
pub(crate) fn config_path(arguments: &Arguments) -> Option<&Path> {
    match &arguments.command {
        Command::Trim(trim) => trim.window.config.as_deref(),
        Command::Inspect(inspect) => inspect.window.config.as_deref(),
        Command::Condense(condense) => condense.window.config.as_deref(),
        Command::Recall(recall) => recall.window.config.as_deref(),
        Command::Run(run) => run.config.as_deref(),
        Command::Proxy(proxy) => proxy.config.as_deref(),
        _ => None,
    }
}

/// What starts like an address has to be one; words are anything else.
pub(crate) fn wanted(typed: &str) -> anyhow::Result<Wanted<'_>> {
    ensure!(!typed.trim().is_empty(), "ID|QUERY is empty: expected an address such as 12, or words to search for");
    match typed.parse() {
        Ok(address) => Ok(Wanted::Address(address)),
        Err(error) if Address::is_meant_by(typed) => Err(error.into()),
        Err(_) => Ok(Wanted::Query(typed)),
    }
}

/// A task to run: what was typed beats what the configuration says.
pub(crate) fn run(args: &args::Run, config: Option<Config>) -> Run<'_> {
    let mut config = config.unwrap_or_default();
    config.execution.max_tokens = args.max_output.filter(|tokens| *tokens > 0).or(config.execution.max_tokens);
    let rehearsal = args.provider.filter(|kind| *kind == ProviderKind::Sandbox);
    let condensing = config.context.condensing_provider.as_ref();
    Run {
        args,
        provider: provider(args.provider, config.provider.as_ref()),
        condensing: condensing.map(|configured| provider(rehearsal, Some(configured))),
        config,
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

/// How conversations are replayed: under the policies that were typed, and under those of configurations, each named by
/// its file.
pub(crate) fn replay(args: &args::Replay, configs: &[Config]) -> anyhow::Result<Options> {
    let names: Vec<&str> = args.policy.iter().map(|row| row.name).collect();
    let names = if names.is_empty() { DEFAULT_POLICIES.to_vec() } else { names };
    let mut options = Options {
        model: args.model.clone(),
        context_window: args.context_window,
        max_output: args.max_output,
        counter: args.counter,
        overhead: args.overhead,
        cache_prices: args.prices,
        gap_seconds: args.gap,
        cold_every: args.cold_every,
        timings: args.timings,
        selection: Selection { since_millis: args.since, project: args.project.clone() },
        ..Options::of_policies(&names)?
    };
    for (path, config) in args.config.iter().zip(configs) {
        let mut policy = config.wanted_policy().unwrap_or_else(|| PolicyKind::default_for(true));
        config.apply(&mut policy);
        let name = unused_name(path, &options.contenders);
        options.contenders.push(Contender::new(&name, policy));
    }
    Ok(options)
}

/// A configuration's file name without its ending, or its path where that is taken.
fn unused_name(path: &Path, taken: &[Contender]) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    if taken.iter().any(|contender| contender.name == stem) { path.display().to_string() } else { stem }
}

#[cfg(test)]
mod tests {
    use super::{Wanted, wanted};
    use crate::args::{Arguments, Command};
    use crate::config::{Config, Provider, ProviderKind, Wire};
    use clap::Parser;

    /// Who answers, and who summarises.
    fn run(arguments: &str, config: &str) -> (Provider, Option<Provider>) {
        let arguments =
            Arguments::try_parse_from(format!("louver run TASK.md {arguments}").split_whitespace()).unwrap();
        let Command::Run(run) = &arguments.command else { panic!("{arguments:?}") };
        let run = super::run(run, Some(Config::parse(config).unwrap().config));
        (run.provider, run.condensing)
    }

    const OPENAI: &str =
        "provider: {type: openai-api, wire: responses, model: gpt-5, base_url: 'https://g', api_key_env: K}
context: {condensing_provider: {type: anthropic-api, model: claude-haiku-4-5}}";

    #[test]
    fn the_configured_provider_answers_unless_another_is_typed() {
        let (configured, _) = run("", OPENAI);
        assert_eq!((configured.kind, configured.chosen_wire()), (ProviderKind::OpenaiApi, Wire::Responses));
        assert_eq!(run("--provider openai-api", OPENAI).0, configured);
        assert_eq!(run("--provider anthropic-api", OPENAI).0, Provider::new(ProviderKind::AnthropicApi));
        assert_eq!(run("", "").0, Provider::new(ProviderKind::Sandbox));
    }

    #[test]
    fn the_sandbox_stands_in_for_all_that_is_configured() {
        let (provider, condensing) = run("--provider sandbox", OPENAI);
        let stand_in = Provider {
            wire: Some(Wire::Responses),
            model: Some("gpt-5".to_owned()),
            ..Provider::new(ProviderKind::Sandbox)
        };
        assert_eq!(provider, stand_in);
        assert_eq!(condensing.unwrap().kind, ProviderKind::Sandbox);
        assert_eq!(run("", OPENAI).1.unwrap().kind, ProviderKind::AnthropicApi);
    }

    #[test]
    fn an_address_is_told_from_words() {
        let is_address = |typed: &str| matches!(wanted(typed).unwrap(), Wanted::Address(_));
        assert!(["12", "3-17", "[louver:3-17, 20-41]"].into_iter().all(is_address));
        assert!(!["\"12\"", "twelve", "17-3", "3 17", "see [louver:3]"].into_iter().any(is_address));
        assert!(wanted("[louver:3").is_err() && wanted(" ").is_err());
    }
}
