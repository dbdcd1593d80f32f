//! Stands between the proxy and a server and remembers every byte.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

#[derive(Default)]
struct Bytes {
    up: Vec<u8>,
    down: Vec<u8>,
}

pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    bytes: Arc<Mutex<Bytes>>,
}

impl Relay {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let bytes: Arc<Mutex<Bytes>> = Arc::default();
        let shared = Arc::clone(&bytes);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (client_read, client_write) = client.into_split();
                let (server_read, server_write) = TcpStream::connect(server).await.unwrap().into_split();
                let (up, down) = (Arc::clone(&shared), Arc::clone(&shared));
                tokio::spawn(copy(client_read, server_write, move |piece| {
                    up.lock().unwrap().up.extend_from_slice(piece)
                }));
                tokio::spawn(copy(server_read, client_write, move |piece| {
                    down.lock().unwrap().down.extend_from_slice(piece)
                }));
            }
        });
        Self { address, bytes }
    }

    /// What went up and what came down since the last time.
    pub(crate) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        let mut bytes = self.bytes.lock().unwrap();
        (std::mem::take(&mut bytes.up), std::mem::take(&mut bytes.down))
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, note: impl Fn(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        note(&buffer[..read]);
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
}
