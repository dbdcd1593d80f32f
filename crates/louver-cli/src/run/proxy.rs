//! `louver proxy`: stands between clients and providers.

use super::private_memory::keep_memory_private;
use super::proxy_setup::{Setup, setup};
use super::reload::Reloads;
use super::{Exit, Shell, store};
use crate::args::Proxy as Job;
use crate::config::Config;
use louver_proxy::{Keeper, Proxy};
use louver_store::{Retention, Store, UnixMillis};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often what is too old leaves the store.
const RETENTION_PAUSE: Duration = Duration::from_secs(6 * 3600);

/// How long an upstream may take to be reached by `--check`.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(job: &Job, file: Option<&Config>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    keep_memory_private();
    let setup = setup(job, file, None)?;
    let runtime = super::task::runtime()?;
    if job.check {
        return runtime.block_on(check(&setup, shell));
    }
    log_to_stderr();
    runtime.block_on(async {
        let store = store::open(&setup.fixed.store)?;
        let keeper = Keeper::new(Arc::clone(&store), setup.keeper);
        let proxy = Proxy::bind(setup.config, keeper).await?;
        let url = format!("http://{}", proxy.local_addr());
        let reloads = Reloads::new(job, setup.fixed.clone(), proxy.reloader())?;
        shell.printer.text(&format!("{url}\n"))?;
        if let Some(token) = &setup.fixed.made_token {
            shell.printer.note(&format!("Page: {url}/louver/?token={token}"));
        }
        shell.printer.note("Ctrl-C stops.");
        let retaining = tokio::spawn(retain(Arc::clone(&store)));
        tokio::select! {
            () = proxy.keep(stopped()) => {}
            () = reloads.run() => {}
        }
        retaining.abort();
        store.close().await?;
        Ok(Exit::Done)
    })
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
async fn retain(store: Arc<dyn Store>) {
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
    let store = match store::open(&setup.fixed.store) {
        Ok(store) => {
            let sound = store.check().await.err().map(|error| error.to_string());
            store.close().await?;
            sound
        }
        Err(error) => Some(error.to_string()),
    };
    say(format!("store {}", store::shown(&setup.fixed.store)), store)?;
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
