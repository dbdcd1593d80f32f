//! What a proxy is made of: arguments, configuration and who runs it.

use super::store;
use crate::args::Proxy as Job;
use crate::config::{self, Config};
use anyhow::{Context, bail};
use louver_proxy::{AccessToken, Archive, KeeperSettings, Mode, ProxyConfig, Upstream, UpstreamName, UpstreamUrl};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Everything that a proxy is made of.
pub(super) struct Setup {
    pub(super) config: ProxyConfig,
    pub(super) keeper: KeeperSettings,
    pub(super) fixed: Fixed,
}

/// What stays as it is for as long as a proxy runs.
#[derive(Clone)]
pub(super) struct Fixed {
    pub(super) listen: SocketAddr,
    pub(super) store: PathBuf,
    /// The token that was made because none was named.
    pub(super) made_token: Option<String>,
}

/// What the arguments and the configuration come to, for a proxy that starts or for one that runs.
pub(super) fn setup(job: &Job, file: Option<&Config>, running: Option<&Fixed>) -> anyhow::Result<Setup> {
    let block = file.map(|file| file.proxy.clone()).unwrap_or_default();
    let mut config = ProxyConfig::default();
    if let Some(listen) = job.listen.as_ref().or(block.listen.as_ref()) {
        config.listen = listen.parse().ok().with_context(|| {
            format!("--listen `{listen}` is no address: expected one with a port, as 127.0.0.1:8787")
        })?;
    }
    if let Some(mode) = job.mode.as_ref().or(block.mode.as_ref()) {
        config.mode = mode.parse()?;
    }
    add_upstreams(&mut config, &block, &job.upstream)?;
    config.page_hosts.clone_from(&block.hosts);
    let mut keeper = keeper_settings();
    if let Some(policy) = job.policy.as_ref().or(file.and_then(|file| file.policy.as_ref())) {
        keeper = keeper.with_policy(policy.parse()?);
    }
    if let Some(file) = file {
        file.apply(&mut keeper.policy);
    }
    keeper.context_window = job.context_window.or(block.context_window);
    if let Some(archive) = job.archive.as_ref().or(block.archive.as_ref()) {
        keeper.archive = archive.parse::<Archive>()?;
    }
    let store = job.store.clone().or(block.store.as_ref().map(PathBuf::from)).map_or_else(store::default_place, Ok)?;
    let asked = Fixed { listen: config.listen, store, made_token: None };
    let mut fixed = running.map_or(asked.clone(), |running| running.kept(&asked));
    config.listen = fixed.listen;
    keeper.recall_command = recall_command(&fixed.store);
    let made_before = fixed.made_token.take();
    fixed.made_token = add_tokens(&mut config, &block, job.token_env.as_deref(), made_before)?;
    Ok(Setup { config, keeper, fixed })
}

impl Fixed {
    /// The same, whatever is asked for; what cannot be had is said in the log.
    fn kept(&self, asked: &Self) -> Self {
        if asked.listen != self.listen {
            tracing::warn!(asked = %asked.listen, kept = %self.listen, "proxy.listen is changed by a restart only");
        }
        if asked.store != self.store {
            let (asked, kept) = (store::shown(&asked.store), store::shown(&self.store));
            tracing::warn!(%asked, %kept, "proxy.store is changed by a restart only");
        }
        self.clone()
    }
}

/// The settings that follow from who runs it.
pub(super) fn keeper_settings() -> KeeperSettings {
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    KeeperSettings { user: user.unwrap_or_else(|| "local".to_owned()).into(), ..KeeperSettings::default() }
}

/// How a model asks the store for what was left out.
pub(super) fn recall_command(store: &Path) -> String {
    let command = KeeperSettings::default().recall_command;
    match store::default_place() {
        Ok(default) if default == store => command,
        _ => {
            let named = store::named_anywhere(store);
            format!("{command} --store '{}'", named.replace('\'', r"'\''"))
        }
    }
}

fn add_upstreams(config: &mut ProxyConfig, block: &config::Proxy, typed: &[String]) -> anyhow::Result<()> {
    for (name, upstream) in &block.upstreams {
        let known = config.upstreams.get(&UpstreamName::new(name)).map(|known| known.url.clone());
        let url = match &upstream.url {
            Some(url) => UpstreamUrl::parse(url).with_context(|| format!("proxy.upstreams.{name}.url"))?,
            None => {
                known.with_context(|| format!("proxy.upstreams.{name}.url is missing: where do its requests go?"))?
            }
        };
        let mode = upstream.mode.as_deref().map(str::parse::<Mode>).transpose()?;
        config.upstreams.insert(UpstreamName::new(name), Upstream { url, mode });
    }
    for upstream in typed {
        let Some((name, url)) = upstream.split_once('=') else {
            bail!("--upstream `{upstream}`: expected NAME=URL, as anthropic=https://api.anthropic.com");
        };
        let url = UpstreamUrl::parse(url).with_context(|| format!("--upstream {name}"))?;
        let mode = config.upstreams.get(&UpstreamName::new(name)).and_then(|known| known.mode);
        config.upstreams.insert(UpstreamName::new(name), Upstream { url, mode });
    }
    Ok(())
}

/// Adds the access tokens. Where none is named, the one made before stays, or one is made for the API; it is returned.
fn add_tokens(
    config: &mut ProxyConfig,
    block: &config::Proxy,
    typed: Option<&str>,
    made_before: Option<String>,
) -> anyhow::Result<Option<String>> {
    for (name, variable) in &block.access_tokens {
        config.access_tokens.push(AccessToken::new(name, &secret(variable)?));
    }
    let is_local = config.listen.ip().is_loopback();
    if let Some(variable) = typed {
        let secret = secret(variable)?;
        // On this machine clients need no token, so whoever has it sees what they said.
        config.access_tokens.push(if is_local {
            AccessToken::of_owner(&secret)
        } else {
            AccessToken::new("token", &secret)
        });
    }
    if !config.access_tokens.is_empty() || !is_local {
        return Ok(None);
    }
    let token = made_before.map_or_else(random_token, Ok)?;
    config.access_tokens.push(AccessToken::of_owner(&token));
    Ok(Some(token))
}

fn secret(variable: &str) -> anyhow::Result<String> {
    let secret = std::env::var(variable).ok().filter(|secret| !secret.trim().is_empty());
    secret.with_context(|| format!("the environment variable {variable} holds no access token: set it"))
}

/// A token that nobody can guess.
pub(super) fn random_token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).context("the operating system gives no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
