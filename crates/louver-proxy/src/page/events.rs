//! What happens now, as server-sent events.

use super::account::request_entry;
use super::{Page, failed};
use crate::brain::PageBody;
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use louver_store::{ConversationInfo, ReaderId, RequestEntry, Whose};
use serde_json::json;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How many listen at a time, all together and for each reader.
const MAX_LISTENERS: usize = 256;
const MAX_OF_READER: usize = 8;

/// How many events are remembered for those who come back.
const REMEMBERED: usize = 1_024;

/// For how long they are when nobody listens any more.
const AFTER_THE_LAST: Duration = Duration::from_secs(60);

/// How long a listener hears nothing at most, so that what stands between does not close the connection.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a listener may stay. It comes back and shows its token again, which may have been withdrawn.
const LONGEST: Duration = Duration::from_secs(300);

/// When a listener whose connection was lost comes back.
const RETRY_MS: u64 = 2_000;

/// What has happened lately, and who listens.
#[derive(Debug)]
pub(crate) struct Events {
    state: Mutex<State>,
    /// Changes whenever anything does.
    changed: watch::Sender<()>,
    /// Makes names of numbers: how many events there were is nobody's business who does not see them.
    naming: RandomState,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next event.
    next: u64,
    recent: VecDeque<Happened>,
    listeners: HashMap<ReaderId, usize>,
    last_left: Option<Instant>,
    is_closed: bool,
}

/// A request that has ended.
#[derive(Clone, Debug)]
struct Happened {
    number: u64,
    conversation: ConversationInfo,
    request: RequestEntry,
}

impl Default for Events {
    fn default() -> Self {
        Self { state: Mutex::default(), changed: watch::Sender::new(()), naming: RandomState::new() }
    }
}

impl Events {
    /// A request has ended. Costs next to nothing where nobody listens.
    pub(crate) fn note(&self, conversation: &ConversationInfo, request: &RequestEntry) {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        if !state.is_heard() {
            state.recent.clear();
            return;
        }
        if state.recent.len() == REMEMBERED {
            state.recent.pop_front();
        }
        state.recent.push_back(Happened { number, conversation: conversation.clone(), request: request.clone() });
        drop(state);
        self.changed.send_replace(());
    }

    /// Nothing more will happen: lets every listener go.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an event is called.
    fn name(&self, number: u64) -> String {
        format!("{:016x}", self.naming.hash_one(number))
    }

    /// Takes a listener, who has heard everything up to the event of this name; `None` where there are too many.
    fn listen(self: &Arc<Self>, whose: Whose, reader: ReaderId, heard: Option<&str>) -> Option<Listener> {
        let mut state = self.lock();
        let own = state.listeners.get(&reader).copied().unwrap_or_default();
        if state.is_closed || own >= MAX_OF_READER || state.listeners.values().sum::<usize>() >= MAX_LISTENERS {
            return None;
        }
        // What is remembered goes on without a gap to what comes next.
        let first = state.recent.front().map_or(state.next, |happened| happened.number);
        let heard = heard.map(|heard| (first..=state.next).find(|number| self.name(*number) == heard));
        let (next, is_lost) = match heard {
            Some(Some(next)) => (next, false),
            Some(None) => (state.next, true),
            None => (state.next, false),
        };
        *state.listeners.entry(reader.clone()).or_default() += 1;
        let now = Instant::now();
        Some(Listener {
            events: Arc::clone(self),
            changed: self.changed.subscribe(),
            whose,
            reader,
            next,
            greeting: Some(is_lost),
            heartbeat: now + HEARTBEAT,
            end: now + LONGEST,
        })
    }
}

impl State {
    fn is_heard(&self) -> bool {
        !self.listeners.is_empty() || self.last_left.is_some_and(|left| left.elapsed() < AFTER_THE_LAST)
    }
}

/// Somebody who listens.
struct Listener {
    events: Arc<Events>,
    changed: watch::Receiver<()>,
    whose: Whose,
    reader: ReaderId,
    /// The number of the next event.
    next: u64,
    /// What is said first; whether something was missed.
    greeting: Option<bool>,
    heartbeat: Instant,
    end: Instant,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.events.lock();
        if let Some(count) = state.listeners.get_mut(&self.reader) {
            *count -= 1;
            if *count == 0 {
                state.listeners.remove(&self.reader);
            }
        }
        state.last_left = Some(Instant::now());
    }
}

impl Listener {
    /// What is sent next; nothing at the end.
    async fn next(&mut self) -> Option<String> {
        loop {
            self.changed.mark_unchanged();
            if let Some(text) = self.written()? {
                self.heartbeat = Instant::now() + HEARTBEAT;
                return Some(text);
            }
            tokio::select! {
                _ = self.changed.changed() => {}
                () = tokio::time::sleep_until(self.end) => return None,
                () = tokio::time::sleep_until(self.heartbeat) => {
                    self.heartbeat = Instant::now() + HEARTBEAT;
                    return Some(":\n\n".to_owned());
                }
            }
        }
    }

