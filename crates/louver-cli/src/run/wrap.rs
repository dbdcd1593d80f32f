//! `louver wrap`: a client behind a proxy of its own.

use super::private_memory::keep_memory_private;
use super::{Exit, Shell, proxy, proxy_setup, store};
use crate::args::{Wrap as Job, WrappedClient};
use crate::printer::{dollars, plural};
use anyhow::Context;
use louver_proxy::{AccessToken, Archive, Keeper, Proxy, ProxyConfig, UpstreamUrl};
use louver_store::{PageRequest, Store, UnixMillis, Whose};
use std::ffi::OsString;
use std::process::ExitStatus;
use std::sync::Arc;
use tokio::process::Command;

/// How a client is started so that it talks to the proxy.
struct Start {
    program: &'static str,
    /// The upstreams that its requests may go to; the first is the usual one.
    upstream: &'static str,
    variables: Vec<(&'static str, String)>,
    arguments: Vec<OsString>,
}

pub(super) fn run(job: &Job, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    keep_memory_private();
    super::task::runtime()?.block_on(async {
        let path = job.store.clone().map_or_else(store::default_place, Ok)?;
        let store = store::open(&path)?;
        let mut keeper = proxy_setup::keeper_settings();
        keeper.recall_command = proxy_setup::recall_command(&path);
        (keeper.archive, keeper.context_window) = (Archive::Full, job.context_window);
        let serving = Proxy::bind(config(job)?, Keeper::new(Arc::clone(&store), keeper)).await?;
        let start = start(job.client, &format!("http://{}", serving.local_addr()));
        let began = proxy::now();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = tokio::spawn(serving.keep(async { drop(stopped.await) }));
        let status = client(&start, &job.arguments).await;
        drop(stop);
        serving.await?;
        store.flush().await?;
        let status = status?;
        say_what_was_saved(&*store, began, shell).await?;
        store.close().await?;
        Ok(exit_of(status))
    })
}

fn config(job: &Job) -> anyhow::Result<ProxyConfig> {
    let mut config = ProxyConfig { listen: (std::net::Ipv4Addr::LOCALHOST, 0).into(), ..ProxyConfig::default() };
    if let Some(url) = &job.upstream {
        let url = UpstreamUrl::parse(url).context("--upstream")?;
        config = config.upstream(start(job.client, "").upstream, url.clone());
        if job.client == WrappedClient::Codex {
            config = config.upstream("chatgpt", url);
        }
    }
    if let Some(mode) = &job.mode {
        config.mode = mode.parse()?;
    }
    // Nobody is told: the page of a wrapped client's proxy ends with the client.
    config.access_tokens.push(AccessToken::of_owner(&proxy_setup::random_token()?));
    Ok(config)
}

fn start(client: WrappedClient, url: &str) -> Start {
    match client {
        WrappedClient::Claude => Start {
            program: "claude",
            upstream: "anthropic",
            variables: vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ENABLE_TOOL_SEARCH", "true".to_owned()),
                ("CLAUDE_CODE_GATEWAY_HINT_HEADERS", "1".to_owned()),
                ("CLAUDE_CODE_PROPAGATE_TRACEPARENT", "1".to_owned()),
            ],
            arguments: Vec::new(),
        },
        WrappedClient::Codex => {
            Start { program: "codex", upstream: "openai", variables: Vec::new(), arguments: codex_settings(url) }
        }
        WrappedClient::Gemini => Start {
            program: "gemini",
            upstream: "gemini",
            variables: vec![("GOOGLE_GEMINI_BASE_URL", url.to_owned())],
            arguments: Vec::new(),
        },
    }
}

/// Codex takes its settings from arguments: a provider of its own, so that it opens no WebSocket.
fn codex_settings(url: &str) -> Vec<OsString> {
    let has_key = std::env::var_os("OPENAI_API_KEY").is_some_and(|key| !key.is_empty());
    let login = if has_key { r#"env_key="OPENAI_API_KEY""# } else { "requires_openai_auth=true" };
    let provider = format!(r#"model_providers.louver={{name="Louver",base_url="{url}/v1",{login}}}"#);
    ["-c", r#"model_provider="louver""#, "-c", &provider].into_iter().map(OsString::from).collect()
}

async fn client(start: &Start, arguments: &[OsString]) -> anyhow::Result<ExitStatus> {
    let mut command = Command::new(start.program);
    command.args(&start.arguments).args(arguments).envs(start.variables.iter().map(|(name, value)| (name, value)));
    let missing = || format!("cannot start `{}`: is it installed and in PATH?", start.program);
    let mut child = command.spawn().with_context(missing)?;
    // An interrupt is the client's: it hears it, too, and decides what to do.
    loop {
        tokio::select! {
            status = child.wait() => return Ok(status?),
            interrupted = tokio::signal::ctrl_c() => interrupted?,
        }
    }
}

/// Two lines: the money, and what was left out.
async fn say_what_was_saved(store: &dyn Store, began: UnixMillis, shell: &mut Shell<'_>) -> anyhow::Result<()> {
    let page = store.conversations(Whose::Everybody, PageRequest::first(1_000)).await?;
    let mine: Vec<_> = page.rows.iter().filter(|row| row.last >= began).collect();
    let requests: u64 = mine.iter().map(|row| row.requests).sum();
    let cuts: u64 = mine.iter().map(|row| row.cuts).sum();
    // The sum of nothing is -0 by itself.
    let cost = mine.iter().map(|row| row.cost.usd()).fold(0.0, |sum, usd| sum + usd);
    let baseline = mine.iter().map(|row| row.baseline.usd()).fold(0.0, |sum, usd| sum + usd);
    let saved = f64::max(baseline - cost, 0.0);
    shell.printer.note(&format!(
        "Louver: {} cost about {} at list prices, {} less than uncut.",
        plural(usize::try_from(requests).unwrap_or(usize::MAX), "request"),
        dollars(cost, 2),
        dollars(saved, 2),
    ));
    let conversation = mine.iter().max_by_key(|row| row.cuts).filter(|row| row.cuts > 0);
    shell.printer.note(&match conversation {
        None => "Nothing was left out.".to_owned(),
        Some(row) => format!(
            "{} left out older messages; to have them back: louver archive export {}",
            plural(usize::try_from(cuts).unwrap_or(usize::MAX), "cut"),
            row.info.id
        ),
    });
    Ok(())
}

fn exit_of(status: ExitStatus) -> Exit {
    Exit::Client(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
