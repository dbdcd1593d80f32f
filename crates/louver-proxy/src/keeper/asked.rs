//! A request as the keeper reads it.

use crate::conversation::{Chain, link};
use crate::model_request::{ModelRequest, Purpose, Reader};
use crate::request_headers::RequestHeaders;
use louver::wire::{Body, Format, Message, PartKind, Role};
use louver_store::{ChainHash, ReaderId};
use std::sync::Arc;

/// Headers that name a session, the one that says most first.
const SESSIONS: [&str; 7] = [
    "x-louver-session",
    "x-claude-code-session-id",
    "thread-id",
    "session-id",
    "x-opencode-session",
    "x-session-affinity",
    "x-qwen-code-session-id",
];

/// Names one of several conversations of a session.
const AGENT: &str = "x-claude-code-agent-id";

/// What clients open their request for a summary with, where neither header nor field says so: Claude Code, Codex, Gemini
/// CLI, as their published programs have it.
const SUMMARY_OPENINGS: [&str; 6] = [
    "Your task is to create a detailed summary of the conversation so far",
    "Your task is to create a detailed summary of this conversation",
    "Your task is to create a detailed summary of the RECENT portion of the conversation",
    "You are performing a CONTEXT CHECKPOINT COMPACTION.",
    "First, reason in your scratchpad. Then, generate the <state_snapshot>.",
    "First, reason in your scratchpad. Then, generate the updated <state_snapshot>.",
];

/// A request with a history that can be cut.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) body: Body,
    pub(super) model: String,
    pub(super) upstream: String,
    pub(super) reader: ReaderId,
    pub(super) purpose: Purpose,
    /// What the client calls its session; a first guess, nothing more.
    pub(super) session: Option<String>,
    /// What its conversation may be found by: its session, then its first message.
    pub(super) names: Vec<String>,
    pub(super) history: Hashed,
}

/// Messages with what each is known by.
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) links: Vec<Option<ChainHash>>,
    pub(super) chain: Chain,
}

impl Asked {
    /// Reads a request, as far as it is not known from an earlier one; nothing where it has no history here that could be
    /// cut. `histories` gives those that are known by some names.
    pub(super) fn read(
        request: &ModelRequest,
        user: &ReaderId,
        histories: impl Fn(&[String]) -> Vec<Vec<Arc<Message>>>,
    ) -> Option<Self> {
        let text = request.text.as_ref()?;
        let reader = match &request.reader {
            Reader::Token(name) => ReaderId::from(&**name),
            Reader::LocalUser => user.clone(),
        };
        let scope = format!("{} {reader}", request.upstream);
        let session_name = |session: String| format!("{scope} session {session}");
        let first_name = |first: &Message| format!("{scope} first {}", blake3::hash(first.raw().as_bytes()).to_hex());
        let mut first = None;
        let mut known = |message: &Message| {
            let name = first.insert(first_name(message)).clone();
            let session = session(&request.headers, None).map(session_name);
            histories(&session.into_iter().chain([name]).collect::<Vec<_>>())
        };
        let body = Body::parse_known(text, request.format, &mut known).ok()?;
        let model = request.path_model.clone().or_else(|| body.model().map(str::to_owned))?;
        if body.is_server_side() || body.messages().is_empty() {
            return None;
        }
        let session = session(&request.headers, body.session());
        let first = first.or_else(|| body.messages().first().map(|message| first_name(message)));
        let names = session.clone().map(session_name).into_iter().chain(first).collect();
        let messages = body.messages().to_vec();
        let history = Hashed { messages, links: Vec::new(), chain: Chain::new(request.format) };
        let (upstream, purpose) = (request.upstream.as_str().to_owned(), purpose(request.purpose, &body));
        Some(Self { body, model, upstream, reader, purpose, session, names, history })
    }

    pub(super) fn format(&self) -> Format {
        self.body.format()
    }
}

impl Hashed {
    /// How many messages of the beginning are the same as those of a known history. Messages that are the same byte for
    /// byte become one; others are hashed.
    pub(super) fn meet(&mut self, known: Option<&Self>, format: Format) -> usize {
        let taken = known.map_or(0, |known| self.take_beginning(known));
        let (mut common, mut is_same) = (taken, true);
        for index in taken..self.messages.len() {
            let before = known.and_then(|known| Some((known.messages.get(index)?, known.links.get(index)?)));
            let new = match before {
                Some((message, known_link)) if is_equal(message, &self.messages[index]) => {
                    self.messages[index] = Arc::clone(message);
                    *known_link
                }
                _ => link(format, &self.messages[index]),
            };
            self.links.push(new);
            self.chain.push(new);
            is_same &= before.is_some_and(|(_, known_link)| *known_link == new);
            common += usize::from(is_same);
        }
        common
    }

