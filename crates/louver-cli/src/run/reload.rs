//! SIGHUP: a running proxy reads its configuration again.

use super::proxy_setup::{Fixed, setup};
use crate::args::Proxy as Job;
use crate::config::Config;
use anyhow::ensure;
use louver_proxy::{Keeper, Reloader};
use std::path::Path;

/// Reads the configuration again whenever somebody asks for it.
pub(super) struct Reloads<'a> {
    job: &'a Job,
    fixed: Fixed,
    reloader: Reloader<Keeper>,
    #[cfg(unix)]
    hangups: Option<tokio::signal::unix::Signal>,
}

impl<'a> Reloads<'a> {
    /// From here on SIGHUP no longer ends the process, if it has a configuration to read.
    pub(super) fn new(job: &'a Job, fixed: Fixed, reloader: Reloader<Keeper>) -> anyhow::Result<Self> {
        #[cfg(unix)]
        let hangups = {
            use tokio::signal::unix::{SignalKind, signal};
            job.config.as_ref().map(|_| signal(SignalKind::hangup())).transpose()?
        };
        Ok(Self {
            job,
            fixed,
            reloader,
            #[cfg(unix)]
            hangups,
        })
    }

    /// Never ends.
    pub(super) async fn run(mut self) {
        while self.asked().await {
            let Some(path) = &self.job.config else { break };
            match self.reload(path) {
                Ok(()) => {
                    tracing::info!(file = %path.display(), "the configuration was read again and holds from here on")
                }
                Err(error) => {
                    tracing::error!(
                        because = format!("{error:#}"),
                        "the configuration is refused; the old settings stay"
                    );
                }
            }
        }
        std::future::pending().await
    }

    /// Waits until somebody asks; whether anybody ever can.
    async fn asked(&mut self) -> bool {
        #[cfg(unix)]
        if let Some(hangups) = &mut self.hangups {
            return hangups.recv().await.is_some();
        }
        false
    }

    fn reload(&self, path: &Path) -> anyhow::Result<()> {
        let checked = Config::load(path)?;
        for warning in &checked.warnings {
            tracing::warn!(%warning, "the configuration has something odd");
        }
        let setup = setup(self.job, Some(&checked.config), Some(&self.fixed))?;
        // Nobody could be told a token that is made now.
        let is_new = self.fixed.made_token.is_none() && setup.fixed.made_token.is_some();
        ensure!(!is_new, "proxy.access_tokens names no token any more: name one, or restart");
        let keeper = self.reloader.brain().with_settings(setup.keeper);
        Ok(self.reloader.reload(setup.config, keeper)?)
    }
}
