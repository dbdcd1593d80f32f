use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::Refusal;
use super::{Tool, ToolOutput, arguments};

/// Answers a call of a tool that works on files: reads its arguments, works where it may block, and says what went wrong.
pub(crate) async fn off_thread<T, R>(
    tool: &T,
    arguments: Value,
    work: fn(&T, &R) -> Result<ToolOutput, Refusal>,
) -> ToolOutput
where
    T: Tool + Clone + 'static,
    R: DeserializeOwned + Send + 'static,
{
    let (tool, definition) = (tool.clone(), tool.definition());
    let done = async {
        let request: R = arguments::parse(&definition, arguments)?;
        let broken = |_| Refusal::new("this call failed inside the tool; try another way");
        tokio::task::spawn_blocking(move || work(&tool, &request)).await.map_err(broken)?
    };
    done.await.unwrap_or_else(|refusal| refusal.of(&definition.name))
}
