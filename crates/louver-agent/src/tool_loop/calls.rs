//! Running the calls of one answer.

use super::{ToolLoop, unreadable};
use crate::provider::{ToolCall, calls_of};
use crate::tools::{Signal, ToolOutput, ToolSet};
use crate::totals::add_new;
use crate::{ExecutionError, Interrupted, RunEvent, Stop, tool_results};
use futures_util::StreamExt;
use louver::display::truncate;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Characters of malformed arguments that the model is shown.
const SHOWN_CHARS: usize = 500;

/// What the model is told of a call that came to nothing because the run was stopped.
const CANCELLED: &str = "the run was cancelled before this finished";

impl ToolLoop<'_> {
    /// Runs what is not answered yet, several at once, and appends the answer and all results together, in the order of
    /// the calls.
    pub(super) async fn run_calls(&mut self, calls: &[ToolCall]) -> Result<Option<Stop>, ExecutionError> {
        let is_answered =
            |index: usize| self.conversation.open_turn().is_some_and(|open| open.outputs.contains_key(&index));
        let outstanding: Vec<(usize, ToolCall)> =
            calls.iter().cloned().enumerate().filter(|(index, _)| !is_answered(*index)).collect();
        let (limit, cancel) = (self.options.tool_time_limit, &self.options.cancel);
        let (tools, observer) = (&self.tools, &self.options.observer);
        let running = outstanding.into_iter().map(|(index, call)| async move {
            let started = Instant::now();
            let arguments = call.arguments.as_ref().map_or_else(Clone::clone, ToString::to_string);
            observer.emit(&RunEvent::ToolStarted { name: call.name.clone(), arguments });
            let output = run_one(tools, &call, limit, cancel).await;
            (index, call.name, output, started.elapsed())
        });
        let mut finished = futures_util::stream::iter(running).buffer_unordered(self.options.max_parallel_calls.max(1));
        while let Some((index, name, output, duration)) = finished.next().await {
            // A program that fails says how at the end of what it printed.
            let error = output.is_error.then(|| output.text.lines().last().unwrap_or_default().to_owned());
            self.options.observer.emit(&RunEvent::ToolFinished { name, error, duration });
            self.conversation.record_result(index, output);
        }
        drop(finished);
        self.end_turn(calls)
    }

    /// Answers the last call of a reply that was as long as it may be, unless its arguments are there for sure: where they
    /// are not whole, nobody knows what was meant.
    pub(super) fn answer_cut_call(&mut self, calls: &[ToolCall]) {
        let Some((call, before)) = calls.split_last() else { return };
        let is_whole = call.arguments.as_ref().is_ok_and(|value| value.as_object().is_some_and(|all| !all.is_empty()));
        if !is_whole {
            let (name, cut) = (&call.name, "the reply was full before the arguments were whole");
            self.warn(format!("{name} was not run: {cut} (execution.max_tokens bounds a reply)"));
            let advice = "call it again with less at once";
            self.conversation
                .record_result(before.len(), ToolOutput::error(format!("{name} was not run: {cut}; {advice}")));
        }
    }

    /// Answers the calls of a turn that a kill cut short.
    pub(super) async fn finish_interrupted_turn(&mut self) -> Result<Option<Stop>, ExecutionError> {
        let calls = self.conversation.open_turn().map(|open| calls_of(&open.answer)).unwrap_or_default();
        if self.options.interrupted == Interrupted::Report {
            for index in 0..calls.len() {
                if self.conversation.open_turn().is_some_and(|open| !open.outputs.contains_key(&index)) {
                    self.conversation.record_result(index, interrupted());
                }
            }
        }
        self.run_calls(&calls).await
    }

    fn end_turn(&mut self, calls: &[ToolCall]) -> Result<Option<Stop>, ExecutionError> {
        let outputs = self.conversation.open_turn().map(|open| open.outputs.clone()).unwrap_or_default();
        let answered: Vec<(&ToolCall, &ToolOutput)> = calls.iter().zip(outputs.values()).collect();
        let results = tool_results::messages(self.provider.format(), &answered).map_err(|error| unreadable(&error))?;
        self.conversation.end_turn(results);
        self.check_file()?;
        self.result.tool_calls += calls.len();
        for output in outputs.values() {
            add_new(&mut self.result.files_changed, &output.files_changed);
        }
        let signal = outputs.into_values().find_map(|output| output.signal);
        let stop = match &signal {
            Some(Signal::Complete(summary)) => {
                self.result.output.clone_from(summary);
                Some(Stop::Completed)
            }
            Some(Signal::Blocked(_)) => Some(Stop::Blocked),
            None if self.options.cancel.is_cancelled() => Some(Stop::Cancelled),
            None => None,
        };
        self.result.completion = signal;
        Ok(stop)
    }
}

/// Runs one call within its time. Whatever goes wrong becomes an output that the model can act on.
async fn run_one(tools: &Arc<ToolSet>, call: &ToolCall, limit: Duration, cancel: &CancellationToken) -> ToolOutput {
    let arguments = match &call.arguments {
        Ok(arguments) => arguments.clone(),
        Err(text) => return malformed(&call.name, text),
    };
    match cancel.run_until_cancelled(tools.refusal(&call.name, &arguments)).await {
        None => return ToolOutput::error(CANCELLED),
        Some(Some(refused)) => return refused,
        Some(None) => {}
    }
    let (tools, name) = (Arc::clone(tools), call.name.clone());
    // A task of its own, so that a tool that panics or never yields takes nothing else with it.
    let task = AbortOnDropHandle::new(tokio::spawn(async move { tools.call(&name, arguments).await }));
    match cancel.run_until_cancelled(tokio::time::timeout(limit, task)).await {
        None => ToolOutput::error(CANCELLED),
        Some(Ok(Ok(output))) => output,
        Some(Ok(Err(error))) => ToolOutput::error(format!("the tool `{}` broke: {error}", call.name)),
        Some(Err(_)) => ToolOutput::error(format!(
            "the tool `{}` did not finish within {} ms and was stopped; try something smaller",
            call.name,
            limit.as_millis()
        )),
    }
}

fn malformed(name: &str, text: &str) -> ToolOutput {
    let shown = truncate(text, SHOWN_CHARS);
    ToolOutput::error(format!(
        "the arguments for `{name}` are not valid JSON; call it again with a JSON object. They were: {shown}"
    ))
}

fn interrupted() -> ToolOutput {
    ToolOutput::error(
        "the program was stopped before the result of this call was known; it may or may not have taken effect, so check \
         before you try again",
    )
}
