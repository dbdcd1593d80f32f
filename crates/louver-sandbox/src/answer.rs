//! One answer of the scripted model, before a wire format dresses it.

use serde_json::{Value, json};

use crate::counter::Counter;
use crate::prompt::{DeclaredTool, Prompt};
use crate::scenario::{Call, Tool, Tools, Turn, fit};

/// Tools that end a task: a call to one of them is never made up.
const ENDING_TOOLS: [&str; 2] = ["task_complete", "task_blocked"];

/// How a request for a summary starts.
const SUMMARY_REQUEST: &str = "Summarize the following conversation history";

/// How much of what was said is repeated.
const MAX_ECHO_CHARS: usize = 2_000;

/// How many names a made-up summary mentions.
const MAX_SUMMARY_NAMES: usize = 12;

/// A tool call in an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnsweredCall {
    pub(crate) name: String,
    pub(crate) arguments: Value,
    /// Whether the arguments go out as text that is no JSON.
    pub(crate) is_malformed: bool,
    /// Characters of the arguments that go out, where the answer ends within them.
    pub(crate) kept_chars: Option<usize>,
}

impl AnsweredCall {
    /// The arguments as the model's text.
    pub(crate) fn arguments_text(&self) -> String {
        let whole = match &self.arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let whole = if self.is_malformed { format!("{}\"broken", whole.trim_end_matches('}')) } else { whole };
        match self.kept_chars {
            Some(kept) => whole.chars().take(kept).collect(),
            None => whole,
        }
    }

    /// The arguments where the wire format wants an object.
    pub(crate) fn arguments_object(&self) -> Value {
        match &self.arguments {
            Value::Object(_) if !self.is_malformed && !self.is_cut() => self.arguments.clone(),
            _ => json!({}),
        }
    }

    /// Whether the answer ends within the arguments.
    pub(crate) fn is_cut(&self) -> bool {
        self.kept_chars.is_some()
    }

    /// The call as far as it can be written with so many tokens; nothing if not even its name can.
    fn cut(mut self, tokens: u64, counter: &Counter) -> Option<Self> {
        let written = self.name.clone() + &self.arguments_text();
        let kept = fitting_chars(&written, tokens, counter);
        self.kept_chars = Some(kept.checked_sub(self.name.chars().count())?);
        Some(self)
    }

    fn tokens(&self, counter: &Counter) -> u64 {
        counter.text(&(self.name.clone() + &self.arguments_text()))
    }
}

/// What the model answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) thinking: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<AnsweredCall>,
    /// Whether it ends where it may not be longer, and not where the model meant to.
    pub(crate) is_cut: bool,
}

impl Answer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A scripted turn, with its calls bent to the tools of the request.
    pub(crate) fn of_turn(turn: &Turn, tools: &[DeclaredTool], policy: Tools) -> Self {
        let mut answer =
            Self { thinking: filled(turn.thinking.as_ref()), text: filled(turn.text.as_ref()), ..Self::default() };
        for (index, call) in turn.calls.iter().enumerate() {
            match resolve(call, index, tools, policy) {
                Some(call) => answer.calls.push(call),
                None => answer.say(told(call)),
            }
        }
        if answer.text.is_none() && answer.calls.is_empty() {
            answer.text = Some("Done.".to_owned());
        }
        answer
    }

    /// The same answer, with the arguments of its calls broken.
    pub(crate) fn with_malformed_arguments(mut self) -> Self {
        self.calls.iter_mut().for_each(|call| call.is_malformed = true);
        self
    }

    /// As much of the answer as so many tokens are enough for: first what is thought, then what is said, then the calls.
    pub(crate) fn cut(self, max_tokens: u64, counter: &Counter) -> Self {
        if self.thinking_tokens(counter) + self.visible_tokens(counter) <= max_tokens {
            return self;
        }
        let mut left = Left { tokens: max_tokens, is_cut: false, counter };
        Self {
            thinking: self.thinking.and_then(|thought| left.text(&thought)),
            text: self.text.and_then(|text| left.text(&text)),
            calls: self.calls.into_iter().filter_map(|call| left.call(call)).collect(),
            is_cut: true,
        }
    }

    fn say(&mut self, text: &str) {
        let said = self.text.get_or_insert_default();
        if !said.is_empty() {
            said.push('\n');
        }
        said.push_str(text);
    }

    /// Tokens of what is said and called.
    pub(crate) fn visible_tokens(&self, counter: &Counter) -> u64 {
        let calls: u64 = self.calls.iter().map(|call| call.tokens(counter)).sum();
        self.text.as_deref().map_or(0, |text| counter.text(text)) + calls
    }

    /// Tokens of what is thought.
    pub(crate) fn thinking_tokens(&self, counter: &Counter) -> u64 {
        self.thinking.as_deref().map_or(0, |thinking| counter.text(thinking))
    }
}

