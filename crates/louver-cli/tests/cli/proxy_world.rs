//! A proxy as a process, and an upstream to stand behind it.

use assert_cmd::cargo::cargo_bin;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than anything takes; reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// A `louver proxy` that runs until it is dropped.
pub(crate) struct Proxy {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<String>>,
}

impl Proxy {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let log = Arc::<Mutex<String>>::default();
        let (lines, shared) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&log));
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| *shared.lock().unwrap() += &(line + "\n"))
        });
        let address = line.trim().strip_prefix("http://").unwrap_or_else(|| panic!("{line:?} {}", log.lock().unwrap()));
        Self { address: address.parse().unwrap(), child, log }
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The first line of the log that has this, once there is one.
    pub(crate) fn logged(&self, words: &str) -> String {
        for _ in 0..PATIENCE.as_millis() / 5 {
            if let Some(line) = self.log().lines().find(|line| line.contains(words)) {
                return line.to_owned();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("nobody says {words:?}: {}", self.log());
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let done = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `louver proxy` on a free port, with a store of its own and everything going to one upstream.
pub(crate) fn command(folder: &std::path::Path, upstream: SocketAddr) -> Command {
    let mut command = Command::new(cargo_bin!("louver"));
    command.args(["proxy", "--listen", "127.0.0.1:0", "--store"]).arg(folder.join("store/louver.db"));
    for name in ["anthropic", "openai", "chatgpt", "gemini"] {
        command.arg(format!("--upstream={name}=http://{upstream}"));
    }
    command
}

/// Answers every request with this body, once `go_on` says so.
pub(crate) fn upstream(body: &'static str, go_on: impl Fn(&str) + Send + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let go_on = go_on.clone();
            std::thread::spawn(move || answer(stream, body, &go_on));
        }
    });
    address
}

fn answer(mut stream: TcpStream, body: &str, go_on: &dyn Fn(&str)) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut asked = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut asked)?;
        go_on(&head);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
        write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
    }
}

/// One request on a connection of its own: everything that comes back.
pub(crate) fn ask(address: SocketAddr, line: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
