//! An MCP server for the tests, with good manners and bad ones.
//!
//! Arguments: `hold PATH` keeps a named pipe open while it lives, `goodbye PATH` leaves a file when it ends in good
//! order, `mute` never says anything, `broken` complains and ends, `crowded` has too many tools, `deaf` goes on after
//! its input has ended, `http` listens on a port of its own and says which, `token TOKEN` wants to see one there.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Debug)]
struct Manners {
    is_crowded: bool,
}

fn tool(name: &str, description: &str, schema: &Value) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name.to_owned(), description.to_owned(), Arc::new(schema))
}

fn plain(name: &str) -> Tool {
    tool(name, name, &json!({"type": "object"}))
}

impl ServerHandler for Manners {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if self.is_crowded {
            // Every page promises another one.
            let mut result = ListToolsResult::with_all_items(vec![plain("more"); 50]);
            result.next_cursor = Some("again".into());
            return Ok(result);
        }
        if page.and_then(|page| page.cursor).is_some() {
            return Ok(ListToolsResult::with_all_items(vec![plain("odd.name/é")]));
        }
        let echo = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let mut tools = vec![tool("echo", "Says it again.", &echo)];
        tools.extend(["fail", "refuse", "crash", "hang", "flood", "picture", "structured", "variables"].map(plain));
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = Some("second".into());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(match request.name.as_ref() {
            "echo" => text(arguments["text"].as_str().unwrap_or("nothing").to_owned()),
            "fail" => CallToolResult::error(vec![ContentBlock::text("that went wrong")]),
            "crash" => std::process::exit(3),
            "hang" => std::future::pending().await,
            "flood" => text("x".repeat(8 << 20)),
            "picture" => CallToolResult::success(vec![ContentBlock::image("A".repeat(4_000), "image/png")]),
            "structured" => CallToolResult::structured(json!({"sum": 3})),
            "variables" => text(std::env::vars().map(|(name, value)| format!("{name}={value}\n")).collect()),
            "odd.name/é" => text("odd".to_owned()),
            _ => return Err(ErrorData::invalid_params("no such thing", None)),
        }))
    }
}

/// Serves over HTTP until it is killed; its address is the first line on its standard output.
async fn listen(token: Option<String>) -> std::io::Result<()> {
    let manners = || Ok(Manners { is_crowded: false });
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(manners, sessions, StreamableHttpServerConfig::default());
    let expected = token.map(|token| format!("Bearer {token}"));
    let guard = middleware::from_fn(move |request: Request, next: Next| {
        let shown = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let is_welcome = expected.is_none() || shown == expected.as_deref();
        async move { if is_welcome { next.run(request).await } else { StatusCode::FORBIDDEN.into_response() } }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    axum::serve(listener, Router::new().nest_service("/mcp", service).layer(guard)).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let path = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let held = path("hold").map(|path| File::options().write(true).open(path)).transpose()?;
    if has("broken") {
        return Err("no configuration found".into());
    }
    if has("mute") {
        std::future::pending::<()>().await;
    }
    if has("http") {
        return Ok(listen(path("token").cloned()).await?);
    }
    let service = Manners { is_crowded: has("crowded") }.serve(rmcp::transport::stdio()).await?;
    service.waiting().await?;
    if has("deaf") {
        std::future::pending::<()>().await;
    }
    if let Some(path) = path("goodbye") {
        std::fs::write(path, "goodbye")?;
    }
    drop(held);
    Ok(())
}
