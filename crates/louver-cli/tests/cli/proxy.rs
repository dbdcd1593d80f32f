//! `proxy` as a process: what it keeps to itself, and what it reads again while it runs.

use super::proxy_world::{Proxy, ask, command, upstream};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

const QUESTION: &str = r#"{"model":"claude-sonnet-5","max_tokens":10,"messages":[{"role":"user","content":"Hello."}]}"#;
const ANSWER: &str = r#"{"id":"m","type":"message","role":"assistant","model":"claude-sonnet-5","content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}"#;

const SECRETS: &str = "authorization: Bearer SECRET-bearer\r\nx-api-key: SECRET-key\r\nx-goog-api-key: SECRET-goog\r\n\
                       cookie: a=SECRET-cookie\r\nproxy-authorization: SECRET-proxy\r\n";

#[test]
fn no_secret_is_in_logs_store_or_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let address = upstream(ANSWER, |_| {});
    let mut command = command(folder.path(), address);
    command.args(["--archive", "full", "--token-env", "LOUVER_TEST_TOKEN"]).env("LOUVER_TEST_TOKEN", "SECRET-token");
    let proxy = Proxy::start(&mut command);
    let token = "x-louver-token: SECRET-token\r\n";
    for line in
        ["POST /v1/messages", "POST /v1/chat/completions", "POST /v1beta/models/g:generateContent?key=SECRET-query"]
    {
        ask(proxy.address, line, SECRETS, QUESTION);
    }
    assert!(ask(proxy.address, "POST /v1/messages", &format!("{SECRETS}{token}"), QUESTION).contains("200 OK"));
    ask(proxy.address, "POST /v1/messages", &format!("{SECRETS}x-louver-token: SECRET-guess\r\n"), QUESTION);
    ask(proxy.address, "GET /louver/?token=SECRET-token", "", "");
    let shown = [
        ask(proxy.address, "GET /louver/metrics", "", ""),
        ask(proxy.address, "GET /louver/api/conversations", token, ""),
        proxy.log(),
    ];
    assert!(shown[0].contains("louver_requests_total") && shown[1].contains("claude-sonnet-5"), "{shown:?}");
    assert!(shown[2].contains("model request"));
    for text in shown {
        assert!(!text.contains("SECRET"), "{text}");
    }
    drop(proxy);
    let mut is_stored = false;
    for file in std::fs::read_dir(folder.path().join("store")).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        is_stored |= text.contains("Hello.");
        assert!(!text.contains("SECRET"));
    }
    assert!(is_stored, "the archive has the message at all");
}

#[cfg(target_os = "linux")]
#[test]
fn no_core_is_written() {
    use assert_cmd::cargo::cargo_bin;
    use std::os::unix::process::ExitStatusExt;
    let folder = tempfile::tempdir().unwrap();
    let dumps = |words: &str| {
        let script = format!("ulimit -c unlimited; exec {} {words}", cargo_bin!("louver").display());
        let mut command = std::process::Command::new("sh");
        let mut proxy = Proxy::start(command.args(["-c", &script]).current_dir(folder.path()));
        proxy.signal("ABRT");
        proxy.child.wait().unwrap().core_dumped()
    };
    if !dumps("sandbox --scenario echo") {
        println!("skipped: nothing writes a core on this machine");
        return;
    }
    assert!(!dumps("proxy --listen 127.0.0.1:0 --store louver.db"));
}

#[cfg(unix)]
#[test]
fn a_hangup_reads_the_configuration_again() {
    let folder = tempfile::tempdir().unwrap();
    let (arrived, arrivals) = channel();
    let (release, released) = channel::<()>();
    let released = Arc::new(Mutex::new(released));
    let old = upstream("\"old\"", move |_| {
        arrived.send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
    });
    let new = upstream("\"new\"", |_| {});
    let file = folder.path().join("config.yml");
    let write = |upstream, more: &str| {
        let text = format!(
            "proxy:\n  listen: 127.0.0.1:0\n{more}  upstreams:\n    anthropic:\n      url: http://{upstream}\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    write(old, "");
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("louver"));
    let proxy =
        Proxy::start(command.arg("proxy").arg("--store").arg(folder.path().join("a.db")).arg("--config").arg(&file));
    let address = proxy.address;
    let running = std::thread::spawn(move || ask(address, "POST /v1/messages", "", QUESTION));
    arrivals.recv().unwrap();

    write(new, "");
    proxy.signal("HUP");
    proxy.logged("was read again");
    assert!(ask(address, "POST /v1/messages", "", QUESTION).ends_with("\"new\""), "new requests see new settings");
    release.send(()).unwrap();
    assert!(running.join().unwrap().ends_with("\"old\""), "running ones end with the old");

    write(old, "  mode: kepe\n");
    proxy.signal("HUP");
    let refused = proxy.logged("the old settings stay");
    assert!(refused.contains("proxy.mode") && refused.contains("kepe"), "{refused}");
    write(old, "  access_tokens:\n    ann: NOBODY_HAS_SET_THIS\n");
    proxy.signal("HUP");
    proxy.logged("NOBODY_HAS_SET_THIS");
    assert!(ask(address, "POST /v1/messages", "", QUESTION).ends_with("\"new\""), "a bad file changes nothing");

    std::fs::write(&file, format!("proxy:\n  listen: 127.0.0.1:1\n  store: b.db\n  mode: off\n  upstreams:\n    anthropic:\n      url: http://{new}\n")).unwrap();
    proxy.signal("HUP");
    proxy.logged("proxy.listen is changed by a restart only");
    assert!(ask(address, "POST /v1/messages", "", QUESTION).ends_with("\"new\""), "the rest is taken over");
}
