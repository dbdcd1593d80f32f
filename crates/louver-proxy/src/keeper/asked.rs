//! A request as the keeper reads it.

use crate::conversation::{Chain, link};
use crate::model_request::{ModelRequest, Purpose, Reader};
use crate::request_headers::RequestHeaders;
use louver::json::{Cursor, Kind};
use louver::wire::{Body, Format, Message};
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
    /// Reads a request; nothing where it has no history here that could be cut.
    pub(super) fn read(request: &ModelRequest, user: &ReaderId) -> Option<Self> {
        let body = Body::parse_bytes(&request.body, Some(request.format)).ok()?;
        let model = request.path_model.clone().or_else(|| body.model().map(str::to_owned))?;
        if body.is_server_side() || body.messages().is_empty() {
            return None;
        }
        let reader = match &request.reader {
            Reader::Token(name) => ReaderId::from(&**name),
            Reader::LocalUser => user.clone(),
        };
        let session = session(&request.headers, body.text());
        let messages = body.messages().to_vec();
        let history = Hashed { messages, links: Vec::new(), chain: Chain::new(request.format) };
        let (upstream, purpose) = (request.upstream.as_str().to_owned(), purpose(request.purpose, &body));
        Some(Self { body, model, upstream, reader, purpose, session, history })
    }

    pub(super) fn format(&self) -> Format {
        self.body.format()
    }
}

impl Hashed {
    /// How many messages of the beginning are the same as those of a known history. Messages that are the same byte for
    /// byte become one; others are hashed.
    pub(super) fn meet(&mut self, known: Option<&Self>, format: Format) -> usize {
        let mut common = 0;
        let mut is_same = true;
        for index in self.links.len()..self.messages.len() {
            let before = known.and_then(|known| Some((known.messages.get(index)?, known.links.get(index)?)));
            let new = match before {
                Some((message, known_link)) if message.raw() == self.messages[index].raw() => {
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
}

/// What a client calls its session.
fn session(headers: &RequestHeaders, body: &str) -> Option<String> {
    let named = SESSIONS.iter().find_map(|name| headers.get(name)).map(str::to_owned);
    let session = named.or_else(|| session_in(body))?;
    Some(headers.get(AGENT).map_or_else(|| session.clone(), |agent| format!("{session} {agent}")))
}

/// A session that the body names: `metadata.user_id`, which can hold JSON with a `session_id`, or `prompt_cache_key`.
fn session_in(body: &str) -> Option<String> {
    // Most bodies name none, and looking for a word is cheaper than reading everything again.
    let has = |key: &str| memchr::memmem::find(body.as_bytes(), key.as_bytes()).is_some();
    if !has("\"prompt_cache_key\"") && !has("\"user_id\"") {
        return None;
    }
    let mut found = None;
    let mut cursor = Cursor::new(body);
    // What is no JSON names no session.
    let _ = cursor.object(|key, cursor| match (key, cursor.kind()?) {
        ("prompt_cache_key", Kind::String) => {
            found = Some(cursor.text()?.into_owned());
            Ok(())
        }
        ("metadata", Kind::Object) => cursor.object(|key, cursor| {
            if key == "user_id" && cursor.kind()? == Kind::String {
                found = Some(cursor.text()?.into_owned());
                return Ok(());
            }
            cursor.skip().map(drop)
        }),
        _ => cursor.skip().map(drop),
    });
    let id = found?;
    let inner = serde_json::from_str::<serde_json::Value>(&id).ok();
    let inner = inner.and_then(|value| Some(value.get("session_id")?.as_str()?.to_owned()));
    Some(inner.unwrap_or(id))
}

/// What a request is for, where only its body says it.
fn purpose(purpose: Purpose, body: &Body) -> Purpose {
    let last = body.messages().last();
    let is_trigger = last.is_some_and(|message| message.raw().contains(r#""compaction_trigger""#));
    let summarises = purpose == Purpose::Generate && body.format() == Format::OpenAiResponses && is_trigger;
    if summarises { Purpose::Summarise } else { purpose }
}
