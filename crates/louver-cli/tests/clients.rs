//! The real Claude Code, Codex, Gemini CLI and SDKs behind the proxy: `e2e/clients.sh`, under `LOUVER_E2E=1`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

use std::path::Path;
use std::process::Command;

#[test]
fn nobody_can_tell_that_the_proxy_was_killed() {
    if std::env::var_os("LOUVER_E2E").is_none_or(|value| value != "1") {
        println!("skipped: LOUVER_E2E=1 is not set, and this test needs Python");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/kills.py");
    let status = Command::new("python3").arg(script).args(["--louver", env!("CARGO_BIN_EXE_louver")]).status().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn real_clients_work_behind_the_proxy() {
    if std::env::var_os("LOUVER_E2E").is_none_or(|value| value != "1") {
        println!("skipped: LOUVER_E2E=1 is not set, and this test installs clients from their registry");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/clients.sh");
    let status = Command::new("sh").arg(script).status().unwrap();
    assert!(status.success(), "{status}");
}
