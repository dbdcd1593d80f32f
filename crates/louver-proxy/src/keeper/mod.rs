//! Keeps conversations: knows each by its chain, decides by its history and its records, and keeps the account.

mod account;
mod api;
mod asked;
mod by_upstream;
mod deciding;
mod figures;
mod heading;
mod live;
mod money;
mod records;
mod rescue;
mod settings;
mod ticket;
mod trouble;

pub use settings::KeeperSettings;
pub use ticket::Ticket;

use crate::brain::{AfterRefusal, Brain, Decision, OwnRefusal, PageBody, Refused};
use crate::clock::now;
use crate::ending::Answered;
use crate::model_request::{ModelRequest, Reader};
use crate::page;
use account::Meters;
use asked::Asked;
use bytes::Bytes;
use http::StatusCode;
use live::Lives;
use louver_store::{CredentialHash, LearnedFacts, LimitScope, ServedModel, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// How long learned facts are believed without asking the store again.
const FACTS_AGE: Duration = Duration::from_secs(5);

/// The header in which a client asks for more than a model has by default.
const BETA: &str = "anthropic-beta";

/// Betas that change how much a model takes.
const WINDOW_BETA: &str = "context-1m";

/// The brain of a proxy: keeps every conversation inside its window, by recorded decisions alone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use louver_proxy::{Keeper, KeeperSettings, Proxy, ProxyConfig};
/// use louver_store::SqliteStore;
/// use std::sync::Arc;
///
/// let folder = tempfile::tempdir()?;
/// let store = Arc::new(SqliteStore::open(folder.path().join("louver.db"))?);
/// let keeper = Keeper::new(store, KeeperSettings::default());
/// let config = ProxyConfig { listen: "127.0.0.1:0".parse()?, ..ProxyConfig::default() };
/// let proxy = Proxy::bind(config, keeper).await?;
/// assert!(proxy.local_addr().ip().is_loopback());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Keeper {
    store: Arc<dyn Store>,
    settings: KeeperSettings,
    lives: Arc<Lives>,
    facts: Arc<Mutex<HashMap<LimitScope, (Instant, LearnedFacts)>>>,
    meters: Arc<Meters>,
    /// What the pages that are open share.
    pages: Arc<page::Shared>,
    /// Places for requests that wait for the store.
    waiting: Arc<Semaphore>,
    /// Keys the hashes of credentials.
    key: [u8; 32],
}

impl Keeper {
    /// A keeper with its store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, settings: KeeperSettings) -> Self {
        let key = blake3::derive_key("louver 2026-11 credential hashes", settings.user.as_str().as_bytes());
        let waiting = Arc::new(Semaphore::new(settings.max_waiting.min(Semaphore::MAX_PERMITS)));
        let (lives, facts, meters, pages) = (Arc::default(), Arc::default(), Arc::default(), Arc::default());
        Self { store, settings: settings.without_thinking(), lives, facts, meters, pages, waiting, key }
    }

    /// A keeper of the same conversations with other settings. Both may decide side by side, as two processes on one store
    /// may; `user` and `max_waiting` stay as they are.
    #[must_use]
    pub fn with_settings(&self, settings: KeeperSettings) -> Self {
        let KeeperSettings { user, max_waiting, .. } = self.settings.clone();
        Self {
            store: Arc::clone(&self.store),
            settings: KeeperSettings { user, max_waiting, ..settings }.without_thinking(),
            lives: Arc::clone(&self.lives),
            facts: Arc::clone(&self.facts),
            meters: Arc::clone(&self.meters),
            pages: Arc::clone(&self.pages),
            waiting: Arc::clone(&self.waiting),
            key: self.key,
        }
    }

    /// What a request's limits hold for.
    fn scope(&self, request: &ModelRequest, asked: &Asked) -> LimitScope {
        let betas = request.headers.get(BETA).unwrap_or_default();
        let beta = betas.split(',').map(str::trim).find(|beta| beta.starts_with(WINDOW_BETA)).unwrap_or_default();
        LimitScope {
            served: ServedModel { upstream: asked.upstream.clone(), model: asked.model.clone() },
            beta: beta.to_owned(),
            credential: CredentialHash(request.headers.credential(&self.key).unwrap_or_default()),
        }
    }

    /// What was learned of a model. Where the store is away, nothing was.
    async fn facts(&self, scope: &LimitScope) -> LearnedFacts {
        let known = self.known_facts().get(scope).copied();
        if let Some((_, facts)) = known.filter(|(at, _)| at.elapsed() < FACTS_AGE) {
            return facts;
        }
        match self.store.facts(scope.clone(), now()).await {
            Ok(facts) => {
                let mut known = self.known_facts();
                if known.len() >= 4_096 {
                    known.clear();
                }
                known.insert(scope.clone(), (Instant::now(), facts));
                facts
            }
            Err(error) => {
                tracing::warn!(%error, "what was learned of a model cannot be read");
                known.map(|(_, facts)| facts).unwrap_or_default()
            }
        }
    }

    /// Forgets what was read of a model, because something was learned.
    fn forget_facts(&self, scope: &LimitScope) {
        self.known_facts().remove(scope);
    }

    fn known_facts(&self) -> std::sync::MutexGuard<'_, HashMap<LimitScope, (Instant, LearnedFacts)>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Brain for Keeper {
    type Ticket = Ticket;

    async fn decide(&self, request: &ModelRequest) -> Decision<Ticket> {
        self.decide_about(request).await.unwrap_or_else(Decision::Refuse)
    }

    async fn refused(&self, request: &ModelRequest, ticket: Ticket, refused: Refused) -> AfterRefusal<Ticket> {
        self.after_refusal(request, ticket, refused).await
    }

    async fn before_first_byte(&self, ticket: &mut Ticket, status: StatusCode) -> Result<(), OwnRefusal> {
        self.mark_shown(ticket, status).await
    }

    fn answered(&self, ticket: Option<Ticket>, answered: Answered) {
        self.account_for(ticket, &answered);
    }

    fn ready(&self) -> Result<(), String> {
        let status = self.store.status();
        if status.is_failing { Err("the store cannot be written".to_owned()) } else { Ok(()) }
    }

    fn stopping(&self) {
        self.pages.events.close();
    }

    async fn page(&self, request: http::Request<Bytes>, reader: &Reader) -> Option<http::Response<PageBody>> {
        self.api(&request, reader).await
    }
}
