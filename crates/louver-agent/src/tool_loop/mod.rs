//! The tool loop: call the model, run its calls, append all of it at once, fit the window, again.

mod calls;
mod fitting;
mod money;
mod overflow;
mod thinking;

use crate::condensing::cost;
use crate::provider::{Answer, Category, Provider, ProviderError, Request, StopReason};
use crate::tools::{ToolDefinition, ToolSet};
use crate::{Conversation, ExecuteOptions, ExecutionError, ExecutionResult, RunEvent, Stop, Usage, redact};
use louver::{Message, Role};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

/// Runs the tool loop until the model ends its turn, completes or blocks the task, fails, or is stopped.
///
/// `prompt` is what the user says; without one the conversation goes on where it stood, which is how a killed run is
/// continued. `state` is the conversation of the last call, which keeps the window it was made with; without one a new
/// one starts, with the window that the options describe.
pub async fn execute(
    provider: &Arc<dyn Provider>,
    tools: &Arc<ToolSet>,
    prompt: Option<&str>,
    options: &ExecuteOptions,
    state: Option<Conversation>,
) -> ExecutionResult {
    let definitions = tools.definitions();
    let new = || options.window_config(provider.format(), &definitions).and_then(Conversation::new);
    let conversation = match state.map_or_else(new, Ok) {
        Ok(conversation) => conversation,
        Err(error) => {
            let error = ExecutionError::new(Category::Api, error.to_string());
            return ExecutionResult::default().ended(Err(error), None);
        }
    };
    let (provider, tools) = (Arc::clone(provider), Arc::clone(tools));
    let result = ExecutionResult::default();
    let warned = BTreeSet::new();
    ToolLoop { provider, tools, definitions, options, conversation, result, warned }.run(prompt).await
}

/// One run of the loop.
struct ToolLoop<'a> {
    provider: Arc<dyn Provider>,
    tools: Arc<ToolSet>,
    definitions: Vec<ToolDefinition>,
    options: &'a ExecuteOptions,
    conversation: Conversation,
    /// What happened so far.
    result: ExecutionResult,
    /// Warnings that were given already.
    warned: BTreeSet<String>,
}

