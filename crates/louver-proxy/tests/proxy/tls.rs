//! Upstreams with TLS: a real server, its certificate made here.

use crate::world::{Client, Running, Step, TestBrain, Upstream, ask, config_to, config_to_url, eventually};
use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use louver_proxy::{End, Outcome, Passing, ProxyConfig, Unreachable, UpstreamUrl, reach};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

const EVENT: &str = "data: {\"n\":1}\n\n";

/// What a server with TLS got.
#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<(Version, String, Bytes)>>,
    connections: AtomicUsize,
    /// Answers whose end the server was not asked for any more.
    dropped: AtomicUsize,
}

/// Counts an answer that nobody reads any more.
struct Told(Arc<Seen>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

struct TlsUpstream {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    seen: Arc<Seen>,
    go_on: Arc<Notify>,
}

impl TlsUpstream {
    /// Its certificate is for this name; it offers these protocols. Every answer is an event, a wait, and an event.
    async fn start(name: &str, protocols: &[&str]) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let single = builder.unwrap().with_no_client_auth().with_single_cert(vec![certificate.clone()], key);
        let mut config = single.unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, go_on) = (Arc::<Seen>::default(), Arc::new(Notify::new()));
        let (shared, waiting) = (Arc::clone(&seen), Arc::clone(&go_on));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, seen, go_on) = (acceptor.clone(), Arc::clone(&shared), Arc::clone(&waiting));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    seen.connections.fetch_add(1, Ordering::SeqCst);
                    let service = service_fn(move |request| answer(request, Arc::clone(&seen), Arc::clone(&go_on)));
                    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, certificate, seen, go_on }
    }

    fn config(&self) -> ProxyConfig {
        let config = config_to_url(&format!("https://localhost:{}", self.address.port()));
        ProxyConfig { extra_roots: vec![self.certificate.clone()], ..config }
    }

    fn requests(&self) -> Vec<(Version, String, Bytes)> {
        self.seen.requests.lock().unwrap().clone()
    }

    fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }
}

type Events = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

async fn answer(
    request: Request<Incoming>,
    seen: Arc<Seen>,
    go_on: Arc<Notify>,
) -> Result<Response<Events>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let host = parts.headers.get("host").and_then(|host| host.to_str().ok());
    let host = host.or(parts.uri.authority().map(|authority| authority.as_str())).unwrap_or_default().to_owned();
    seen.requests.lock().unwrap().push((parts.version, host, body));
    let told = Told(seen);
    let event = |_| Ok(Frame::data(Bytes::from(EVENT)));
    let later = async move {
        let _told = told;
        go_on.notified().await;
    };
    let events = futures_util::stream::iter([()]).map(event).chain(futures_util::stream::once(later).map(event));
    let mut response = Response::new(StreamBody::new(events).boxed_unsync());
    response.headers_mut().insert("content-type", "text/event-stream".parse().unwrap());
    Ok(response)
}

#[tokio::test]
async fn the_upstream_chooses_the_protocol() {
    for (protocols, version) in
        [(&["h2", "http/1.1"][..], Version::HTTP_2), (&["http/1.1"][..], Version::HTTP_11), (&[][..], Version::HTTP_11)]
    {
        let upstream = TlsUpstream::start("localhost", protocols).await;
        let brain = TestBrain::default();
        let proxy = Running::start(upstream.config(), brain.clone()).await;
        let mut client = Client::connect(proxy.address).await;
        client.post("/v1/messages", "x-api-key: k\r\n", "{\"a\":1}").await;
        client.read_until(EVENT).await;
        upstream.go_on.notify_one();
        let answer = client.answer().await;
        assert_eq!((answer.status(), answer.text(), answer.is_cut_off), (200, EVENT.repeat(2), false));
        let host = format!("localhost:{}", upstream.address.port());
        assert_eq!(upstream.requests(), [(version, host, Bytes::from("{\"a\":1}"))]);
        let ended = brain.ended().await.answered;
        assert_eq!((ended.outcome, ended.end), (Outcome::Passed, End::Whole));
    }
}

#[tokio::test]
async fn one_connection_carries_many_streams_and_survives_a_client_that_goes() {
    let upstream = TlsUpstream::start("localhost", &["h2"]).await;
    let proxy = Running::start(upstream.config(), Passing).await;
    upstream.go_on.notify_one();
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 200);
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = Client::connect(proxy.address).await;
        client.post("/v1/messages", "", "{}").await;
        client.read_until(EVENT).await;
        clients.push(client);
    }
    assert_eq!((upstream.requests().len(), upstream.connections()), (4, 1));
    drop(clients.pop());
    eventually("the stream of whoever went is let go", || upstream.seen.dropped.load(Ordering::SeqCst) == 2).await;
    upstream.go_on.notify_waiters();
    for mut client in clients {
        let answer = client.answer().await;
        assert_eq!((answer.text(), answer.is_cut_off), (EVENT.repeat(2), false));
    }
    assert_eq!(upstream.connections(), 1);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_said_in_one_sentence_and_nothing_is_sent() {
    let (right, elsewhere) =
        (TlsUpstream::start("localhost", &["h2"]).await, TlsUpstream::start("elsewhere.example", &["h2"]).await);
    for (config, server) in [
        // Nobody vouches for it.
        (ProxyConfig { extra_roots: Vec::new(), ..right.config() }, &right),
        // Somebody does, but for another name.
        (elsewhere.config(), &elsewhere),
    ] {
        let brain = TestBrain::default();
        let proxy = Running::start(config, brain.clone()).await;
        let answer = ask(proxy.address, "/v1/messages", "authorization: Bearer secret\r\n", "{}").await;
        assert_eq!((answer.status(), answer.header("x-louver-outcome")), (502, Some("none")));
        let said = "louver: the certificate of the upstream anthropic is not trusted; nothing was sent";
        assert!(answer.text().contains(said), "{}", answer.text());
        assert_eq!(brain.ended().await.answered.end, End::UpstreamFailed);
        assert!(server.requests().is_empty());
    }
}

#[tokio::test]
async fn tls_where_there_is_none_and_none_where_there_is_are_502s() {
    let plain = Upstream::always(vec![Step::send("no"), Step::Close]).await;
    let proxy = Running::start(config_to_url(&format!("https://{}", plain.address)), Passing).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 502);
    let upstream = TlsUpstream::start("localhost", &["h2"]).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 502);
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn whether_an_upstream_can_be_reached_is_said_in_one_sentence() {
    let upstream = TlsUpstream::start("localhost", &["h2"]).await;
    let url = UpstreamUrl::parse(&format!("https://localhost:{}", upstream.address.port())).unwrap();
    let limit = Duration::from_secs(20);
    assert_eq!(reach(&url, std::slice::from_ref(&upstream.certificate), limit).await, Ok(()));
    let untrusted = reach(&url, &[], limit).await.unwrap_err();
    assert!(matches!(untrusted, Unreachable::Untrusted(_)), "{untrusted}");
    assert!(untrusted.to_string().contains("SSL_CERT_FILE"), "{untrusted}");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = reach(&UpstreamUrl::parse(&format!("https://{nobody}")).unwrap(), &[], limit).await.unwrap_err();
    assert!(nobody.to_string().ends_with("is its address right, and is it running?"), "{nobody}");
}
