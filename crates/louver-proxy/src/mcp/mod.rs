//! An MCP server over a store: a model asks for what was left out, and for what that saved.
//!
//! Messages in, messages out; whoever has a pipe or a connection carries them. Nothing is remembered between two of them, so
//! both eras of the protocol are served side by side: the one that begins with `initialize`, and the one in which every
//! request says which version it speaks.

mod inspect;
mod page;
mod recall;
mod tools;

pub(crate) use recall::written;

use louver_store::{ReaderId, Store};
use serde_json::{Value, json};
use std::sync::Arc;

/// Versions that begin with `initialize`, the latest first.
const WITH_HANDSHAKE: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Versions in which every request stands for itself.
const WITHOUT_HANDSHAKE: [&str; 1] = ["2026-07-28"];
/// Where a request of the latter says which it speaks.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// How many messages may come at once.
const MESSAGES: usize = 64;
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Clients put this into every conversation, so it is short and never changes.
pub(crate) const INSTRUCTIONS: &str =
    "Older messages of this conversation may stand in a ledger as [louver:12]. recall gives them back.";

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// A server for one reader, who sees nothing of others.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use louver_proxy::McpServer;
/// use louver_store::SqliteStore;
/// use std::sync::Arc;
///
/// let folder = tempfile::tempdir()?;
/// let store = Arc::new(SqliteStore::open(folder.path().join("louver.db"))?);
/// let server = McpServer::new(store, "ann".into());
/// let answer = server.answer(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await.unwrap();
/// assert!(answer.contains(r#""name":"recall""#));
/// assert_eq!(server.answer(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await, None);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct McpServer {
    store: Arc<dyn Store>,
    reader: ReaderId,
}

/// Why a message has no result.
struct Fault {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Fault {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

impl McpServer {
    /// A server of what a reader may see.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, reader: ReaderId) -> Self {
        Self { store, reader }
    }

    /// The answer to a message, or to several at once as one version of the protocol has them; nothing where none is
    /// expected.
    pub async fn answer(&self, message: &str) -> Option<String> {
        match serde_json::from_str::<Value>(message) {
            Err(_) => Some(failed(&Value::Null, Fault::new(PARSE_ERROR, "this is no JSON"))),
            Ok(Value::Array(messages)) if messages.is_empty() || messages.len() > MESSAGES => {
                let fault = Fault::new(INVALID_REQUEST, format!("send 1 to {MESSAGES} messages at once"));
                Some(failed(&Value::Null, fault))
            }
            Ok(Value::Array(messages)) => {
                let mut answers = Vec::new();
                for message in &messages {
                    answers.extend(self.answer_one(message).await);
                }
                (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
            }
            Ok(message) => self.answer_one(&message).await,
        }
    }

    async fn answer_one(&self, message: &Value) -> Option<String> {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // An answer to something that was never asked.
            let is_answer = message.get("result").or(message.get("error")).is_some();
            let fault = || Fault::new(INVALID_REQUEST, "this is no request: it has no method");
            return (!is_answer).then(|| failed(&Value::Null, fault()));
        };
        let id = message.get("id").filter(|id| !id.is_null())?;
        let nothing = json!({});
        let params = message.get("params").unwrap_or(&nothing);
        Some(match self.result(method, params).await {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Err(fault) => failed(id, fault),
        })
    }

    async fn result(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        let era = Era::of(params)?;
        match method {
            "initialize" => Ok(initialized(params)),
            "server/discover" => Ok(discovered()),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(era.complete(json!({ "tools": tools::list() }), true)),
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
                let told = match name {
                    "recall" => self.recall(&arguments).await,
                    "inspect" => self.inspect(&arguments).await,
                    _ => return Err(Fault::new(INVALID_PARAMS, format!("there is no tool `{name}`"))),
                };
                Ok(era.complete(shown(told), false))
            }
            _ => Err(Fault::new(METHOD_NOT_FOUND, format!("`{method}` is not served here"))),
        }
    }
}

/// Whether a version of the protocol, as HTTP's header names it, is spoken here.
pub(crate) fn speaks(version: &str) -> bool {
    WITH_HANDSHAKE.contains(&version) || WITHOUT_HANDSHAKE.contains(&version)
}

/// What a tool says, or why it cannot.
fn shown(told: Result<String, String>) -> Value {
    let is_error = told.is_err();
    let (Ok(text) | Err(text)) = told;
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

/// How a request speaks.
#[derive(Clone, Copy)]
enum Era {
    WithHandshake,
    WithoutHandshake,
}

impl Era {
    fn of(params: &Value) -> Result<Self, Fault> {
        let version = params.get("_meta").and_then(|meta| meta.get(VERSION)).and_then(Value::as_str);
        match version {
            None => Ok(Self::WithHandshake),
            Some(version) if WITHOUT_HANDSHAKE.contains(&version) => Ok(Self::WithoutHandshake),
            Some(version) if WITH_HANDSHAKE.contains(&version) => Ok(Self::WithHandshake),
            Some(version) => {
                let data = json!({ "supported": supported(), "requested": version });
                let message = format!("version {version} of the protocol is not spoken here");
                Err(Fault { data: Some(data), ..Fault::new(UNSUPPORTED_VERSION, message) })
            }
        }
    }

    /// A result as this era has it.
    fn complete(self, mut result: Value, is_constant: bool) -> Value {
        if matches!(self, Self::WithoutHandshake) {
            result["resultType"] = "complete".into();
            if is_constant {
                result["ttlMs"] = 3_600_000.into();
                result["cacheScope"] = "public".into();
            }
        }
        result
    }
}

fn supported() -> Vec<&'static str> {
    WITHOUT_HANDSHAKE.into_iter().chain(WITH_HANDSHAKE).collect()
}

fn server_info() -> Value {
    json!({ "name": "louver", "version": env!("CARGO_PKG_VERSION") })
}

fn initialized(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = WITH_HANDSHAKE.into_iter().find(|known| *known == asked).unwrap_or(WITH_HANDSHAKE[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discovered() -> Value {
    let result = json!({
        "supportedVersions": supported(),
        "capabilities": { "tools": {} },
        "instructions": INSTRUCTIONS,
        "_meta": { SERVER_INFO: server_info() },
    });
    Era::WithoutHandshake.complete(result, true)
}

fn failed(id: &Value, fault: Fault) -> String {
    let mut error = json!({ "code": fault.code, "message": fault.message });
    if let Some(data) = fault.data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}
