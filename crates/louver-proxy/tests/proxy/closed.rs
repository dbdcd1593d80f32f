//! Nobody gets in who should not, and nothing gets out but to the configured upstreams.

use crate::world::{Answer, Client, Running, Step, TestBrain, Upstream, ask, config_to, json_answer, within};
use louver_proxy::{AccessToken, BindError, Passing, Proxy, ProxyConfig, Reader};
use std::net::SocketAddr;

/// An upstream, and a server that nobody may ever talk to.
async fn with_trap() -> (Upstream, Upstream, Running) {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let trap = Upstream::always(json_answer(200, "caught")).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    (upstream, trap, proxy)
}

async fn raw(address: SocketAddr, request: String) -> Answer {
    let mut client = Client::connect(address).await;
    client.send(request).await;
    client.answer().await
}

#[tokio::test]
async fn no_request_reaches_a_host_that_is_not_configured() {
    let (upstream, trap, proxy) = with_trap().await;
    let trap_address = trap.address;
    let lines = [
        format!("POST http://{trap_address}/v1/messages"),
        format!("POST http://user:password@{trap_address}/v1/messages"),
        format!("POST //{trap_address}/v1/messages"),
        format!("POST /up/anthropic//{trap_address}/v1/messages"),
        format!("POST /up/anthropic/@{trap_address}/v1/messages"),
        format!("POST /up/{trap_address}/v1/messages"),
        format!("POST /up/http:%2F%2F{trap_address}/v1/messages"),
        format!("POST /up/anthropic%2F..%2F@{trap_address}/v1/messages"),
        format!("POST /up/anthropic/%40{trap_address}/v1/messages"),
        format!("POST /up/../{trap_address}/v1/messages"),
        format!("POST /%2F%2F{trap_address}/v1/messages"),
        format!("POST /v1/messages/..%2f..%2f..%2f@{trap_address}"),
        format!("POST /\\\\{trap_address}/v1/messages"),
        format!("POST http:/{trap_address}/v1/messages"),
        format!("POST /v1/messages?url=http://{trap_address}/"),
        "OPTIONS *".to_owned(),
        format!("CONNECT {trap_address}"),
        format!("GET http://{trap_address}/louver/api/conversations"),
    ];
    for line in lines {
        for host in ["127.0.0.1".to_owned(), trap_address.to_string()] {
            let request = format!(
                "{line} HTTP/1.1\r\nhost: {host}\r\nx-forwarded-host: {trap_address}\r\nforwarded: host={trap_address}\r\n\
                 authorization: Bearer secret\r\ncontent-length: 2\r\n\r\n{{}}"
            );
            let answer = raw(proxy.address, request).await;
            assert!(!answer.text().contains("caught"), "{line}");
        }
    }
    assert_eq!(trap.accepted(), 0);
    assert!(upstream.requests().iter().all(|request| request.header("host") == Some(&upstream.address.to_string())));
}