/// A text that says something: a blank block would be refused when it comes back.
fn filled(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).cloned()
}

/// What an answer may still say.
struct Left<'c> {
    tokens: u64,
    /// Whether something did not fit: nothing comes behind that.
    is_cut: bool,
    counter: &'c Counter,
}

impl Left<'_> {
    fn text(&mut self, whole: &str) -> Option<String> {
        if self.is_cut {
            return None;
        }
        let kept: String = whole.chars().take(fitting_chars(whole, self.tokens, self.counter)).collect();
        self.is_cut = kept.len() < whole.len();
        self.tokens = self.tokens.saturating_sub(self.counter.text(&kept));
        filled(Some(&kept))
    }

    fn call(&mut self, call: AnsweredCall) -> Option<AnsweredCall> {
        let tokens = call.tokens(self.counter);
        match self.is_cut {
            true => None,
            false if tokens > self.tokens => {
                self.is_cut = true;
                call.cut(self.tokens, self.counter)
            }
            false => {
                self.tokens -= tokens;
                Some(call)
            }
        }
    }
}

/// How many characters of a text so many tokens are enough for.
fn fitting_chars(text: &str, max_tokens: u64, counter: &Counter) -> usize {
    let ends: Vec<usize> = text.char_indices().map(|(start, _)| start).skip(1).chain([text.len()]).collect();
    ends.partition_point(|end| counter.text(&text[..*end]) <= max_tokens)
}

/// Repeats what the user said last, up to a point.
pub(crate) fn echo(prompt: &Prompt) -> Answer {
    if prompt.last_said.trim().is_empty() {
        return Answer::text("I have nothing to repeat.");
    }
    let said: String = prompt.last_said.chars().take(MAX_ECHO_CHARS).collect();
    Answer::text(format!("You said: {said}"))
}

/// Whether a request asks for a summary of the conversation.
pub(crate) fn asks_for_summary(prompt: &Prompt) -> bool {
    prompt.last_said.trim_start().starts_with(SUMMARY_REQUEST)
}

/// A plausible summary: how much was said, and the names that came up.
pub(crate) fn summary(prompt: &Prompt) -> Answer {
    let mut names: Vec<&str> = Vec::new();
    for word in prompt.last_said.split(|c: char| c.is_whitespace() || "\"'`(),:;{}[]<>\\".contains(c)) {
        if is_name(word) && !names.contains(&word) && names.len() < MAX_SUMMARY_NAMES {
            names.push(word);
        }
    }
    let mentioned = if names.is_empty() { "none by name".to_owned() } else { names.join(", ") };
    Answer::text(format!(
        "The assistant worked through the user's task step by step and the steps so far succeeded. \
         Files and names that came up: {mentioned}. Nothing is left open from this part; the work goes on with the next step."
    ))
}

/// Whether a word looks like a path or an identifier: something within it joins its parts.
fn is_name(word: &str) -> bool {
    (4..80).contains(&word.len()) && word.is_ascii() && word[1..word.len() - 1].contains(['/', '.', '_'])
}