    /// Takes over how a known history begins, as far as it is the same byte for byte; says how far.
    fn take_beginning(&mut self, known: &Self) -> usize {
        let pairs = self.messages.iter().zip(&known.messages);
        let same = pairs.take_while(|(new, old)| is_equal(new, old)).count();
        self.messages[..same].clone_from_slice(&known.messages[..same]);
        self.links = known.links[..same].to_vec();
        self.chain = known.chain.first(same);
        same
    }
}

fn is_equal(one: &Arc<Message>, other: &Arc<Message>) -> bool {
    Arc::ptr_eq(one, other) || one.raw() == other.raw()
}

/// What a client calls its session. What a body says can be JSON with a `session_id`.
fn session(headers: &RequestHeaders, of_body: Option<&str>) -> Option<String> {
    let inner = |id: &str| {
        let value = serde_json::from_str::<serde_json::Value>(id).ok()?;
        Some(value.get("session_id")?.as_str()?.to_owned())
    };
    let named = SESSIONS.iter().find_map(|name| headers.get(name)).map(str::to_owned);
    let session = named.or_else(|| of_body.map(|id| inner(id).unwrap_or_else(|| id.to_owned())))?;
    Some(headers.get(AGENT).map_or_else(|| session.clone(), |agent| format!("{session} {agent}")))
}

/// What a request is for, where only its body says it.
fn purpose(purpose: Purpose, body: &Body) -> Purpose {
    let last = body.messages().last().filter(|_| purpose == Purpose::Generate);
    let is_trigger = |message: &Message| {
        body.format() == Format::OpenAiResponses && message.raw().contains(r#""compaction_trigger""#)
    };
    let summarises = last.is_some_and(|message| is_trigger(message) || opens_a_summary(message));
    if summarises { Purpose::Summarise } else { purpose }
}

/// Whether a line of what the user says is how a client asks for a summary.
fn opens_a_summary(message: &Message) -> bool {
    let is_opening = |line: &str| SUMMARY_OPENINGS.iter().any(|opening| line.trim_start().starts_with(opening));
    let own = message.shape().parts.iter().filter(|part| part.kind == PartKind::Text && !part.nested);
    message.shape().role == Role::User && own.into_iter().any(|part| message.text_of(part).lines().any(is_opening))
}

#[cfg(test)]
mod tests {
    use super::{Body, Format, Purpose, SUMMARY_OPENINGS, purpose};
    use louver::json::text::encode;

    fn purpose_of(format: Format, last: &str) -> Purpose {
        let body = match format {
            Format::Anthropic | Format::OpenAiChat => format!(r#"{{"messages":[{last}]}}"#),
            Format::OpenAiResponses => format!(r#"{{"input":[{last}]}}"#),
            Format::Gemini => format!(r#"{{"contents":[{last}]}}"#),
        };
        purpose(Purpose::Generate, &Body::parse(&body, Some(format)).unwrap())
    }

    fn said(format: Format, role: &str, text: &str) -> String {
        let text = encode(text);
        match format {
            Format::Gemini => format!(r#"{{"role":"{role}","parts":[{{"text":{text}}}]}}"#),
            _ => format!(r#"{{"role":"{role}","content":{text}}}"#),
        }
    }

    #[test]
    fn a_request_for_a_summary_is_known_by_its_opening() {
        for opening in SUMMARY_OPENINGS {
            for format in Format::ALL {
                let asked = said(format, "user", &format!("Respond with text only.\n\n{opening} And so on."));
                assert_eq!(purpose_of(format, &asked), Purpose::Summarise, "{format} {opening}");
            }
        }
    }

    #[test]
    fn nothing_else_is_taken_for_one() {
        let opening = SUMMARY_OPENINGS[0];
        for format in Format::ALL {
            for (role, text) in [("user", format!("What does \"{opening}\" mean?")), ("user", "Sum it up.".to_owned())]
            {
                assert_eq!(purpose_of(format, &said(format, role, &text)), Purpose::Generate, "{format} {text}");
            }
        }
        assert_eq!(purpose_of(Format::OpenAiChat, &said(Format::OpenAiChat, "assistant", opening)), Purpose::Generate);
        let result = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{opening}"}}]}}"#
        );
        assert_eq!(purpose_of(Format::Anthropic, &result), Purpose::Generate);
    }
}
