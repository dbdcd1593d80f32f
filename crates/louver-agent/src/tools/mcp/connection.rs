use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, ServiceError, serve_client};
use serde_json::Value;
use tokio::time::timeout;

use super::diagnostics::Diagnostics;
use super::{McpError, McpServerConfig, content};
use crate::tools::command::Environment;
use crate::tools::excerpt::Excerpt;
use crate::tools::process_group::ProcessGroup;
use crate::tools::refusal::Refusal;
use crate::tools::{Limits, ToolOutput};

/// A running server. It is killed, with everything it started, when the last tool of it is gone.
#[derive(Debug)]
pub(super) struct Connection {
    config: McpServerConfig,
    environment: Environment,
    output_bytes: usize,
    peer: Peer<RoleClient>,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    service: RunningService<RoleClient, ClientConfig>,
    group: ProcessGroup,
    diagnostics: Diagnostics,
}

/// How long a server may take over its goodbye.
const GRACE: Duration = Duration::from_secs(2);

impl Connection {
    pub(super) async fn open(config: McpServerConfig, limits: &Limits) -> Result<Self, McpError> {
        let environment = Environment::inherit(&config.env_allow);
        let problem = |problem: String| McpError::new(&config.name, environment.redact(problem));
        let (group, stdin, stdout, stderr) = ProcessGroup::spawn_piped(&config.command, &config.args, &environment)
            .map_err(|error| problem(unstartable(&config.command, &error)))?;
        let diagnostics = Diagnostics::new(stderr);
        let client = Implementation::new("louver", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), client);
        let reason = match timeout(config.timeout, serve_client(client, (stdout, stdin))).await {
            Ok(Ok(service)) => {
                let peer = service.peer().clone();
                let running = Mutex::new(Some(Running { service, group, diagnostics }));
                return Ok(Self { config, environment, output_bytes: limits.output_bytes, peer, running });
            }
            Ok(Err(error)) => unready(&error),
            Err(_) => format!(
                "did not get ready within {:?}; start `{}` by hand to see why, or give it more time",
                config.timeout, config.command
            ),
        };
        // Once it has been killed there is nothing more to come on its standard error.
        let _ = group.finish().await;
        let said = diagnostics.into_text().await;
        let said = if said.is_empty() { said } else { format!("; it said: {said}") };
        Err(problem(reason + &said))
    }

    pub(super) fn config(&self) -> &McpServerConfig {
        &self.config
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        &self.peer
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        let arguments = match arguments {
            Value::Null => None,
            Value::Object(arguments) => Some(arguments),
            _ => return ToolOutput::error("the arguments must be a JSON object"),
        };
        let mut request = CallToolRequestParams::new(tool.to_owned());
        request.arguments = arguments;
        match timeout(self.config.timeout, self.peer.call_tool_once(request)).await {
            Ok(Ok(CallToolResponse::Complete(result))) => {
                let text = self.environment.redact(Excerpt::of(&content::text(&result), self.output_bytes));
                ToolOutput { is_error: result.is_error.unwrap_or(false), ..ToolOutput::text(text) }
            }
            Ok(Ok(_)) => self.refuse("wants more from the caller than it can be given; use another tool"),
            Ok(Err(error)) => self.refuse(&failure(&error)),
            Err(_) => self.refuse(&format!("did not answer within {:?}; ask for less", self.config.timeout)),
        }
    }

    fn refuse(&self, problem: &str) -> ToolOutput {
        let text = self.environment.redact(format!("the MCP server {problem}"));
        Refusal::new(text).of(&self.config.name)
    }

    /// Says goodbye: closes its input, waits a little for it to end, and kills what is left.
    pub(super) async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { mut service, group, diagnostics }) = running else { return };
        // Whatever goes wrong here, the last step ends it.
        let _ = service.close_with_timeout(GRACE).await;
        let _ = timeout(GRACE, group.ended()).await;
        let _ = group.finish().await;
        drop(diagnostics);
    }
}

fn unstartable(command: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("could not be started: there is no program `{command}`; install or correct it")
        }
        _ => format!("could not be started: `{command}`: {error}"),
    }
}

fn unready(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            "ended before it was ready".to_owned()
        }
        error => format!("does not speak the protocol: {error}"),
    }
}

fn failure(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("refused the call: {}", error.message),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            "has ended, and its tools with it; do it another way".to_owned()
        }
        error => format!("failed: {error}; try another way"),
    }
}
