//! What a model would have had to look for.

use crate::contender::Contender;
use crate::conversation::Conversation;
use crate::error::ReplayError;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::retention::{Reference, Retrieved, query};
use crate::run::Run;
use louver::search::Sight;

/// A request that lacks something its recorded answer refers to.
#[derive(Clone, Debug)]
pub struct Search {
    /// Whether each message that was recorded so far is left out of the request.
    pub left_out: Vec<bool>,
    /// What the last three messages of the request say.
    pub query: String,
    /// The names that stand in the request.
    pub sight: Sight,
    /// What the recorded answer says: nobody knows it when the request is made, so nothing finds more.
    pub answer: String,
    /// What the request does not mention.
    pub unmentioned: Vec<Reference>,
    /// What it has not got the line of.
    pub without_line: Vec<Reference>,
}

/// The searches that one policy makes necessary in one conversation.
#[derive(Debug)]
pub struct Searches<'a> {
    prepared: Prepared<'a>,
    /// One for each request that lacks something.
    pub all: Vec<Search>,
}

impl<'a> Searches<'a> {
    /// Replays a conversation and notes what is missing.
    ///
    /// ```
    /// use louver::wire::Body;
    /// use louver_replay::{Conversation, Options, Searches};
    ///
    /// let body = Body::parse(r#"{"model": "gpt-5.5", "messages": [
    ///     {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "The port is port_8089. A long story of ports: one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty."},
    ///     {"role": "user", "content": "Thanks"}, {"role": "assistant", "content": "Welcome."},
    ///     {"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "It is port_8089."}]}"#, None)?;
    /// let conversation = Conversation::of_body("example.json", &body);
    /// let mut options = Options::of_policies(&["newest"])?;
    /// (options.context_window, options.max_output) = (Some(40), Some(1));
    /// let searches = Searches::of(&conversation, &options.contenders[0], &options)?;
    /// let [search] = &searches.all[..] else { panic!("one answer names what was left out") };
    /// assert!(search.left_out[1] && search.query.ends_with("Which port?\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Options that nothing can be replayed with.
    pub fn of(conversation: &'a Conversation, contender: &Contender, options: &Options) -> Result<Self, ReplayError> {
        let mut prepared = Prepared::new(conversation, options)?;
        let mut run = Run::new(&prepared, contender)?;
        let mut all = Vec::new();
        while let Some((number, turn)) = run.look(&mut prepared) {
            let (mut unmentioned, mut without_line) = (Vec::new(), Vec::new());
            for reference in &prepared.references[number] {
                let outcome = run.see(reference);
                unmentioned.extend((!outcome.is_mentioned).then_some(*reference));
                without_line.extend((!outcome.has_line).then_some(*reference));
            }
            if without_line.is_empty() {
                continue;
            }
            let answer = &conversation.messages[turn.at..turn.answer_end];
            all.push(Search {
                left_out: (0..turn.at).map(|message| run.watch.is_left_out(message)).collect(),
                query: run.query(),
                sight: run.sight().clone(),
                answer: query(answer.iter().map(|message| &**message)),
                unmentioned,
                without_line,
            });
        }
        Ok(Self { prepared, all })
    }

    /// The identifiers and lines of a text, by the numbers that the references have.
    pub fn read(&mut self, text: &str) -> Retrieved {
        let (identifiers, lines) = self.prepared.contents.numbering.all_of(text);
        Retrieved { identifiers, lines }
    }
}
