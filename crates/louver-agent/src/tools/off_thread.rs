use super::ToolOutput;
use super::refusal::Refusal;

/// Runs file work where it may block.
pub(crate) async fn off_thread<F>(tool: &str, work: F) -> ToolOutput
where
    F: FnOnce() -> Result<ToolOutput, Refusal> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(output)) => output,
        Ok(Err(refusal)) => refusal.of(tool),
        Err(_) => Refusal::new("this call failed inside the tool; try another way").of(tool),
    }
}
