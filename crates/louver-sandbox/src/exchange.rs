//! One request from its bytes to what is answered: all decisions, no sockets.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::body::text;
use crate::books::{Books, Settlement};
use crate::journal::Journal;
use crate::openai_responses::Memory;
use crate::prompt::Prompt;
use crate::provider::{Provider, Reply, Request, Usage};
use crate::refusal::{ErrorReply, Refusal};
use crate::runs::{RunKey, Runs, Step};
use crate::{Builder, Fault, Format, JournalEntry, models, parameters, sse};

/// The header by which a client names its run.
const RUN_HEADER: &str = "x-sandbox-run";

/// Keys that start with this are refused.
const BAD_KEY_START: &str = "bad";

/// Characters of a bad key that its refusal may repeat.
const SHOWN_KEY_CHARS: usize = 3;

/// Events that say nothing yet, where a stream begins with such.
const LEADING_EVENTS: usize = 2;

/// Checks a key.
pub(crate) fn check_key(key: Option<String>) -> Result<String, Refusal> {
    let key = key.filter(|key| !key.is_empty()).ok_or(Refusal::MissingKey)?;
    if key.starts_with(BAD_KEY_START) {
        return Err(Refusal::BadKey { shown: key.chars().take(SHOWN_KEY_CHARS).collect() });
    }
    Ok(key)
}

/// A request as it came in.
pub(crate) struct Incoming {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The key, wherever the API carries it.
    pub(crate) key: Option<String>,
    pub(crate) body: Vec<u8>,
    /// The model, where the path names it.
    pub(crate) model: Option<String>,
    /// Whether events are wanted, where the path says it.
    pub(crate) is_stream: Option<bool>,
    pub(crate) is_count: bool,
}

/// What goes back.
#[derive(Debug)]
pub(crate) enum Outcome {
    Error(ErrorReply),
    Whole(Value, Option<Fault>),
    Events { events: Vec<String>, error_event: String, fault: Option<Fault> },
}

/// What changes from request to request.
struct State {
    books: Books,
    runs: Runs,
    journal: Journal,
    memory: Memory,
}

/// The sandbox without its server.
pub(crate) struct Exchange {
    settings: Builder,
    state: Mutex<State>,
    serial: AtomicU64,
}

impl Exchange {
    pub(crate) fn new(settings: Builder) -> Self {
        let limits = &settings.limits;
        let state = State {
            books: Books::new(limits.max_cache_entries),
            runs: Runs::new(limits.max_runs),
            journal: Journal::new(limits.max_journal_entries, limits.max_journal_violations),
            memory: Memory::new(limits.max_stored_responses, limits.max_stored_bytes),
        };
        Self { settings, state: Mutex::new(state), serial: AtomicU64::new(1) }
    }

