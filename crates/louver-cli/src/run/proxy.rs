//! `louver proxy`: stands between clients and providers.

use super::reload::Reloads;
use super::{Exit, Shell};
use crate::args::Proxy as Job;
use crate::config::{self, Config};
use anyhow::{Context, anyhow, bail};
use louver_proxy::{
    AccessToken, Archive, Keeper, KeeperSettings, Mode, Proxy, ProxyConfig, Upstream, UpstreamName, UpstreamUrl,
};
use louver_store::{Maintenance, Retention, SqliteStore, UnixMillis};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often what is too old leaves the store.
const RETENTION_PAUSE: Duration = Duration::from_secs(6 * 3600);

/// How long an upstream may take to be reached by `--check`.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

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

pub(super) fn run(job: &Job, file: Option<&Config>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    keep_memory_private();
    let setup = setup(job, file, None)?;
    let runtime = super::task::runtime()?;
    if job.check {
        return runtime.block_on(check(&setup, shell));
    }
    log_to_stderr();
    runtime.block_on(async {
        let store = open(&setup.fixed.store)?;
        let keeper = Keeper::new(Arc::clone(&store) as Arc<dyn louver_store::Store>, setup.keeper);
        let proxy = Proxy::bind(setup.config, keeper).await?;
        let url = format!("http://{}", proxy.local_addr());
        let reloads = Reloads::new(job, setup.fixed.clone(), proxy.reloader())?;
        shell.printer.text(&format!("{url}\n"))?;
        if let Some(token) = &setup.fixed.made_token {
            shell.printer.note(&format!("Conversations: {url}/louver/api/conversations?token={token}"));
        }
        shell.printer.note("Ctrl-C stops.");
        let retaining = tokio::spawn(retain(Arc::clone(&store)));
        tokio::select! {
            () = proxy.serve(stopped()) => {}
            () = reloads.run() => {}
        }
        retaining.abort();
        store.close().await?;
        Ok(Exit::Done)
    })
}

/// Nobody but the system's administrator sees the memory, which credentials pass through: no core is written, and no
/// debugger attaches.
pub(super) fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Where the kernel cannot, nothing is worse than before.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
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
    let mut keeper = keeper_settings();
    if let Some(policy) = &job.policy {
        keeper.policy = policy.parse()?;
    } else if let Some(policy) = file.and_then(|file| file.policy.as_ref()) {
        keeper.policy = policy.parse()?;
    }
    if let Some(file) = file {
        file.apply(&mut keeper.policy);
    }
    keeper.context_window = job.context_window.or(block.context_window);
    if let Some(archive) = job.archive.as_ref().or(block.archive.as_ref()) {
        keeper.archive = archive.parse::<Archive>()?;
    }
    let store = job.store.clone().or(block.store.as_ref().map(PathBuf::from)).map_or_else(default_store, Ok)?;
    if store.to_str().is_some_and(|store| store.starts_with("postgres://") || store.starts_with("postgresql://")) {
        bail!("--store {}: this version keeps its store in a file; name one", store.display());
    }
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
            let (asked, kept) = (asked.store.display(), self.store.display());
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
    match default_store() {
        Ok(default) if default == store => command,
        _ => {
            let path = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
            format!("{command} --store '{}'", path.display().to_string().replace('\'', r"'\''"))
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

/// Where decisions are kept if nothing is said: in the user's data folder.
pub(super) fn default_store() -> anyhow::Result<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")));
    let data =
        data.or_else(|| folder("LOCALAPPDATA")).context("there is no home folder: name the store with --store")?;
    Ok(data.join("louver").join("louver.db"))
}

pub(super) fn open(path: &Path) -> anyhow::Result<Arc<SqliteStore>> {
    // What the database itself says helps nobody.
    let store = SqliteStore::open(path).map_err(|error| anyhow!("{error}; name another file with --store"))?;
    Ok(Arc::new(store))
}

/// Requests and troubles as JSON, a line each.
fn log_to_stderr() {
    // A second one in the same process logs where the first does.
    let _ = tracing_subscriber::fmt()
        .json()
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
        .try_init();
}

/// Done when somebody asks it to stop.
async fn stopped() {
    let interrupted = async { drop(tokio::signal::ctrl_c().await) };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            match signal(SignalKind::terminate()) {
                Ok(mut terminated) => drop(terminated.recv().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    }
    #[cfg(not(unix))]
    interrupted.await;
}

/// Lets what is too old leave the store, now and then.
async fn retain(store: Arc<SqliteStore>) {
    loop {
        if let Err(error) = store.retain(Retention::default_at(now())).await {
            tracing::warn!(%error, "what is too old could not be removed");
        }
        tokio::time::sleep(RETENTION_PAUSE).await;
    }
}

pub(super) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Says of everything that a proxy needs whether it is there.
async fn check(setup: &Setup, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let mut is_good = true;
    let mut say = |what: String, problem: Option<String>| {
        is_good &= problem.is_none();
        shell.printer.text(&format!("{what}: {}\n", problem.as_deref().unwrap_or("ok")))
    };
    let store = match SqliteStore::open(&setup.fixed.store) {
        Ok(store) => {
            let sound = store.check().await.err().map(|error| error.to_string());
            store.close().await?;
            sound
        }
        Err(error) => Some(error.to_string()),
    };
    say(format!("store {}", setup.fixed.store.display()), store)?;
    let listen = setup.config.listen;
    let free = tokio::net::TcpListener::bind(listen).await.err();
    say(
        format!("listen {listen}"),
        free.map(|error| format!("{error}; name another address with --listen, as 127.0.0.1:0")),
    )?;
    for (name, upstream) in &setup.config.upstreams {
        let reached = louver_proxy::reach(&upstream.url, &setup.config.extra_roots, CHECK_TIMEOUT).await;
        say(format!("upstream {name} {}", upstream.url), reached.err().map(|error| error.to_string()))?;
    }
    Ok(if is_good { Exit::Done } else { Exit::Finding })
}
