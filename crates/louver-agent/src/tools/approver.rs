use serde_json::Value;

/// Somebody who is asked before a tool does anything but look.
#[async_trait::async_trait]
pub trait Approver: std::fmt::Debug + Send + Sync {
    /// Whether a tool may be called with these arguments. It may take its time: what a tool has of it is counted from the
    /// answer on.
    async fn allows(&self, tool: &str, arguments: &Value) -> bool;
}
