//! One recorded conversation, whatever file it came from.

use louver::tokens::{Counter, Millitokens};
use louver::wire::{Body, Format, Message, Role, Thinking};
use std::sync::Arc;

/// A recorded conversation: its messages in order, and what every request of it carried besides.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The file it came from, with a number where one file holds several.
    pub file: String,
    /// The wire format of its messages.
    pub format: Format,
    /// The model that answered, if the record says.
    pub model: Option<String>,
    /// The texts of the system prompt that stands outside the history.
    pub system: Vec<String>,
    /// The tool definitions as compact JSON.
    pub tools_json: Option<String>,
    /// The request's thinking setting.
    pub thinking: Thinking,
    /// The messages in order.
    pub messages: Vec<Arc<Message>>,
    /// When each message was recorded, in milliseconds since 1970, where the record says.
    pub times: Vec<Option<i64>>,
}

/// One request of a recorded conversation and its recorded answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many messages stood before it.
    pub at: usize,
    /// Where the answer ends: the answer is `at..answer_end`.
    pub answer_end: usize,
}

impl Conversation {
    /// A conversation of messages alone.
    pub fn new(file: &str, format: Format, messages: Vec<Arc<Message>>) -> Self {
        Self {
            file: file.to_owned(),
            format,
            model: None,
            system: Vec::new(),
            tools_json: None,
            thinking: Thinking::Unset,
            times: vec![None; messages.len()],
            messages,
        }
    }

    /// The conversation that a request body, a wrapper or a bare list holds.
    pub fn of_body(file: &str, body: &Body) -> Self {
        Self {
            model: body.model().map(ToOwned::to_owned),
            system: body.system_texts().into_iter().map(std::borrow::Cow::into_owned).collect(),
            tools_json: body.tools_json().map(std::borrow::Cow::into_owned),
            thinking: body.thinking(),
            ..Self::new(file, body.format(), body.messages().to_vec())
        }
    }

    /// The requests: one stands before each run of the model's messages that something stands before.
    pub fn turns(&self) -> Vec<Turn> {
        let is_model = |index: usize| self.messages.get(index).is_some_and(|message| message.shape().is_from_model());
        let starts = (1..self.messages.len()).filter(|index| is_model(*index) && !is_model(index - 1));
        let end = |at: usize| (at..self.messages.len()).find(|index| !is_model(*index)).unwrap_or(self.messages.len());
        starts.map(|at| Turn { at, answer_end: end(at) }).collect()
    }

    /// What system and tools cost in every request; `stand_in` where the record has neither.
    pub fn overhead(&self, counter: &dyn Counter, stand_in: Option<u64>) -> Millitokens {
        if self.system.is_empty() && self.tools_json.is_none() && self.leading_system() == 0 {
            return Millitokens::from_tokens(stand_in.unwrap_or(0));
        }
        let system: Millitokens = self.system.iter().map(|text| counter.text(text)).sum();
        system + self.tools_json.as_deref().map_or(Millitokens::ZERO, |json| counter.text(json))
    }

    /// How many system messages open the history: they are the system prompt of formats that keep it there.
    pub fn leading_system(&self) -> usize {
        let is_system = |message: &&Arc<Message>| matches!(message.shape().role, Role::System | Role::Developer);
        self.messages.iter().take_while(is_system).count()
    }

    /// When each request was made: the newest record before its answer, or the answer's own. Empty where the
    /// conversation carries no time at all.
    pub fn request_times(&self) -> Vec<i64> {
        let Some(mut latest) = self.times.iter().find_map(|time| *time) else {
            return Vec::new();
        };
        let mut read = 0;
        let times = self.turns().into_iter().map(|turn| {
            let seen = self.times[read..turn.at].iter().flatten().copied().max();
            read = turn.at;
            latest = latest.max(seen.unwrap_or(latest));
            latest
        });
        times.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(roles: &str) -> Conversation {
        let role = |letter| match letter {
            's' => "system",
            'u' => "user",
            'a' => "assistant",
            _ => "tool",
        };
        let raw = |letter| format!(r#"{{"role":"{}","content":"x"}}"#, role(letter));
        let messages = roles.chars().map(|letter| Message::parse(Format::OpenAiChat, &raw(letter)).unwrap());
        Conversation::new("test", Format::OpenAiChat, messages.map(Arc::new).collect())
    }

    #[test]
    fn a_request_stands_before_each_run_of_answers() {
        let turns = chat("suaatau").turns();
        assert_eq!(turns, [Turn { at: 2, answer_end: 4 }, Turn { at: 5, answer_end: 6 }]);
        assert_eq!(chat("aua").turns(), [Turn { at: 2, answer_end: 3 }]);
        assert!(chat("u").turns().is_empty());
    }

    #[test]
    fn the_time_of_a_request_is_the_newest_record_before_its_answer() {
        let mut conversation = chat("uataua");
        assert!(conversation.request_times().is_empty());
        conversation.times = vec![None, Some(5), Some(9), Some(11), Some(30), Some(40)];
        assert_eq!(conversation.request_times(), [5, 9, 30]);
    }
}
