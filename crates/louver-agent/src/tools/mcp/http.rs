use std::error::Error;
use std::time::Duration;

use rmcp::service::{ClientInitializeError, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use tokio::time::timeout;

use super::running::{Running, client};
use crate::{ApiKey, http_client};

/// Makes the acquaintance of a server at an address, or says why not.
pub(super) async fn open(url: &str, token: Option<&ApiKey>, patience: Duration) -> Result<Running, String> {
    let http = http_client(url, patience).map_err(|error| format!("cannot be reached: {}", root_cause(&error)))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(|token| token.expose().to_owned());
    let transport = StreamableHttpClientTransport::with_client(http, config);
    match timeout(patience, serve_client(client(), transport)).await {
        Ok(Ok(service)) => Ok(Running { service, process: None }),
        Ok(Err(error)) => Err(unready(&error)),
        Err(_) => Err(format!("did not answer within {patience:?}; is its address right?")),
    }
}

fn http_client(url: &str, patience: Duration) -> reqwest::Result<reqwest::Client> {
    // A connection that was left with something unread is not used again.
    let builder = http_client::builder().connect_timeout(patience).pool_max_idle_per_host(0);
    if http_client::is_local(url) { builder.no_proxy().build() } else { builder.build() }
}

fn unready(error: &ClientInitializeError) -> String {
    let ClientInitializeError::TransportError { error, .. } = error else {
        return format!("does not speak the protocol: {error}");
    };
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => {
            format!("cannot be reached: {}; is its address right?", root_cause(error))
        }
        Some(StreamableHttpError::AuthRequired(_)) => "refuses us; is its token right?".to_owned(),
        Some(error) => format!("does not answer as an MCP server would: {error}"),
        None => "cannot be reached".to_owned(),
    }
}

/// What is at the bottom of an error. The client's own words hold the address, and that may hold a key.
fn root_cause(error: &reqwest::Error) -> String {
    match (std::iter::successors(error.source(), |&error| error.source()).last(), error.status()) {
        (Some(cause), _) => cause.to_string(),
        (None, Some(status)) => status.to_string(),
        (None, None) => "the request cannot be sent".to_owned(),
    }
}