fn resolve(call: &Call, index: usize, tools: &[DeclaredTool], policy: Tools) -> Option<AnsweredCall> {
    if let (Tools::AsWritten, Tool::Name(name)) = (policy, &call.tool) {
        return Some(answered(name, call.arguments.clone()));
    }
    let tool = match &call.tool {
        Tool::Name(name) => match tools.iter().find(|tool| tool.name == *name) {
            None if !ENDING_TOOLS.contains(&name.as_str()) => nth(tools, index),
            found => found,
        },
        Tool::Nth(n) => nth(tools, *n),
    }?;
    Some(answered(&tool.name, fit(&call.arguments, &tool.schema)))
}

fn answered(name: &str, arguments: Value) -> AnsweredCall {
    AnsweredCall { name: name.to_owned(), arguments, is_malformed: false, kept_chars: None }
}

fn nth(tools: &[DeclaredTool], n: usize) -> Option<&DeclaredTool> {
    let working: Vec<&DeclaredTool> = tools.iter().filter(|tool| !ENDING_TOOLS.contains(&tool.name.as_str())).collect();
    working.get(n.checked_rem(working.len())?).copied()
}

/// What a call says where it cannot be made.
fn told(call: &Call) -> &str {
    call.arguments["summary"].as_str().unwrap_or("I would go on here, but there is no tool for it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> DeclaredTool {
        DeclaredTool { name: name.to_owned(), schema: json!({}) }
    }

    #[test]
    fn a_call_to_an_undeclared_tool_goes_to_a_declared_one() {
        let turn = Turn::calls([Call::new("read_file", json!({}))]);
        let answer = Answer::of_turn(&turn, &[tool("task_complete"), tool("cat")], Tools::Declared);
        assert_eq!(answer.calls[0].name, "cat");
    }

    #[test]
    fn an_ending_that_is_not_declared_is_said_instead() {
        let turn = Turn::calls([Call::new("task_complete", json!({"summary": "All done."}))]);
        let answer = Answer::of_turn(&turn, &[tool("cat")], Tools::Declared);
        assert_eq!(answer, Answer::text("All done."));
    }

    #[test]
    fn malformed_arguments_are_no_json() {
        let call = AnsweredCall { is_malformed: true, ..answered("a", json!({"x": 1})) };
        assert!(serde_json::from_str::<Value>(&call.arguments_text()).is_err());
    }

    #[test]
    fn an_answer_costs_what_it_may_or_less_and_is_the_beginning_of_the_whole() {
        let counter = Counter::chars4();
        let calls = vec![answered("read", json!({"path": "a.txt"})), answered("list", json!({"path": "."}))];
        let whole = Answer {
            thinking: Some("Where is it?".to_owned()),
            text: Some("I look äöü.".to_owned()),
            calls,
            is_cut: false,
        };
        let all = whole.visible_tokens(&counter) + whole.thinking_tokens(&counter);
        assert_eq!(whole.clone().cut(all, &counter), whole);
        let written = |answer: &Answer| {
            let calls: String = answer.calls.iter().map(|call| call.name.clone() + &call.arguments_text()).collect();
            answer.thinking.clone().unwrap_or_default() + answer.text.as_deref().unwrap_or_default() + &calls
        };
        let mut lengths = Vec::new();
        for most in 0..all {
            let cut = whole.clone().cut(most, &counter);
            assert!(
                cut.is_cut && cut.visible_tokens(&counter) + cut.thinking_tokens(&counter) <= most,
                "{most}: {cut:?}"
            );
            assert!(written(&whole).starts_with(&written(&cut)), "{most}: {cut:?}");
            lengths.push(written(&cut).len());
        }
        assert!(lengths.is_sorted() && lengths[0] == 0 && lengths[all as usize - 1] > written(&whole).len() - 8);
    }
}
