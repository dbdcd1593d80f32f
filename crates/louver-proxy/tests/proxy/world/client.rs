//! A client that sends bytes.

use super::within;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Status line and headers, without the empty line.
    pub(crate) head: String,
    /// Its body, taken out of its chunks.
    pub(crate) body: Vec<u8>,
    /// Whether the connection ended before the body was whole.
    pub(crate) is_cut_off: bool,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Status line and headers without our own and without what concerns one connection alone.
    pub(crate) fn passing_head(&self) -> String {
        let is_other = |line: &&str| {
            let line = line.to_ascii_lowercase();
            line.starts_with("x-louver-") || line.starts_with("transfer-encoding:")
        };
        self.head.lines().filter(|line| !is_other(line)).collect::<Vec<_>>().join("\r\n")
    }
}

/// A connection of a client.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Sends a POST.
    pub(crate) async fn post(&mut self, path: &str, headers: &str, body: impl AsRef<[u8]>) {
        self.send(post(path, headers, body.as_ref())).await;
    }

    /// More bytes; whether there are any.
    async fn more(&mut self) -> bool {
        matches!(within(self.stream.read_buf(&mut self.buffer)).await, Ok(1..))
    }

    /// Reads until the bytes so far contain a text.
    pub(crate) async fn read_until(&mut self, text: &str) -> String {
        loop {
            let so_far = String::from_utf8_lossy(&self.buffer).into_owned();
            if so_far.contains(text) {
                return so_far;
            }
            assert!(self.more().await, "ended before {text:?}: {so_far:?}");
        }
    }

    /// Reads one answer.
    pub(crate) async fn answer(&mut self) -> Answer {
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            if !self.more().await {
                return Answer { is_cut_off: true, ..Answer::default() };
            }
        };
        let head = String::from_utf8(self.buffer[..end].to_vec()).unwrap();
        self.buffer.drain(..end + 4);
        let mut answer = Answer { head, ..Answer::default() };
        if let Some(length) = answer.header("content-length").map(|length| length.parse::<usize>().unwrap()) {
            while self.buffer.len() < length && self.more().await {}
            answer.is_cut_off = self.buffer.len() < length;
            answer.body = self.buffer.drain(..length.min(self.buffer.len())).collect();
        } else if answer.header("transfer-encoding").is_some() {
            answer.is_cut_off = !self.chunks(&mut answer.body).await;
        } else if answer.status() != 204 {
            while self.more().await {}
            answer.body = std::mem::take(&mut self.buffer);
        }
        answer
    }

    /// Whether the last chunk came.
    async fn chunks(&mut self, body: &mut Vec<u8>) -> bool {
        loop {
            let line = loop {
                if let Some(end) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                    break end;
                }
                if !self.more().await {
                    return false;
                }
            };
            let size = usize::from_str_radix(std::str::from_utf8(&self.buffer[..line]).unwrap(), 16).unwrap();
            while self.buffer.len() < line + 2 + size + 2 {
                if !self.more().await {
                    return false;
                }
            }
            body.extend_from_slice(&self.buffer[line + 2..line + 2 + size]);
            self.buffer.drain(..line + 2 + size + 2);
            if size == 0 {
                return true;
            }
        }
    }
}

fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// One POST on a connection of its own.
pub(crate) async fn ask(address: SocketAddr, path: &str, headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let mut client = Client::connect(address).await;
    client.post(path, headers, body).await;
    client.answer().await
}

impl Answer {
    /// The answer that these bytes are.
    pub(crate) async fn of_bytes(bytes: Vec<u8>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = Client::connect(listener.local_addr().unwrap()).await;
        let (mut server, _) = listener.accept().await.unwrap();
        let writing = tokio::spawn(async move { server.write_all(&bytes).await });
        let answer = client.answer().await;
        writing.await.unwrap().unwrap();
        answer
    }
}
