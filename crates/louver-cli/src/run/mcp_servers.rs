//! The MCP servers of a run: started together, ended together.

use super::keys::Keys;
use super::toolbox::Programs;
use crate::config::McpServer as Named;
use anyhow::{Context, bail};
use louver_agent::tools::{Environment, Limits, McpServer, McpServerConfig, McpTransport, ToolSet};
use louver_agent::{ApiKey, CancellationToken};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinSet;

/// Running servers. Dropping them kills them; [`shut_down`](Self::shut_down) lets them say goodbye.
#[derive(Debug, Default)]
pub(super) struct McpServers(BTreeMap<String, McpServer>);

impl McpServers {
    /// Starts all of them at once and adds their tools. `None` if it was cancelled meanwhile; then none is left.
    pub(super) async fn start(
        named: &BTreeMap<String, Named>,
        tools: &mut ToolSet,
        programs: &Programs,
        keys: &Keys,
        cancel: &CancellationToken,
    ) -> anyhow::Result<Option<Self>> {
        let mut starting = JoinSet::new();
        for (name, server) in named {
            let (name, config) = (name.clone(), config(name, server, programs, keys).with_context(|| key_path(name))?);
            starting.spawn(async move { (name, McpServer::connect(config, &Limits::default()).await) });
        }
        let mut servers = Self::default();
        while let Some(joined) = tokio::select! {
            joined = starting.join_next() => joined,
            () = cancel.cancelled() => {
                starting.shutdown().await;
                servers.shut_down().await;
                return Ok(None);
            }
        } {
            let (name, server) = joined?;
            servers.0.insert(name.clone(), server.with_context(|| key_path(&name))?);
        }
        for (name, server) in &servers.0 {
            for tool in server.tools() {
                tools.add(tool).with_context(|| key_path(name))?;
            }
        }
        Ok(Some(servers))
    }

    /// Ends all of them at once.
    pub(super) async fn shut_down(self) {
        let mut ending = JoinSet::new();
        for (_, server) in self.0 {
            ending.spawn(async move { server.shut_down().await });
        }
        ending.join_all().await;
    }
}

fn key_path(name: &str) -> String {
    format!("tools.mcp_servers.{name}")
}

fn config(name: &str, server: &Named, programs: &Programs, keys: &Keys) -> anyhow::Result<McpServerConfig> {
    let transport = match (&server.command, &server.url) {
        (Some(command), _) => process(command, server, programs, keys)?,
        (None, Some(url)) => McpTransport::Http { url: url.clone(), token: token(server, keys)? },
        (None, None) => bail!("has neither `command` nor `url`"),
    };
    Ok(McpServerConfig { name: name.to_owned(), transport, timeout: Duration::from_secs(server.timeout_seconds) })
}

fn process(command: &str, server: &Named, programs: &Programs, keys: &Keys) -> anyhow::Result<McpTransport> {
    let mut environment = Environment::inherit::<&str>([]);
    for variable in &server.env {
        let value = keys.value(variable);
        let value = value.with_context(|| format!("{variable} is not set: set it, or take it from `env`"))?;
        environment = environment.with(variable, value);
    }
    let launcher = programs.for_server(server.confine)?;
    Ok(McpTransport::Process { command: command.to_owned(), args: server.args.clone(), environment, launcher })
}

fn token(server: &Named, keys: &Keys) -> anyhow::Result<Option<ApiKey>> {
    let Some(variable) = &server.token_env else { return Ok(None) };
    let Some(token) = keys.key(variable) else {
        bail!("no token in {variable}: set it, or take it from `token_env`");
    };
    Ok(Some(token))
}
