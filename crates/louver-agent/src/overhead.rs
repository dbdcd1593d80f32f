//! What every request pays besides its messages.

use crate::tools::ToolDefinition;
use louver::tokens::{Counter, Millitokens};

/// The tokens of the system prompt and the tool definitions.
#[must_use]
pub fn count_overhead(counter: &dyn Counter, system: Option<&str>, tools: &[ToolDefinition]) -> Millitokens {
    let system = system.map_or(Millitokens::ZERO, |text| counter.text(text));
    tools.iter().fold(system, |sum, tool| sum + count_tool(counter, tool))
}

fn count_tool(counter: &dyn Counter, tool: &ToolDefinition) -> Millitokens {
    counter.text(&tool.name) + counter.text(&tool.description) + counter.text(&tool.schema.to_string())
}
