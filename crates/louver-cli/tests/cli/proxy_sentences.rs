//! Whatever keeps a proxy from starting is one sentence that says what to do.

use super::{Run, louver};
use std::net::TcpListener;
use std::path::Path;

/// `louver proxy` with a store of its own, on a free port, and these words.
fn proxy(folder: &Path, words: &str) -> Run {
    louver(&format!("proxy --listen 127.0.0.1:0 --store {}/louver.db {words}", folder.display()))
}

#[test]
fn bad_arguments_are_named_with_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    for (words, said) in [
        ("--upstream nonsense", "--upstream `nonsense`: expected NAME=URL, as anthropic=https://api.anthropic.com"),
        ("--upstream x=ftp://host", "--upstream x: an upstream's address begins with http:// or https://"),
        ("--upstream x=host", "--upstream x: an upstream's address looks like https://host/path"),
        (
            "--upstream x=https://user:password@host",
            "--upstream x: an upstream's address has no user name and no password; clients bring their own credentials",
        ),
        ("--mode kepe", "unknown mode `kepe`: expected keep, observe, rescue or off"),
        ("--archive some", "unknown archive `some`: expected off, decisions or full"),
        (
            "--token-env NOBODY_HAS_SET_THIS",
            "the environment variable NOBODY_HAS_SET_THIS holds no access token: set it",
        ),
    ] {
        assert_eq!(proxy(folder.path(), words).refused(), said);
    }
    let unknown = proxy(folder.path(), "--policy laddr");
    assert!(unknown.refused().contains("ladder-careful"), "{}", unknown.stderr);
}

#[test]
fn addresses_that_cannot_be_listened_on_are_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("louver.db").display().to_string();
    let listen = |address: &str| louver(&format!("proxy --store {store} --listen {address}"));
    assert_eq!(listen("8787").refused(), "--listen `8787` is no address: expected one with a port, as 127.0.0.1:8787");
    assert_eq!(
        listen("0.0.0.0:0").refused(),
        "listening on 0.0.0.0:0 needs an access token, because others than this machine can reach it: name one with \
         --token-env"
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert_eq!(
        listen(&address).refused(),
        format!(
            "something listens on {address} already: name another address with --listen, as 127.0.0.1:0 for any free port"
        )
    );
}

#[test]
fn stores_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "This is no database, but long enough to be taken for one. ".repeat(20)).unwrap();
    let store = |path: &str| louver(&format!("proxy --listen 127.0.0.1:0 --store {path}"));
    let name = text.display().to_string();
    assert!(store(&name).refused().contains(&name));
    assert!(store(&format!("{name}/inside.db")).refused().contains("inside.db"));
    let run = store("postgres://ann:hidden@127.0.0.1:1/louver");
    let told = run.refused();
    assert!(told.starts_with("postgres://ann@127.0.0.1:1/louver: the store's server cannot be reached"), "{told}");
    assert!(told.ends_with("; name another store with --store") && !told.contains("hidden"), "{told}");
    let told = store("postgres://ann:hidden@host:port/louver");
    assert!(told.refused().starts_with("the store's address cannot be read: expected postgres://"));
}

#[test]
fn a_bad_configuration_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.yml");
    let name = file.display().to_string();
    for (text, said) in [
        ("proxy:\n  mode: kepe\n", "2: proxy.mode: "),
        ("proxy:\n  listn: 127.0.0.1:1\n", "2: proxy.listn: "),
        ("proxy:\n  listen: here\n", "2: proxy.listen: must be an address and a port, as 127.0.0.1:8787"),
    ] {
        std::fs::write(&file, text).unwrap();
        let run = proxy(folder.path(), &format!("--config {name}"));
        assert!(run.refused().starts_with(&format!("{name}:{said}")), "{}", run.stderr);
    }
    std::fs::write(&file, "proxy:\n  upstreams:\n    gateway:\n      mode: off\n").unwrap();
    assert_eq!(
        proxy(folder.path(), &format!("--config {name}")).refused(),
        "proxy.upstreams.gateway.url is missing: where do its requests go?"
    );
    let nowhere = proxy(folder.path(), "--config nowhere.yml");
    assert_eq!(nowhere.refused(), "nowhere.yml: no such file or directory");
}

#[test]
fn a_check_says_of_everything_whether_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let there = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let to = |address| {
        let names = ["anthropic", "openai", "chatgpt", "gemini"];
        names.map(|name| format!("--upstream {name}=http://{address}")).join(" ")
    };
    let good = proxy(folder.path(), &format!("--check {}", to(here)));
    assert_eq!((good.code, good.stdout.lines().count()), (0, 6), "{}{}", good.stdout, good.stderr);
    assert!(good.stdout.lines().all(|line| line.ends_with(": ok")), "{}", good.stdout);
    let bad = proxy(folder.path(), &format!("--check {}", to(there)));
    assert_eq!((bad.code, bad.stdout.lines().count()), (1, 6), "{}{}", bad.stdout, bad.stderr);
    let said: Vec<&str> = bad.stdout.lines().filter(|line| !line.ends_with(": ok")).collect();
    assert_eq!(said.len(), 4);
    for line in said {
        assert!(
            line.contains("cannot be reached (") && line.ends_with("is its address right, and is it running?"),
            "{line}"
        );
    }
    let words = format!("proxy --check --store {}/louver.db --listen {here} {}", folder.path().display(), to(here));
    let taken = louver(&words);
    assert_eq!(taken.code, 1);
    assert!(taken.stdout.contains("name another address with --listen"), "{}", taken.stdout);
}