    /// No lock is held while anything can panic that would leave the state half written.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn next_serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn journal(&self) -> Vec<JournalEntry> {
        self.state().journal.entries()
    }

    /// Writes down and answers a request that is refused unread.
    pub(crate) fn refuse(&self, provider: &Provider, path: &str, refusal: &Refusal) -> ErrorReply {
        let mut entry = JournalEntry { path: path.to_owned(), ..JournalEntry::default() };
        let error = self.error(provider, refusal, &mut entry);
        self.state().journal.push(entry);
        error
    }

    /// Judges a request, answers it, and writes it down.
    pub(crate) fn answer(&self, provider: &Provider, incoming: Incoming) -> Outcome {
        let mut entry = JournalEntry { path: incoming.path.clone(), status: 200, ..JournalEntry::default() };
        let outcome = self
            .decide(provider, incoming, &mut entry)
            .unwrap_or_else(|refusal| Outcome::Error(self.error(provider, &refusal, &mut entry)));
        tracing::debug!(path = %entry.path, status = entry.status, tokens = entry.input_tokens, "judged a request");
        self.state().journal.push(entry);
        outcome
    }

    fn error(&self, provider: &Provider, refusal: &Refusal, entry: &mut JournalEntry) -> ErrorReply {
        if let (Refusal::Illegal(violation), true) = (refusal, entry.violations.is_empty()) {
            entry.violations.push(violation.clone());
        }
        let error = (provider.error)(refusal, self.next_serial());
        entry.status = error.status;
        error
    }

    fn decide(&self, provider: &Provider, incoming: Incoming, entry: &mut JournalEntry) -> Result<Outcome, Refusal> {
        let request = self.accept(provider, incoming)?;
        (provider.screen)(&request)?;
        parameters::check(provider.format, &request, self.settings.any_model)?;
        let prompt = (provider.prompt)(&request, &self.settings.counter);
        entry.messages = prompt.messages;
        entry.input_tokens = prompt.tokens();
        entry.violations = (provider.judge)(&request.body);
        entry.violations.extend((provider.verify)(&request));
        if let Some(first) = entry.violations.first() {
            return Err(Refusal::Illegal(first.clone()));
        }
        if request.is_count {
            return Ok(Outcome::Whole((provider.count)(prompt.tokens()), None));
        }
        match self.fits(&request, &prompt) {
            Err(refusal) if self.settings.overflow_in_stream && request.is_stream => {
                return Ok(self.refuse_in_stream(provider, &request, &refusal, entry));
            }
            fits => fits?,
        }
        self.speak(provider, &request, &prompt, entry)
    }

    /// Checks the key and reads the JSON.
    fn accept(&self, provider: &Provider, incoming: Incoming) -> Result<Request, Refusal> {
        let key = check_key(incoming.key)?;
        let parsed: Result<Value, _> = serde_json::from_slice(&incoming.body);
        let mut body = parsed.map_err(|error| Refusal::Malformed { reason: error.to_string() })?;
        if !body.is_object() {
            return Err(Refusal::Malformed { reason: "expected an object".to_owned() });
        }
        if provider.format == Format::OpenAiResponses {
            self.state().memory.expand(&mut body)?;
        }
        Ok(Request {
            key,
            model: incoming.model.unwrap_or_else(|| text(&body, "model").to_owned()),
            is_stream: incoming.is_stream.unwrap_or(body["stream"] == Value::Bool(true)),
            is_count: incoming.is_count,
            headers: incoming.headers,
            body,
        })
    }

    fn fits(&self, request: &Request, prompt: &Prompt) -> Result<(), Refusal> {
        let model = models::find(&request.model);
        let window = self.settings.context_window.unwrap_or(model.context_window);
        let input = prompt.tokens();
        let reply = request.body["max_tokens"].as_u64().unwrap_or(0);
        if input > window && text(&request.body, "truncation") != "auto" {
            return Err(Refusal::Overflow { input, window, is_new_model: model.cache.reports_writes });
        }
        if model.counts_reply_room && input.saturating_add(reply) > window {
            return Err(Refusal::NoReplyRoom { input, reply, window });
        }
        Ok(())
    }

    /// A stream that begins as if all were well. The journal has the status that says how it was judged.
    fn refuse_in_stream(
        &self,
        provider: &Provider,
        request: &Request,
        refusal: &Refusal,
        entry: &mut JournalEntry,
    ) -> Outcome {
        let error = self.error(provider, refusal, entry).body;
        let created = self.settings.clock.unix_seconds();
        let answer = Answer::default();
        let reply = Reply { request, answer: &answer, usage: Usage::default(), serial: self.next_serial(), created };
        let leading =
            if matches!(provider.format, Format::Anthropic | Format::OpenAiResponses) { LEADING_EVENTS } else { 0 };
        let mut events: Vec<String> = (provider.events)(&reply).into_iter().take(leading).collect();
        events.push(match provider.format {
            Format::Anthropic => sse::named("error", &error),
            Format::OpenAiResponses => sse::named("response.failed", &failed(&error, leading)),
            Format::OpenAiChat | Format::Gemini => sse::unnamed(&error),
        });
        Outcome::Events { events, error_event: String::new(), fault: None }
    }

    /// Takes the run's next step, settles the cache, and dresses the answer.
    fn speak(
        &self,
        provider: &Provider,
        request: &Request,
        prompt: &Prompt,
        entry: &mut JournalEntry,
    ) -> Result<Outcome, Refusal> {
        let step = if only_warms(request) {
            Step { answer: Answer { is_cut: true, ..Answer::default() }, fault: None }
        } else {
            self.state().runs.step(run_key(provider.format, request), &self.settings.scenario, prompt)
        };
        let fault = step.fault;
        fault.map_or(Ok(()), |fault| refused_by(fault, request.is_stream))?;
        let mut answer = step.answer;
        if fault == Some(Fault::MalformedArguments) {
            answer = answer.with_malformed_arguments();
        }
        if !(provider.shows_thinking)(request) {
            answer.thinking = None;
        }
        let answer = answer.cut(parameters::most_output(provider.format, request), &self.settings.counter);
        let settlement = self.settle(request, prompt);
        let usage = self.usage(prompt, &settlement, &answer);
        entry.cache_read_tokens = usage.read;
        entry.cache_write_tokens = usage.written();
        let created = self.settings.clock.unix_seconds();
        let reply = Reply { request, answer: &answer, usage, serial: self.next_serial(), created };
        Ok(self.dress(provider, &reply, fault.filter(|fault| *fault != Fault::MalformedArguments)))
    }

    fn settle(&self, request: &Request, prompt: &Prompt) -> Settlement {
        let now = self.settings.clock.elapsed();
        let mut state = self.state();
        let settlement = state.books.settle(prompt, &models::find(&request.model).cache, now);
        state.books.commit(&settlement, now);
        settlement
    }

    fn usage(&self, prompt: &Prompt, settlement: &Settlement, answer: &Answer) -> Usage {
        Usage {
            input: prompt.tokens(),
            read: settlement.read,
            written_short: settlement.written_short,
            written_long: settlement.written_long,
            visible_output: answer.visible_tokens(&self.settings.counter),
            thinking: answer.thinking_tokens(&self.settings.counter),
        }
    }

    fn dress(&self, provider: &Provider, reply: &Reply<'_>, fault: Option<Fault>) -> Outcome {
        if provider.format == Format::OpenAiResponses && fault.is_none() {
            self.state().memory.remember(&reply.request.body, &(provider.whole)(reply));
        }
        if reply.request.is_stream {
            Outcome::Events { events: (provider.events)(reply), error_event: (provider.error_event)(), fault }
        } else {
            Outcome::Whole((provider.whole)(reply), fault)
        }
    }
}

