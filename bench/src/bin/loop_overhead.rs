//! What the loop itself costs per turn: a thousand turns with a provider that answers at once and no HTTP at all.
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --features agent --bin loop_overhead [-- TURNS]` prints
//! microseconds per turn and exits with 1 when they are more than a millisecond. Without HTTP, what is left is the loop:
//! window, results, state file, events.

use louver::catalog::Catalog;
use louver::tokens::CounterChoice;
use louver::wire::{Format, Message};
use louver_agent::provider::{Answer, Provider, ProviderError, Request, StopReason, ToolCall};
use louver_agent::tools::{Tool, ToolDefinition, ToolOutput, ToolSet};
use louver_agent::{ExecuteOptions, Executor, ExecutorConfig, Usage};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

const MODEL: &str = "claude-sonnet-4-5";

/// Answers every request at once: calls while there are turns left, then the end.
#[derive(Debug)]
struct Instantly {
    left: AtomicUsize,
}

#[async_trait::async_trait]
impl Provider for Instantly {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    async fn send(&self, request: &Request<'_>, _: &CancellationToken) -> Result<Answer, ProviderError> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        let id = format!("toolu_{left}");
        let (block, calls, stop) = if left > 1 {
            let block = json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "src/lib.rs"}});
            let arguments = Ok(json!({"path": "src/lib.rs"}));
            (block, vec![ToolCall { id, name: "read".to_owned(), arguments }], StopReason::ToolUse)
        } else {
            (json!({"type": "text", "text": "Done."}), Vec::new(), StopReason::EndOfTurn)
        };
        let message = json!({"role": "assistant", "content": [block]}).to_string();
        let messages = Message::parse(Format::Anthropic, &message).into_iter().collect();
        let bytes: usize = request.messages.iter().map(|raw| raw.len()).sum();
        let usage = Usage { input_tokens: bytes as u64 / 4, output_tokens: 20, ..Usage::default() };
        Ok(Answer { messages, text: String::new(), calls, stop, usage })
    }

    async fn count_tokens(&self, _: &Request<'_>, _: &CancellationToken) -> Result<u64, ProviderError> {
        Ok(0)
    }
}

/// Gives back two kilobytes.
#[derive(Debug)]
struct Read;

#[async_trait::async_trait]
impl Tool for Read {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        ToolDefinition { name: "read".to_owned(), description: "Reads a file.".to_owned(), schema }
    }

    async fn call(&self, _: Value) -> ToolOutput {
        ToolOutput { text: "fn main() { step(1); }\n".repeat(90), ..ToolOutput::default() }
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let turns = std::env::args().nth(1).map_or(Ok(1000), |turns| turns.parse())?;
    let state = std::env::temp_dir().join(format!("louver-loop-overhead-{}", std::process::id()));
    let mut options = ExecuteOptions::new(MODEL);
    options.max_turns = turns + 1;
    options.window.settings.messages.max_messages = 100;
    let config = ExecutorConfig { state_file: Some(state.clone()), ..ExecutorConfig::new(options) };
    let provider = Arc::new(Instantly { left: AtomicUsize::new(turns) });
    let executor = Executor::new(provider, Arc::new(ToolSet::new([Arc::new(Read) as Arc<dyn Tool>])), config);
    // The tokenizer loads once per process, however many turns there are.
    let found = Catalog::builtin().find(MODEL).ok_or("an unknown model")?;
    CounterChoice::Auto.resolve(Some(&found.model)).text("warm");
    let started = Instant::now();
    let summary = executor.run("Read everything.").await?;
    let per_turn = started.elapsed() / u32::try_from(summary.turns.max(1))?;
    std::fs::remove_file(state)?;
    println!("{} turns, {} us per turn", summary.turns, per_turn.as_micros());
    Ok(if per_turn.as_micros() < 1000 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
