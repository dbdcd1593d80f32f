use serde::{Deserialize, Serialize};
use serde_json::json;

use super::builtin::BIG_FILE;
use super::{Call, Turn};

/// A generated task: so many tool calls over the tools that the client declares, then the end.
///
/// ```
/// use louver_sandbox::{Scenario, Task};
///
/// let scenario = Scenario::task(&Task { calls: 10, parallel_every: 3, ..Task::default() });
/// let calls: usize = scenario.turns().iter().map(|turn| turn.calls.len()).sum();
/// assert_eq!(calls, 10 + 1, "ten, and the one that ends the task");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Task {
    /// Tool calls in all, without the one that ends the task.
    pub calls: usize,
    /// Every n-th turn calls several tools at once; 0 for never.
    pub parallel_every: usize,
    /// How many tools such a turn calls.
    pub parallel_calls: usize,
    /// Every n-th call reads the biggest of the [demo files](crate::demo_files) instead; 0 for never.
    pub big_every: usize,
    /// Whether every turn starts with thinking.
    pub thinking: bool,
    /// Names of the tools to call in turn; empty for whatever the client declares.
    pub tools: Vec<String>,
    /// Whether the task ends with a `task_complete` call, or with text only.
    pub ends_with_call: bool,
}

impl Default for Task {
    fn default() -> Self {
        Self {
            calls: 20,
            parallel_every: 4,
            parallel_calls: 3,
            big_every: 0,
            thinking: false,
            tools: Vec::new(),
            ends_with_call: true,
        }
    }
}

impl Task {
    pub(super) fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        let mut made = 0;
        while made < self.calls {
            let wanted = self.calls_of_turn(turns.len() + 1).min(self.calls - made);
            let calls = (made..made + wanted).map(|number| self.call(number));
            let turn = Turn::calls(calls).saying(format!("Step {}.", turns.len() + 1));
            turns.push(self.with_thinking(turn, made));
            made += wanted;
        }
        turns.push(self.with_thinking(self.ending(), made));
        turns
    }

    fn calls_of_turn(&self, turn_number: usize) -> usize {
        let is_parallel = self.parallel_every > 0 && turn_number.is_multiple_of(self.parallel_every);
        if is_parallel { self.parallel_calls.max(1) } else { 1 }
    }

    fn call(&self, number: usize) -> Call {
        if self.big_every > 0 && (number + 1).is_multiple_of(self.big_every) {
            return Call::new("read_file", json!({"path": BIG_FILE}));
        }
        if self.tools.is_empty() {
            return Call::nth(number);
        }
        Call::new(&self.tools[number % self.tools.len()], json!({}))
    }

    fn with_thinking(&self, turn: Turn, made: usize) -> Turn {
        if !self.thinking {
            return turn;
        }
        turn.thinking(format!("{made} of {} calls are done; the next step follows from the plan.", self.calls))
    }

    fn ending(&self) -> Turn {
        let summary = format!("All {} steps are done.", self.calls);
        if self.ends_with_call {
            Turn::calls([Call::new("task_complete", json!({"summary": summary}))])
        } else {
            Turn::text(summary)
        }
    }
}
