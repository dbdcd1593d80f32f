//! A proxy that does nothing but pass: what hyper alone costs. `bench/proxy.sh` measures Louver beside it.
//!
//! `bare_proxy HOST:PORT` prints its own address first.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let upstream = std::env::args().nth(1).ok_or("usage: bare_proxy HOST:PORT")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let client: Client<HttpConnector, Incoming> = Client::builder(TokioExecutor::new()).build_http();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (client, upstream) = (client.clone(), upstream.clone());
        let service = service_fn(move |request| pass(client.clone(), upstream.clone(), request));
        tokio::spawn(async move {
            let server = auto::Builder::new(TokioExecutor::new());
            // A connection that breaks is its client's business.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn pass(
    client: Client<HttpConnector, Incoming>,
    upstream: String,
    mut request: Request<Incoming>,
) -> Result<Response<http_body_util::combinators::BoxBody<bytes::Bytes, hyper::Error>>, AnyError> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = format!("http://{upstream}{path}").parse::<Uri>()?;
    request.headers_mut().remove(hyper::header::HOST);
    let answer = client.request(request).await?;
    Ok(answer.map(BodyExt::boxed))
}
