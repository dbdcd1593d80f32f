//! A proxy with a keeper, between a client and an upstream that remembers what it got.

use crate::talk::{Talk, messages_of};
use crate::world::{Answer, Client, RawRequest, Running, Step, Upstream, ask, config_to, json_answer};
use louver::Format;
use louver_proxy::{AccessToken, Keeper, KeeperSettings, ProxyConfig};
use louver_store::sqlite::SqliteOptions;
use louver_store::{ChainQuery, SqliteStore, Store, StoredDecision};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) settings: KeeperSettings,
    proxy: Option<Running>,
    pub(crate) store: Arc<SqliteStore>,
    config: ProxyConfig,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) answer: Answer,
    /// What reached the upstream, attempt by attempt.
    pub(crate) sent: Vec<RawRequest>,
}

impl Asked {
    pub(crate) fn outcome(&self) -> &str {
        self.answer.header("x-louver-outcome").unwrap_or_default()
    }

    pub(crate) fn conversation(&self) -> &str {
        self.answer.header("x-louver-conversation").unwrap_or_default()
    }

    /// The body that was accepted.
    pub(crate) fn body(&self) -> &str {
        std::str::from_utf8(&self.sent.last().expect("something was sent").body).unwrap()
    }

    pub(crate) fn messages(&self, format: Format) -> Vec<String> {
        messages_of(format, self.body().as_bytes())
    }
}

/// A window so small that twenty turns do not fit.
pub(crate) fn small() -> KeeperSettings {
    KeeperSettings { context_window: Some(30_000), store_wait: Duration::from_millis(300), ..KeeperSettings::default() }
}

/// A disk of this size.
pub(crate) const DISK: u64 = 4 << 20;

pub(crate) fn open_store(path: &std::path::Path) -> Arc<SqliteStore> {
    let options = SqliteOptions::default().busy_timeout(Duration::from_millis(50)).max_bytes(DISK);
    Arc::new(options.open(path).unwrap())
}

/// An answer in the format of the request.
pub(crate) fn well(request: &RawRequest) -> Vec<Step> {
    let path = request.line();
    let format = match () {
        () if path.contains("/chat/completions") => Format::OpenAiChat,
        () if path.contains("/responses") => Format::OpenAiResponses,
        () if path.contains("/v1beta/") => Format::Gemini,
        () => Format::Anthropic,
    };
    json_answer(200, Talk::answer(format))
}

impl Desk {
    pub(crate) async fn open(settings: KeeperSettings) -> Self {
        Self::with(settings, |_, request| well(request)).await
    }

    pub(crate) async fn with(
        settings: KeeperSettings,
        script: impl Fn(usize, &RawRequest) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let upstream = Arc::new(Upstream::start(script).await);
        // On this machine clients need none.
        let tokens = vec![AccessToken::of_owner("token-o")];
        let config = ProxyConfig { access_tokens: tokens, ..config_to(upstream.address) };
        Self::configured(settings, upstream, config).await
    }

    pub(crate) async fn configured(settings: KeeperSettings, upstream: Arc<Upstream>, config: ProxyConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open_store(&folder.path().join("louver.db"));
        let mut desk = Self { folder, upstream, settings, proxy: None, store, config };
        desk.start().await;
        desk
    }

    async fn start(&mut self) {
        let store: Arc<dyn Store> = self.store.clone();
        let keeper = Keeper::new(store, self.settings.clone());
        self.proxy = Some(Running::start(self.config.clone(), keeper).await);
    }

    /// Another keeper on the same file takes the place of this one.
    pub(crate) async fn reopen(&mut self) {
        self.proxy.take().unwrap().stop().await;
        self.store = open_store(&self.file());
        self.start().await;
    }

    /// Stops the proxy, as a signal would.
    pub(crate) async fn stop(&mut self) {
        self.proxy.take().unwrap().stop().await;
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("louver.db")
    }