    /// What is new, as far as this reader may see it; nothing at all once everything is over.
    fn written(&mut self) -> Option<Option<String>> {
        let state = self.events.lock();
        if state.is_closed {
            return None;
        }
        let mut text = String::new();
        if let Some(is_lost) = self.greeting.take() {
            let kind = if is_lost { "reset" } else { "ready" };
            let name = self.events.name(self.next);
            let _ = write!(text, "retry: {RETRY_MS}\nid: {name}\nevent: {kind}\ndata: {{}}\n\n");
        }
        // Somebody who is too slow has missed what is forgotten.
        if state.recent.front().is_some_and(|first| first.number > self.next) {
            let name = self.events.name(state.next);
            let _ = write!(text, "id: {name}\nevent: reset\ndata: {{}}\n\n");
            self.next = state.next;
        }
        for happened in state.recent.iter().filter(|happened| happened.number >= self.next) {
            let is_own = match &self.whose {
                Whose::Everybody => true,
                Whose::Only(reader) => *reader == happened.conversation.reader,
            };
            if is_own {
                let data = json!({
                    "conversation": happened.conversation.id.as_str(),
                    "request": request_entry(&happened.request),
                });
                let name = self.events.name(happened.number + 1);
                let _ = write!(text, "id: {name}\nevent: request\ndata: {data}\n\n");
            }
        }
        self.next = state.next;
        Some(Some(text).filter(|text| !text.is_empty()))
    }
}

impl Page {
    /// A stream of what happens, from now on or from what was heard last.
    pub(super) fn events(&self, headers: &HeaderMap) -> Response<PageBody> {
        let heard = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        let listener = self.shared.events.listen(self.whose.clone(), self.reader.clone(), heard);
        let Some(listener) = listener else {
            let mut response = failed(StatusCode::SERVICE_UNAVAILABLE, "too many pages listen: close some of them");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("20"));
            return response;
        };
        let frames = stream::unfold(listener, |mut listener| async {
            let text = listener.next().await?;
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), listener))
        });
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        // Balancers collect what they pass on, unless they are told not to.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use louver::Format;
    use louver_store::{Outcome, UnixMillis};

    fn conversation(reader: &str) -> ConversationInfo {
        ConversationInfo {
            id: format!("of-{reader}").as_str().into(),
            parent: None,
            reader: reader.into(),
            format: Format::Anthropic,
            model: "m".to_owned(),
        }
    }

    fn note(events: &Events, reader: &str) {
        events.note(&conversation(reader), &RequestEntry::new(UnixMillis(1), "u", "m", Outcome::Kept));
    }

    fn listen(events: &Arc<Events>, reader: &str, heard: Option<&str>) -> Listener {
        events.listen(Whose::Only(reader.into()), reader.into(), heard).unwrap()
    }

    fn last_id(text: &str) -> String {
        text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_back_hears_what_was_missed_or_that_it_is_lost() {
        let events = Arc::new(Events::default());
        note(&events, "ann");
        let mut ann = listen(&events, "ann", None);
        let ready = ann.next().await.unwrap();
        assert!(ready.contains("event: ready") && !ready.contains("of-ann"), "what was before is not told");
        note(&events, "ann");
        let first = ann.next().await.unwrap();
        assert!(first.contains("of-ann"));
        drop(ann);
        note(&events, "bob");
        note(&events, "ann");
        let mut ann = listen(&events, "ann", Some(&last_id(&first)));
        let missed = ann.next().await.unwrap();
        assert!(missed.contains("event: ready") && missed.matches("of-ann").count() == 1 && !missed.contains("bob"));
        drop(ann);
        // Nobody listens for longer than anything is remembered.
        tokio::time::advance(AFTER_THE_LAST * 2).await;
        note(&events, "ann");
        assert!(listen(&events, "ann", Some(&last_id(&missed))).next().await.unwrap().contains("event: reset"));
        assert!(listen(&events, "ann", Some("of another process")).next().await.unwrap().contains("event: reset"));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_too_slow_is_told_so() {
        let events = Arc::new(Events::default());
        let mut ann = listen(&events, "ann", None);
        ann.next().await.unwrap();
        (0..=REMEMBERED).for_each(|_| note(&events, "ann"));
        let told = ann.next().await.unwrap();
        assert!(told.contains("event: reset") && !told.contains("event: request"), "{}", told.len());
        assert_eq!(events.lock().recent.len(), REMEMBERED);
    }

    #[tokio::test(start_paused = true)]
    async fn another_readers_events_are_not_even_noticed() {
        let events = Arc::new(Events::default());
        let mut bob = listen(&events, "bob", None);
        bob.next().await.unwrap();
        let began = Instant::now();
        let (told, ()) = tokio::join!(bob.next(), async {
            tokio::time::sleep(HEARTBEAT / 2).await;
            note(&events, "ann");
        });
        assert_eq!((told.as_deref(), began.elapsed()), (Some(":\n\n"), HEARTBEAT), "a heartbeat, when it was due");
    }

    #[tokio::test(start_paused = true)]
    async fn listeners_are_few_and_do_not_stay_for_ever() {
        let events = Arc::new(Events::default());
        let mut own: Vec<Listener> = (0..MAX_OF_READER).map(|_| listen(&events, "ann", None)).collect();
        assert!(events.listen(Whose::Everybody, "ann".into(), None).is_none());
        own.pop();
        let mut last = listen(&events, "ann", None);
        let began = Instant::now();
        while last.next().await.is_some() {}
        assert_eq!(began.elapsed(), LONGEST);
        drop((own, last));
        let readers = (0..MAX_LISTENERS).map(|number| format!("r{number}"));
        let all: Vec<Listener> = readers.map(|reader| listen(&events, &reader, None)).collect();
        assert!(events.listen(Whose::Everybody, "ann".into(), None).is_none());
        drop(all);
        let mut ann = listen(&events, "ann", None);
        ann.next().await.unwrap();
        events.close();
        assert!(ann.next().await.is_none());
        assert!(events.listen(Whose::Everybody, "ann".into(), None).is_none());
    }
}