#[tokio::test]
async fn an_authority_of_http2_is_no_address_either() {
    let (upstream, trap, proxy) = with_trap().await;
    let stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    for authority in [trap.address.to_string(), format!("user:password@{}", trap.address)] {
        for host in [None, Some(trap.address.to_string())] {
            let mut request = http::Request::post(format!("http://{authority}/v1/messages"));
            if let Some(host) = host {
                request = request.header("host", host);
            }
            let mut client = client.clone().ready().await.unwrap();
            let (answer, mut body) = client.send_request(request.body(()).unwrap(), false).unwrap();
            body.send_data("{}".into(), true).unwrap();
            within(answer).await.unwrap();
        }
    }
    assert_eq!(trap.accepted(), 0);
    let requests = upstream.requests();
    assert!(!requests.is_empty());
    assert!(requests.iter().all(|request| request.header("host") == Some(&upstream.address.to_string())));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let trap = Upstream::always(json_answer(200, "caught")).await;
    for status in [301, 302, 303, 307, 308] {
        let head = format!(
            "HTTP/1.1 {status} X\r\nlocation: http://{}/v1/messages\r\ncontent-length: 0\r\n\r\n",
            trap.address
        );
        let upstream = Upstream::always(vec![Step::send(head)]).await;
        let proxy = Running::start(config_to(upstream.address), Passing).await;
        let answer = ask(proxy.address, "/v1/messages", "authorization: Bearer secret\r\n", "{}").await;
        assert_eq!(answer.status(), status);
        assert!(answer.header("location").is_some());
    }
    assert_eq!(trap.accepted(), 0);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_in_words() {
    let (upstream, _, proxy) = with_trap().await;
    for (line, status, words) in [
        ("CONNECT 127.0.0.1:1", 405, "no forward proxy"),
        ("GET /elsewhere", 404, "belongs to no upstream"),
        ("POST /up/nobody/v1/messages", 404, "no upstream `nobody` is configured"),
        ("GET /v1/../x", 400, "lead upwards"),
    ] {
        let answer = raw(proxy.address, format!("{line} HTTP/1.1\r\nhost: x\r\n\r\n")).await;
        assert_eq!(answer.status(), status, "{line}");
        assert!(answer.text().contains(words), "{line}: {}", answer.text());
    }
    let answer = ask(proxy.address, "/v1/messages", "x-louver-mode: kepe\r\n", "{}").await;
    assert_eq!(answer.status(), 400);
    assert!(answer.text().contains("keep, observe, rescue or off"));
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn a_websocket_is_answered_426() {
    let (upstream, _, proxy) = with_trap().await;
    let upgrade = "GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
                   sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   openai-beta: responses_websockets=2026-02-06\r\n\r\n";
    let answer = raw(proxy.address, upgrade.to_owned()).await;
    assert_eq!(answer.status(), 426);
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn another_address_than_loopback_needs_a_token() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let open = ProxyConfig { listen: "0.0.0.0:0".parse().unwrap(), ..config_to(upstream.address) };
    let refused = Proxy::bind(open.clone(), Passing).await.unwrap_err();
    assert!(matches!(refused, BindError::NeedsToken(_)), "{refused}");

    let tokens = vec![AccessToken::new("alice", "token-a"), AccessToken::new("bob", "token-b")];
    let brain = TestBrain::default();
    let proxy = Running::start(ProxyConfig { access_tokens: tokens, ..open }, brain.clone()).await;
    let address = SocketAddr::from(([127, 0, 0, 1], proxy.address.port()));
    for (header, status) in [("", 401), ("x-louver-token: wrong\r\n", 401), ("x-louver-token: token-b\r\n", 200)] {
        assert_eq!(ask(address, "/v1/messages", header, "{}").await.status(), status, "{header:?}");
    }
    assert_eq!(brain.requests()[0].reader, Reader::Token("bob".into()));
    let requests = upstream.requests();
    assert_eq!(requests.len(), 1);
    assert!(!requests[0].head.contains("token-b"), "an access token is never forwarded");
    for (path, status) in [("/louver/healthz", 401), ("/louver/metrics", 401), ("/v1/models", 401)] {
        let answer = raw(address, format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")).await;
        assert_eq!(answer.status(), status, "{path}");
    }
}

#[tokio::test]
async fn a_wrong_token_is_refused_on_loopback_too() {
    let (upstream, _, proxy) = with_trap().await;
    assert_eq!(ask(proxy.address, "/v1/messages", "x-louver-token: guess\r\n", "{}").await.status(), 401);
    assert!(upstream.requests().is_empty());
}

async fn pages() -> (Upstream, Running) {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let config = ProxyConfig {
        access_tokens: vec![AccessToken::new("alice", "token-a"), AccessToken::new("odd", "a+b+c/=%; \"ä")],
        page_hosts: vec!["louver.example".to_owned()],
        ..config_to(upstream.address)
    };
    (upstream, Running::start(config, TestBrain::default()).await)
}

#[tokio::test]
async fn health_needs_no_token_on_loopback_and_the_rest_does() {
    let (_, proxy) = pages().await;
    let get = |path: &str, headers: &str| {
        raw(proxy.address, format!("GET {path} HTTP/1.1\r\nhost: localhost:8787\r\n{headers}\r\n"))
    };
    assert_eq!(get("/louver/healthz", "").await.text(), "ok\n");
    let ready = get("/louver/readyz", "").await;
    assert_eq!((ready.status(), ready.text().as_str()), (503, "the store is away\n"));
    for headers in ["", "x-louver-token: token-b\r\n", "cookie: louver_token=x\r\n"] {
        for path in ["/louver/", "/louver/api/conversations", "/louver/mcp", "/louver/never-heard-of"] {
            assert_eq!(get(path, headers).await.status(), 401, "{path} {headers}");
        }
    }
    let answer = get("/louver/api/conversations?x=1", "x-louver-token: token-a\r\n").await;
    assert_eq!(answer.text(), "GET /louver/api/conversations?x=1 Token(\"alice\") 0");
    assert_eq!(get("/louver/never-heard-of", "x-louver-token: token-a\r\n").await.status(), 404);
}

#[tokio::test]
async fn a_token_in_the_address_becomes_a_strict_cookie() {
    let (_, proxy) = pages().await;
    let get = |path: &str, headers: &str| {
        raw(proxy.address, format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n"))
    };
    let answer = get("/louver/?token=token-a", "").await;
    assert_eq!((answer.status(), answer.header("location")), (303, Some("/louver/")));
    assert_eq!(answer.header("set-cookie"), Some("louver_token=token-a; HttpOnly; SameSite=Strict; Path=/louver"));
    assert_eq!(get("/louver/", "cookie: a=b; louver_token=token-a\r\n").await.status(), 200);
    assert_eq!(get("/louver/?token=token-b", "").await.status(), 401);
    // Nor does it stay there where a cookie would have done.
    assert_eq!(get("/louver/?token=token-a", "cookie: louver_token=token-a\r\n").await.status(), 303);
    // Programs escape what they put into an address, and a cookie has to be escaped as well.
    assert_eq!(get("/louver/?x=1&token=%74oken%2Da", "").await.header("set-cookie"), answer.header("set-cookie"));
    let answer = get("/louver/?token=a+b%2Bc%2F%3D%25%3B%20%22%C3%A4", "").await;
    let cookie = "louver_token=a%2Bb%2Bc%2F%3D%25%3B%20%22%C3%A4";
    assert_eq!(answer.header("set-cookie"), Some(&*format!("{cookie}; HttpOnly; SameSite=Strict; Path=/louver")));
    assert_eq!(get("/louver/", &format!("cookie: {cookie}\r\n")).await.status(), 200);
    // Browsers give the cookies of one port to all others of a host.
    let at_port = |path: &str, headers: &str| {
        raw(proxy.address, format!("GET {path} HTTP/1.1\r\nhost: localhost:8788\r\n{headers}\r\n"))
    };
    let answer = at_port("/louver/?token=token-a", "").await;
    assert!(answer.header("set-cookie").is_some_and(|cookie| cookie.starts_with("louver_token_8788=token-a;")));
    let both = "cookie: louver_token_8787=another; louver_token_8788=token-a\r\n";
    assert_eq!(at_port("/louver/", both).await.status(), 200);
    let post = "POST /louver/api/x?token=token-a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n".to_owned();
    assert_eq!(raw(proxy.address, post).await.status(), 401);
}

#[tokio::test]
async fn rebound_hosts_and_foreign_origins_are_refused() {
    let (_, proxy) = pages().await;
    let get = |headers: &str| {
        raw(proxy.address, format!("GET /louver/api/x HTTP/1.1\r\nx-louver-token: token-a\r\n{headers}\r\n"))
    };
    for good in [
        "host: 127.0.0.1:8787\r\n",
        "host: [::1]:8787\r\n",
        "host: LOCALHOST\r\n",
        "host: louver.example\r\norigin: https://louver.example\r\n",
        "host: localhost:1\r\norigin: http://localhost:1\r\n",
    ] {
        assert_eq!(get(good).await.status(), 200, "{good}");
    }
    for bad in [
        "host: evil.example\r\n",
        "host: localhost.evil.example\r\n",
        "host: 127.0.0.1.evil.example\r\n",
        "host: localhost\r\norigin: https://evil.example\r\n",
        "host: localhost\r\norigin: null\r\n",
        "host: localhost:1\r\norigin: http://localhost:2\r\n",
        "host: localhost\r\norigin: http://localhost.evil.example\r\n",
    ] {
        assert_eq!(get(bad).await.status(), 403, "{bad}");
    }
    for unclear in ["host: localhost\r\nhost: evil.example\r\n", "x: y\r\n"] {
        assert_eq!(get(unclear).await.status(), 400, "{unclear}");
    }
    let absolute =
        "GET http://evil.example/louver/api/x HTTP/1.1\r\nhost: localhost\r\nx-louver-token: token-a\r\n\r\n";
    assert!([400, 403].contains(&raw(proxy.address, absolute.to_owned()).await.status()));
}

#[tokio::test]
async fn pages_say_what_browsers_may_do_with_them() {
    let (_, proxy) = pages().await;
    for (path, header) in [("/louver/api/x", "x-louver-token: token-a\r\n"), ("/louver/healthz", ""), ("/louver/", "")]
    {
        let answer = raw(proxy.address, format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{header}\r\n")).await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn a_page_takes_no_more_than_it_can() {
    let (_, proxy) = pages().await;
    let body = "x".repeat(2 << 20);
    let answer = ask(proxy.address, "/louver/api/x", "x-louver-token: token-a\r\n", body).await;
    assert_eq!(answer.status(), 413);
}
