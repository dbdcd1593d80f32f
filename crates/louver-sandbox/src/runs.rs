//! Where each run stands in its script.

use std::collections::HashMap;

use crate::answer::{self, Answer};
use crate::prompt::Prompt;
use crate::scenario::{Fault, Scenario, Tools, Turn};

/// The model's answer to one request, and what goes wrong with it.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) answer: Answer,
    pub(crate) fault: Option<Fault>,
}

/// How a request says which run it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RunKey {
    /// By name, in a header.
    Named(String),
    /// By a hash of API key, model and format.
    Implied(String),
}

/// A place in a list of turns.
#[derive(Debug, Default, Clone, Copy)]
struct Place {
    turn: usize,
    fault: usize,
}

impl Place {
    /// The turn at this place and its next fault; without faults left, the place moves on.
    fn step<'a>(&mut self, turns: &'a [Turn]) -> Option<(&'a Turn, Option<Fault>)> {
        let turn = turns.get(self.turn)?;
        let fault = turn.faults.get(self.fault).copied();
        if fault.is_some() {
            self.fault += 1;
        } else {
            *self = Self { turn: self.turn + 1, fault: 0 };
        }
        Some((turn, fault))
    }
}

#[derive(Debug, Default)]
struct Run {
    script: Place,
    summaries: Place,
    last_used: u64,
}

/// The runs in progress, the least recently used forgotten first.
pub(crate) struct Runs {
    runs: HashMap<RunKey, Run>,
    capacity: usize,
    uses: u64,
}

impl Runs {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { runs: HashMap::new(), capacity: capacity.max(1), uses: 0 }
    }

    /// The next step of the run that a request belongs to.
    pub(crate) fn step(&mut self, key: RunKey, scenario: &Scenario, prompt: &Prompt) -> Step {
        let is_implied = matches!(key, RunKey::Implied(_));
        let run = self.run(key);
        if answer::asks_for_summary(prompt) {
            return run.summary(scenario, prompt);
        }
        if is_implied && prompt.is_fresh && run.script.turn > 0 {
            run.script = Place::default();
        }
        run.next(scenario, prompt)
    }

    fn run(&mut self, key: RunKey) -> &mut Run {
        self.uses += 1;
        if !self.runs.contains_key(&key) && self.runs.len() >= self.capacity {
            let oldest = self.runs.iter().min_by_key(|(_, run)| run.last_used).map(|(key, _)| key.clone());
            oldest.map(|key| self.runs.remove(&key));
        }
        let run = self.runs.entry(key).or_default();
        run.last_used = self.uses;
        run
    }
}

impl Run {
    fn summary(&mut self, scenario: &Scenario, prompt: &Prompt) -> Step {
        match self.summaries.step(scenario.summaries()) {
            Some((turn, fault)) => Step { answer: Answer::of_turn(turn, &[], Tools::Declared), fault },
            None => Step { answer: answer::summary(prompt), fault: None },
        }
    }

    fn next(&mut self, scenario: &Scenario, prompt: &Prompt) -> Step {
        let turns = scenario.turns();
        if self.script.turn >= turns.len() && !turns.is_empty() {
            if prompt.ends_with_results {
                return Step { answer: Answer::text("The task is complete."), fault: None };
            }
            self.script = Place::default();
        }
        let needs_tools = turns.get(self.script.turn).is_some_and(|turn| !turn.calls.is_empty());
        let is_aside = needs_tools && prompt.tools.is_empty() && scenario.tool_policy() == Tools::Declared;
        if is_aside || turns.is_empty() {
            return Step { answer: answer::echo(prompt), fault: None };
        }
        match self.script.step(turns) {
            Some((turn, fault)) => Step { answer: Answer::of_turn(turn, &prompt.tools, scenario.tool_policy()), fault },
            None => Step { answer: answer::echo(prompt), fault: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prompt::{Caching, DeclaredTool};
    use crate::scenario::{Call, Task};

    fn prompt() -> Prompt {
        Prompt {
            messages: 3,
            blocks: Vec::new(),
            caching: Caching::Marked,
            tools: vec![DeclaredTool { name: "read".into(), schema: json!({}) }],
            last_said: "go".into(),
            ends_with_results: false,
            is_fresh: false,
        }
    }

    fn key(name: &str) -> RunKey {
        RunKey::Implied(name.to_owned())
    }

    #[test]
    fn a_fault_takes_one_request_and_the_turn_comes_with_the_next() {
        let scenario = Scenario::new("x").turn(Turn::text("a").after(Fault::ServerError)).turn(Turn::text("b"));
        let mut runs = Runs::new(4);
        let steps: Vec<(Option<String>, Option<Fault>)> = (0..3)
            .map(|_| runs.step(key("k"), &scenario, &prompt()))
            .map(|step| (step.answer.text, step.fault))
            .collect();
        let expected =
            [(Some("a".into()), Some(Fault::ServerError)), (Some("a".into()), None), (Some("b".into()), None)];
        assert_eq!(steps, expected);
    }

    #[test]
    fn runs_do_not_share_their_place() {
        let scenario = Scenario::new("x").turn(Turn::text("a")).turn(Turn::text("b"));
        let mut runs = Runs::new(4);
        runs.step(key("one"), &scenario, &prompt());
        assert_eq!(runs.step(key("two"), &scenario, &prompt()).answer, Answer::text("a"));
        assert_eq!(runs.step(key("one"), &scenario, &prompt()).answer, Answer::text("b"));
    }

    #[test]
    fn a_finished_run_answers_late_results_and_then_starts_over() {
        let scenario = Scenario::new("x").turn(Turn::calls([Call::new("read", json!({}))]));
        let mut runs = Runs::new(4);
        runs.step(key("k"), &scenario, &prompt());
        let late = Prompt { ends_with_results: true, ..prompt() };
        assert_eq!(runs.step(key("k"), &scenario, &late).answer, Answer::text("The task is complete."));
        assert_eq!(runs.step(key("k"), &scenario, &prompt()).answer.calls.len(), 1);
    }

    #[test]
    fn a_summary_request_does_not_move_the_script() {
        let scenario = Scenario::task(&Task::default()).summary(Turn::text("short"));
        let mut runs = Runs::new(4);
        let asking = Prompt { last_said: "Summarize the following conversation history: src/a.rs".into(), ..prompt() };
        assert_eq!(runs.step(key("k"), &scenario, &asking).answer, Answer::text("short"));
        let made_up = runs.step(key("k"), &scenario, &asking).answer.text.unwrap();
        assert!(made_up.contains("src/a.rs"), "{made_up}");
        assert_eq!(runs.step(key("k"), &scenario, &prompt()).answer.text.as_deref(), Some("Step 1."));
    }

    #[test]
    fn the_least_recently_used_run_is_forgotten_first() {
        let scenario = Scenario::new("x").turn(Turn::text("a")).turn(Turn::text("b"));
        let mut runs = Runs::new(2);
        for name in ["one", "two", "one", "three"] {
            runs.step(key(name), &scenario, &prompt());
        }
        assert_eq!(runs.runs.len(), 2);
        assert!(!runs.runs.contains_key(&key("two")));
    }
}