impl ToolLoop<'_> {
    async fn run(mut self, prompt: Option<&str>) -> ExecutionResult {
        let ended = self.turns(prompt).await;
        self.result.ended(ended, Some(self.conversation))
    }

    async fn turns(&mut self, prompt: Option<&str>) -> Result<Stop, ExecutionError> {
        if self.conversation.window().is_empty()
            && let Some(warning) = self.options.window.model_warning(self.provider.format(), &self.options.model)
        {
            self.warn(warning.to_string());
        }
        if self.conversation.open_turn().is_some()
            && let Some(stop) = self.finish_interrupted_turn().await?
        {
            return Ok(stop);
        }
        if let Some(prompt) = prompt {
            let message = Message::synthetic(self.provider.format(), Role::User, &redact(prompt));
            self.conversation.push(vec![message.map_err(|error| unreadable(&error))?]);
        }
        for _ in 0..self.options.max_turns {
            if self.options.cancel.is_cancelled() {
                return Ok(Stop::Cancelled);
            }
            self.fit().await?;
            let answer = match self.ask().await {
                Err(error) if error.is_cancelled() => return Ok(Stop::Cancelled),
                Err(error) => return Err(ExecutionError::from(&error)),
                Ok(None) => return Ok(Stop::OutOfBudget),
                Ok(Some(answer)) => answer,
            };
            if let Some(stop) = self.take(answer).await? {
                return Ok(stop);
            }
        }
        Ok(Stop::TurnLimit)
    }

    async fn send(&mut self, max_tokens: u64) -> Result<Answer, ProviderError> {
        let options = self.options;
        let extra = self.extra();
        self.conversation.note_sent();
        let messages: Vec<&str> = self.conversation.window().view().iter().map(|sent| sent.message.raw()).collect();
        let message_count = messages.len();
        let request = Request {
            observer: Some(&options.observer),
            system: options.system_prompt.as_deref(),
            tools: &self.definitions,
            stable_messages: self.conversation.last_sent.stable_messages,
            is_streamed: options.is_streamed,
            extra: Some(&*extra),
            ..Request::new(&options.model, max_tokens, messages)
        };
        let answer = self.provider.send(&request, &options.cancel).await?;
        self.remember(answer.usage, message_count);
        Ok(answer)
    }

    /// Keeps what the next request and the next summary want to know of this one.
    fn remember(&mut self, usage: Usage, message_count: usize) {
        self.result.turns += 1;
        self.result.usage += usage;
        let cost = cost(&self.options.model, usage);
        self.result.cost += cost;
        self.conversation.bill(&self.options.model, usage, cost);
        self.emit(&RunEvent::Billed { cost });
        if usage.prompt_tokens() > 0 {
            self.conversation.report_usage(louver::window::Usage {
                input: usage.input_tokens,
                cache_read: usage.cache_read_tokens,
                cache_write: usage.cache_write_tokens,
            });
        }
        let may_condense = self.conversation.window().config().policy.condenses();
        let mut last = crate::conversation::LastSent {
            stable_messages: message_count,
            prompt_tokens: usage.prompt_tokens(),
            at: Some(Instant::now()),
            ..Default::default()
        };
        if may_condense && self.options.condense.handler.is_none() {
            let view = self.conversation.window().view();
            last.messages = view.iter().map(|sent| sent.message.raw().to_owned()).collect();
            last.indices = view.iter().filter_map(|sent| sent.origin.index()).collect();
        }
        self.conversation.last_sent = last;
    }

    /// Takes an answer in; whether the loop stops with it.
    async fn take(&mut self, answer: Answer) -> Result<Option<Stop>, ExecutionError> {
        if !answer.text.is_empty() {
            self.result.output.clone_from(&answer.text);
        }
        if !answer.calls.is_empty() {
            let answer = answer.with_own_ids(self.provider.format(), &self.conversation.call_ids);
            let answer = answer.map_err(|error| unreadable(&error))?;
            self.conversation.begin_turn(answer.messages);
            if matches!(answer.stop, StopReason::MaxTokens | StopReason::WindowFull) {
                self.answer_cut_call(&answer.calls);
            }
            return self.run_calls(&answer.calls).await;
        }
        let is_silent = answer.messages.is_empty();
        self.conversation.push(answer.messages);
        self.check_file()?;
        match answer.stop {
            StopReason::Refusal => Err(ExecutionError::new(Category::Api, "the model declined to answer".to_owned())),
            StopReason::MaxTokens | StopReason::WindowFull => Ok(Some(Stop::MaxTokens)),
            // The provider's own tools take longer; the same history asks for the rest.
            StopReason::Other(reason) if reason == "pause_turn" && !is_silent => Ok(None),
            _ => Ok(Some(Stop::EndOfTurn)),
        }
    }

    /// A run that cannot be remembered does not go on.
    fn check_file(&mut self) -> Result<(), ExecutionError> {
        match self.conversation.take_file_error() {
            Some(error) => {
                let cause = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
                Err(ExecutionError::new(Category::Tool, format!("{error}{cause}")))
            }
            None => Ok(()),
        }
    }

    fn emit(&self, event: &RunEvent) {
        self.options.observer.emit(event);
    }

    fn warn(&mut self, warning: String) {
        if self.warned.insert(warning.clone()) {
            tracing::warn!(task_id = %self.options.task_id, "{}", redact(&warning));
            self.emit(&RunEvent::Warning(warning));
        }
    }
}

/// What we wrote ourselves cannot be read: a bug, told like any other failure.
fn unreadable(error: &louver::json::JsonError) -> ExecutionError {
    ExecutionError::new(Category::Api, format!("a message cannot be written: {error}"))
}