/// The Responses API's way to say that an answer failed.
fn failed(error: &Value, sequence_number: usize) -> Value {
    let error = json!({"code": error["error"]["code"], "message": error["error"]["message"]});
    let response = json!({"id": "resp_failed", "object": "response", "status": "failed", "error": error, "output": []});
    json!({"type": "response.failed", "sequence_number": sequence_number, "response": response})
}

/// Whether a request only wants its prompt in the cache.
fn only_warms(request: &Request) -> bool {
    request.body.get("max_tokens").and_then(Value::as_u64) == Some(0)
}

/// Faults that show before any answer, as refusals.
fn refused_by(fault: Fault, is_stream: bool) -> Result<(), Refusal> {
    match fault {
        Fault::RateLimit { retry_after_seconds } => Err(Refusal::RateLimited { retry_after_seconds }),
        Fault::ServerError => Err(Refusal::ServerError),
        Fault::Overloaded => Err(Refusal::Overloaded),
        Fault::StreamError if !is_stream => Err(Refusal::ServerError),
        Fault::StreamError | Fault::Reset | Fault::Stall | Fault::Truncate | Fault::MalformedArguments => Ok(()),
    }
}

fn run_key(format: Format, request: &Request) -> RunKey {
    let named = request.headers.get(RUN_HEADER).and_then(|name| name.to_str().ok());
    match named {
        Some(name) => RunKey::Named(name.to_owned()),
        None => RunKey::Implied(request.cache_scope().then_text(format.name()).hex()),
    }
}
