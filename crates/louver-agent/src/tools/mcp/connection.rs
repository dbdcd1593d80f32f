use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;
use tokio::time::timeout;

use super::running::Running;
use super::{content, http, process};
use crate::ApiKey;
use crate::tools::excerpt::Excerpt;
use crate::tools::refusal::Refusal;
use crate::tools::{Environment, Limits, McpError, McpServerConfig, McpTransport, ToolOutput};

/// A server that is ready. One that was started is killed, with everything it started itself, when the last tool of it is
/// gone.
#[derive(Debug)]
pub(super) struct Connection {
    config: McpServerConfig,
    secrets: Secrets,
    output_bytes: usize,
    peer: Peer<RoleClient>,
    running: Mutex<Option<Running>>,
}

/// What a server was given and must not repeat.
#[derive(Debug)]
enum Secrets {
    Environment(Environment),
    Token(Option<ApiKey>),
}

/// How long a server may take over its goodbye.
const GRACE: Duration = Duration::from_secs(2);

impl Connection {
    pub(super) async fn open(config: McpServerConfig, limits: &Limits) -> Result<Self, McpError> {
        let (opened, secrets) = match &config.transport {
            McpTransport::Process { command, args, environment, launcher } => {
                let opened = process::open(launcher.as_ref(), command, args, environment, config.timeout).await;
                (opened, Secrets::Environment(environment.clone()))
            }
            McpTransport::Http { url, token } => {
                let opened = http::open(url, token.as_ref(), config.timeout).await;
                (opened, Secrets::Token(token.clone()))
            }
        };
        let running = opened.map_err(|problem| McpError::new(&config.name, secrets.redact(problem)))?;
        let (output_bytes, peer) = (limits.output_bytes, running.service.peer().clone());
        Ok(Self { config, secrets, output_bytes, peer, running: Mutex::new(Some(running)) })
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
                let text = self.secrets.redact(Excerpt::of(&content::text(&result), self.output_bytes));
                ToolOutput { is_error: result.is_error.unwrap_or(false), ..ToolOutput::text(text) }
            }
            Ok(Ok(_)) => self.refuse("wants more from the caller than it can be given; use another tool"),
            Ok(Err(error)) => self.refuse(&failure(&error)),
            Err(_) => self.refuse(&format!("did not answer within {:?}; ask for less", self.config.timeout)),
        }
    }

    fn refuse(&self, problem: &str) -> ToolOutput {
        let text = self.secrets.redact(format!("the MCP server {problem}"));
        Refusal::new(text).of(&self.config.name)
    }

    /// Says goodbye: closes its input, waits a little for it to end, and kills what is left.
    pub(super) async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { mut service, process }) = running else { return };
        // Whatever goes wrong here, the last step ends it.
        let _ = service.close_with_timeout(GRACE).await;
        if let Some((group, _diagnostics)) = process {
            let _ = timeout(GRACE, group.ended()).await;
            let _ = group.finish().await;
        }
    }
}

impl Secrets {
    fn redact(&self, text: String) -> String {
        match self {
            Self::Environment(environment) => environment.redact(text),
            Self::Token(Some(token)) => token.redact(&text),
            Self::Token(None) => text,
        }
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
