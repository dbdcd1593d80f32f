//! The block `tools`.

use super::tree::{Node, Value};
use super::walk::{Block, Walk, is_url, is_variable};
use super::{McpServer, Tools};
use louver_agent::tools::McpServerConfig;

/// Every key of `tools`.
const TOOLS: &[&str] = &["mcp_servers"];
/// Every key of an MCP server.
const MCP_SERVER: &[&str] = &["command", "args", "env", "url", "token_env", "confine", "timeout_seconds"];

/// What is said where a name is wanted; the text itself may be the secret.
const NOT_A_VALUE: &str = "must be the name of an environment variable, not its value";

impl Walk {
    pub(super) fn tools(&mut self, top: &Block<'_>) -> Tools {
        let mut tools = Tools::default();
        let block = self.inner(top, "tools", TOOLS).unwrap_or_default();
        let servers = self.named(&block, "mcp_servers");
        for name in servers.keys() {
            if !McpServerConfig::is_name(name) {
                let wants = "a server's name has letters, digits, `-` and single `_`, and at most 32 of them";
                self.problem_at(&servers, name, wants.to_owned());
            }
            if let Some(server) = self.mcp_server(&servers, name) {
                tools.mcp_servers.insert(name.to_owned(), server);
            }
        }
        tools
    }

    fn mcp_server(&mut self, servers: &Block<'_>, name: &str) -> Option<McpServer> {
        let node = servers.get(name)?;
        let block = self.block(node, servers.path_of(name), MCP_SERVER);
        if matches!(node.value, Value::Null | Value::Block(_)) {
            self.command_or_url(&block);
        }
        let timeout_seconds = self.whole(&block, "timeout_seconds", 1..=3600);
        Some(McpServer {
            command: self.text_that(&block, "command", |text| !text.trim().is_empty(), "must name a program"),
            args: self.texts(&block, "args", "texts", |_| None),
            env: self.texts(&block, "env", "names", |name| (!is_variable(name)).then_some(NOT_A_VALUE)),
            url: self.text_that(&block, "url", is_url, "must start with http:// or https://"),
            token_env: self.text_that(&block, "token_env", is_variable, NOT_A_VALUE),
            confine: self.flag(&block, "confine").unwrap_or(false),
            timeout_seconds: timeout_seconds.unwrap_or(McpServer::default().timeout_seconds),
        })
    }

    /// A server is started or it is there; the other keys go with one of the two.
    fn command_or_url(&mut self, block: &Block<'_>) {
        let (command, url) = (block.has("command"), block.has("url"));
        if !command && !url {
            let message = "is missing: the program to start (or `url`, if the server is there already)";
            self.problem(block.line, block.path_of("command"), message.to_owned());
        }
        if command && url {
            self.problem_at(
                block,
                "url",
                "stands beside `command`: a server is started or is there, not both".to_owned(),
            );
        }
        for (key, is_lost, owner) in [
            ("args", !command && url, "command"),
            ("env", !command && url, "command"),
            ("confine", !command && url, "command"),
            ("token_env", command && !url, "url"),
        ] {
            if is_lost && block.has(key) {
                self.problem_at(block, key, format!("goes with `{owner}` only"));
            }
        }
    }

    /// A list of texts, each with what is wrong with it. They are not repeated in errors: some may be secrets in the wrong
    /// place.
    pub(super) fn texts(
        &mut self,
        block: &Block<'_>,
        key: &str,
        nouns: &str,
        wrong: fn(&str) -> Option<&'static str>,
    ) -> Vec<String> {
        let elements = match block.get(key).map(|node| &node.value) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::List(elements)) => elements,
            Some(other) => {
                self.problem_at(block, key, format!("expected a list of {nouns}, found {}", other.kind()));
                return Vec::new();
            }
        };
        let mut texts = Vec::with_capacity(elements.len());
        for (at, Node { line, value }) in elements.iter().enumerate() {
            let problem = match value {
                Value::Text(text) => match wrong(text) {
                    Some(problem) => problem.to_owned(),
                    None => {
                        texts.push(text.clone());
                        continue;
                    }
                },
                other => format!("expected text, found {}: put it in quotes", other.kind()),
            };
            self.problem(*line, format!("{}[{at}]", block.path_of(key)), problem);
        }
        texts
    }
}