    /// Every byte of the store.
    pub(crate) fn bytes_on_disk(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.proxy.as_ref().unwrap().address
    }

    pub(crate) async fn ask(&self, talk: &Talk) -> Asked {
        self.post(&talk.path(), &talk.headers, &talk.body()).await
    }

    pub(crate) async fn post(&self, path: &str, headers: &str, body: &str) -> Asked {
        let before = self.upstream.count();
        let answer = ask(self.address(), path, headers, body).await;
        Asked { answer, sent: self.upstream.requests_from(before) }
    }

    pub(crate) async fn get(&self, path: &str, headers: &str) -> Answer {
        let mut client = Client::connect(self.address()).await;
        client.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")).await;
        client.answer().await
    }

    /// A figure of the metrics.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.get("/louver/metrics", "").await.text();
        let line = text.lines().find(|line| line.starts_with(name) && line[name.len()..].starts_with(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}"))[name.len()..].trim().parse().unwrap()
    }

    /// Everything that was decided on a conversation's chain.
    pub(crate) async fn decisions(&self, talk: &Talk) -> Vec<StoredDecision> {
        use louver_store::Decisions;
        let body = louver::wire::Body::parse_bytes(talk.body().as_bytes(), Some(talk.format)).unwrap();
        let chain = louver_proxy::Chain::of(talk.format, body.messages().iter().map(|message| &**message));
        let upstream = match talk.format {
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::OpenAiChat | Format::OpenAiResponses => "openai",
        };
        let query =
            ChainQuery { upstream: upstream.to_owned(), hashes: chain.ends().to_vec(), after: Default::default() };
        self.store.decisions_on(query).await.unwrap()
    }

    /// Lets a conversation grow until it is cut for the first time.
    pub(crate) async fn until_cut(&self, talk: &mut Talk) -> Cut {
        for _ in 0..100 {
            talk.turn();
            let asked = self.ask(talk).await;
            assert_eq!(asked.answer.status(), 200, "{}", asked.answer.text());
            if asked.outcome() == "cut" {
                return Cut::of(talk, &asked);
            }
            assert_eq!((asked.outcome(), asked.body()), ("passed", talk.body().as_str()));
        }
        panic!("it was never cut");
    }
}

/// What a cut left of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The client's messages then.
    pub(crate) held: Vec<String>,
    pub(crate) sent: Vec<String>,
    pub(crate) conversation: String,
}

impl Cut {
    pub(crate) fn of(talk: &Talk, asked: &Asked) -> Self {
        let sent = asked.messages(talk.format);
        assert!(sent.len() < talk.messages.len(), "messages are gone");
        Self { held: talk.messages.clone(), sent, conversation: asked.conversation().to_owned() }
    }

    /// What has to go out for a conversation that has gone on from here: the view then, its kept messages as the client has
    /// them now, and what is new.
    pub(crate) fn view_of(&self, talk: &Talk) -> String {
        let now = |sent: &String| {
            let at = self.held.iter().rposition(|held| held == sent);
            at.map_or_else(|| sent.clone(), |at| talk.messages[at].clone())
        };
        let view: Vec<String> =
            self.sent.iter().map(now).chain(talk.messages[self.held.len()..].iter().cloned()).collect();
        talk.body_of(&view)
    }

    /// The decision holds: nothing new is cut, and these bytes go out.
    #[track_caller]
    pub(crate) fn holds(&self, talk: &Talk, asked: &Asked) {
        assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (200, "kept", 1));
        similar(asked.body(), &self.view_of(talk));
    }
}

/// Equal, and if not, where not.
#[track_caller]
pub(crate) fn similar(got: &str, expected: &str) {
    if got != expected {
        let at = got.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
        let around = |text: &str| {
            String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(150)..(at + 250).min(text.len())]).into_owned()
        };
        panic!("they differ at {at}:\n  got {}\n want {}", around(got), around(expected));
    }
}
