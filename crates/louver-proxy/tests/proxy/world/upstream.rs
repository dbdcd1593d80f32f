//! An upstream that answers bytes.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawRequest {
    /// Request line and headers, without the empty line.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// On which connection, counted from 0.
    pub(crate) connection: usize,
}

impl RawRequest {
    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// What an upstream does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Waits until the test says so.
    Wait(Arc<Notify>),
    /// Says goodbye.
    Close,
    /// Breaks off.
    Reset,
    /// Says nothing more, but stays.
    Stall,
}

impl Step {
    pub(crate) fn send(text: impl AsRef<[u8]>) -> Self {
        Self::Send(text.as_ref().to_vec())
    }
}

/// An answer with a length.
pub(crate) fn json_answer(status: u16, body: &str) -> Vec<Step> {
    let head =
        format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    vec![Step::send(head + body)]
}

/// A stream of events, in chunks as they stand.
pub(crate) fn sse_answer(events: &[&str]) -> Vec<Step> {
    let mut steps =
        vec![Step::send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")];
    steps.extend(events.iter().map(|event| Step::send(format!("{:x}\r\n{event}\r\n", event.len()))));
    steps.push(Step::send("0\r\n\r\n"));
    steps
}

type Script = dyn Fn(usize, &RawRequest) -> Vec<Step> + Send + Sync;

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<RawRequest>>,
    open: AtomicUsize,
    accepted: AtomicUsize,
}

/// Counts an open connection.
struct Open(Arc<Seen>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An upstream that follows a script and remembers what it got.
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

impl Upstream {
    /// The script gets the number of the request, counted from 0 over all connections, and the request.
    pub(crate) async fn start(script: impl Fn(usize, &RawRequest) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let script: Arc<Script> = Arc::new(script);
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                stream.set_nodelay(true).unwrap();
                let number = shared.accepted.fetch_add(1, Ordering::SeqCst);
                shared.open.fetch_add(1, Ordering::SeqCst);
                let open = Open(Arc::clone(&shared));
                let (seen, script) = (Arc::clone(&shared), Arc::clone(&script));
                tokio::spawn(async move {
                    let _open = open;
                    converse(stream, number, &seen, &*script).await;
                });
            }
        });
        Self { address, seen, task }
    }

    /// One that always answers the same.
    pub(crate) async fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_, _| steps.clone()).await
    }

    pub(crate) fn requests(&self) -> Vec<RawRequest> {
        self.requests_from(0)
    }

    /// The requests behind so many.
    pub(crate) fn requests_from(&self, first: usize) -> Vec<RawRequest> {
        self.seen.requests.lock().unwrap().get(first..).unwrap_or_default().to_vec()
    }

    /// How many requests there were.
    pub(crate) fn count(&self) -> usize {
        self.seen.requests.lock().unwrap().len()
    }

    /// Keeps nothing of the requests so far.
    #[allow(dead_code, reason = "for whoever measures memory")]
    pub(crate) fn forget(&self) {
        self.seen.requests.lock().unwrap().clear();
    }

    /// Connections that are open now.
    pub(crate) fn open(&self) -> usize {
        self.seen.open.load(Ordering::SeqCst)
    }

    /// Connections that were ever accepted.
    pub(crate) fn accepted(&self) -> usize {
        self.seen.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn converse(mut stream: TcpStream, connection: usize, seen: &Seen, script: &Script) {
    let mut buffer = Vec::new();
    while let Some(mut request) = read_request(&mut stream, &mut buffer).await {
        request.connection = connection;
        let number = {
            let mut requests = seen.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        for step in script(number, &request) {
            match step {
                Step::Send(bytes) => {
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Step::Wait(notify) => {
                    // The other side may go away meanwhile.
                    let mut byte = [0];
                    tokio::select! {
                        () = notify.notified() => {}
                        read = stream.read(&mut byte) => if !matches!(read, Ok(1..)) { return },
                    }
                }
                Step::Close => return,
                Step::Reset => {
                    stream.set_zero_linger().unwrap();
                    return;
                }
                Step::Stall => {
                    let mut byte = [0];
                    while matches!(stream.read(&mut byte).await, Ok(1..)) {}
                    return;
                }
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<RawRequest> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    buffer.drain(..end + 4);
    let mut request = RawRequest { head, ..RawRequest::default() };
    let length: usize = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    if request.header("transfer-encoding").is_some() {
        while !buffer.ends_with(b"0\r\n\r\n") {
            if stream.read_buf(buffer).await.ok()? == 0 {
                return None;
            }
        }
        request.body = std::mem::take(buffer);
        return Some(request);
    }
    while buffer.len() < length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    request.body = buffer.drain(..length).collect();
    Some(request)
}
