use std::sync::Arc;

use rmcp::model::PaginatedRequestParams;
use rmcp::service::ServiceError;
use tokio::time::timeout;

use super::connection::Connection;
use super::mcp_tool::McpTool;
use crate::tools::{Limits, McpError, McpServerConfig, Tool};

/// An MCP server, and its tools.
///
/// A process that was started for it goes on while any of its tools is around, and is killed after that; [`shut_down`](Self::shut_down) ends
/// it in good order. Once it has ended, for whatever reason, calls of its tools are answered with an error.
#[derive(Debug)]
pub struct McpServer {
    connection: Arc<Connection>,
    tools: Vec<Arc<dyn Tool>>,
}

/// Every tool is part of every request to the model.
const MAX_TOOLS: usize = 200;

impl McpServer {
    /// Starts a server, or calls at its address, and asks for its tools, whose names become `NAME__tool`.
    ///
    /// # Errors
    ///
    /// If its name cannot be a prefix, or if it does not start, answer in time or speak the protocol. The error tells
    /// what the server said on its standard error.
    pub async fn connect(config: McpServerConfig, limits: &Limits) -> Result<Self, McpError> {
        if !McpServerConfig::is_name(&config.name) {
            let problem = "has a name that cannot be used; take letters, digits, `-` and single `_`, at most 32";
            return Err(McpError::new(&config.name, problem));
        }
        let connection = Arc::new(Connection::open(config, limits).await?);
        let config = connection.config();
        let problem = |problem: String| McpError::new(&config.name, problem);
        let listed = timeout(config.timeout, list(&connection))
            .await
            .map_err(|_| problem(format!("did not list its tools within {:?}", config.timeout)))?
            .map_err(|error| problem(format!("did not list its tools: {error}")))?;
        if listed.len() > MAX_TOOLS {
            return Err(problem(format!("has more than {MAX_TOOLS} tools")));
        }
        let tool = |tool: &rmcp::model::Tool| Arc::new(McpTool::new(Arc::clone(&connection), tool)) as Arc<dyn Tool>;
        let tools = listed.iter().map(tool).collect();
        Ok(Self { connection, tools })
    }

    /// Its tools, in its own order.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    /// Ends the connection, and the server if it was started here: closes its input, waits a little for it to end by itself, then kills it with everything it
    /// started.
    pub async fn shut_down(&self) {
        self.connection.close().await;
    }
}

/// The tools of all pages, or as many as are too many.
async fn list(connection: &Connection) -> Result<Vec<rmcp::model::Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut page = PaginatedRequestParams::default();
    loop {
        let result = connection.peer().list_tools(Some(page.clone())).await?;
        tools.extend(result.tools);
        match result.next_cursor {
            Some(cursor) if tools.len() <= MAX_TOOLS => page.cursor = Some(cursor),
            _ => return Ok(tools),
        }
    }
}
