//! One recorded conversation, whatever file it came from.

use crate::billed::Billed;
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
    /// What the provider billed, by where the answers start, where the record says.
    pub billed: Vec<Billed>,
    /// The window that the client worked with, if the record says.
    pub context_window: Option<u64>,
    /// How it belongs to its session.
    pub strand: Strand,
    /// The session's own name, if it has one: a session can be several conversations.
    pub session: Option<String>,
    /// The folder that was worked in, if the record says.
    pub project: Option<String>,
    /// How many requests at the start are another conversation's, and counted there: the stem of a branch, or of a
    /// session that was resumed in another file.
    pub counted_elsewhere: usize,
}

/// How a conversation belongs to its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strand {
    /// The history that the session ended with, or one that a compaction replaced.
    #[default]
    Main,
    /// A history that was rewound.
    Branch,
    /// A sub-agent's own history.
    SubAgent,
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
            billed: Vec::new(),
            context_window: None,
            strand: Strand::Main,
            session: None,
            project: None,
            counted_elsewhere: 0,
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

    /// The requests: one stands before each run of the model's messages that something stands before, and before each
    /// answer within a run that was billed by itself.
    pub fn turns(&self) -> Vec<Turn> {
        let is_model = |index: usize| self.messages.get(index).is_some_and(|message| message.shape().is_from_model());
        let is_billed = |index: usize| self.billed.binary_search_by_key(&index, |one| one.at).is_ok();
        let is_start = |index: usize| is_model(index) && (!is_model(index - 1) || is_billed(index));
        let starts: Vec<usize> = (1..self.messages.len()).filter(|index| is_start(*index)).collect();
        let run_end = |at: usize| (at..self.messages.len()).find(|index| !is_model(*index));
        let next = starts.iter().skip(1).map(Some).chain([None]);
        let turns = starts.iter().zip(next).map(|(at, next)| {
            let end = run_end(*at).unwrap_or(self.messages.len());
            Turn { at: *at, answer_end: next.map_or(end, |next| end.min(*next)) }
        });
        turns.collect()
    }

    /// Its first messages as a wrapper that every command reads: format, model, system, tools, messages.
    pub fn to_wrapper(&self, messages: usize) -> String {
        let string = louver::json::text::encode;
        let mut fields = vec![format!(r#""format":{}"#, string(self.format.name()))];
        fields.extend(self.model.as_deref().map(|model| format!(r#""model":{}"#, string(model))));
        if !self.system.is_empty() {
            fields.push(format!(r#""system":{}"#, string(&self.system.join("\n\n"))));
        }
        fields.extend(self.tools_json.as_deref().map(|tools| format!(r#""tools":{tools}"#)));
        let raw: Vec<&str> = self.messages.iter().take(messages).map(|message| message.raw()).collect();
        fields.push(format!(r#""messages":[{}]"#, raw.join(",")));
        format!("{{{}}}", fields.join(","))
    }

    /// The newest time of the record.
    pub fn last_time(&self) -> Option<i64> {
        self.times.iter().flatten().copied().max()
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
    fn an_answer_that_was_billed_by_itself_has_a_request_of_its_own() {
        let mut conversation = chat("uaaua");
        conversation.billed = [1, 2, 4].map(|at| Billed { at, ..Billed::default() }).to_vec();
        let turns = [(1, 2), (2, 3), (4, 5)].map(|(at, answer_end)| Turn { at, answer_end });
        assert_eq!(conversation.turns(), turns);
    }

    #[test]
    fn the_time_of_a_request_is_the_newest_record_before_its_answer() {
        let mut conversation = chat("uataua");
        assert!(conversation.request_times().is_empty());
        conversation.times = vec![None, Some(5), Some(9), Some(11), Some(30), Some(40)];
        assert_eq!(conversation.request_times(), [5, 9, 30]);
    }
}
