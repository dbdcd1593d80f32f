//! What the tests have in common.

mod brain;
mod client;
mod relay;
mod upstream;

pub(crate) use brain::{TestBrain, Ticket};
pub(crate) use client::{Answer, Client, ask};
pub(crate) use relay::Relay;
pub(crate) use upstream::{RawRequest, Step, Upstream, json_answer, sse_answer};

use louver_proxy::{Brain, Limits, Proxy, ProxyConfig, UpstreamUrl};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything takes; reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A proxy that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start<B: Brain>(config: ProxyConfig, brain: B) -> Self {
        let proxy = Proxy::bind(config, brain).await.unwrap();
        let address = proxy.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(proxy.serve(async { drop(stopped.await) }));
        Self { address, stop: Some(stop), task }
    }

    /// Asks it to stop and waits until it has.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        within((&mut self.task).into_future()).await.unwrap();
    }

    /// Asks it to stop.
    pub(crate) fn begin_to_stop(&mut self) {
        drop(self.stop.take());
    }
}

/// A configuration for tests: a free port, and every upstream is this one.
pub(crate) fn config_to(upstream: SocketAddr) -> ProxyConfig {
    config_to_url(&format!("http://{upstream}"))
}

pub(crate) fn config_to_url(url: &str) -> ProxyConfig {
    let url = UpstreamUrl::parse(url).unwrap();
    let config = ProxyConfig { listen: "127.0.0.1:0".parse().unwrap(), ..ProxyConfig::default() };
    ["anthropic", "openai", "chatgpt", "gemini"]
        .into_iter()
        .fold(config, |config, name| config.upstream(name, url.clone()))
}

pub(crate) fn with_limits(config: ProxyConfig, change: impl FnOnce(&mut Limits)) -> ProxyConfig {
    let mut config = config;
    change(&mut config.limits);
    config
}

/// A short time for limits that a test wants to reach.
pub(crate) const SOON: Duration = Duration::from_millis(60);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{what}");
}
