//! The proxy's page in a real browser: `e2e/page.sh`, under `LOUVER_E2E=1`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

use std::path::Path;
use std::process::Command;

#[test]
fn a_browser_follows_conversations_on_the_page() {
    if std::env::var_os("LOUVER_E2E").is_none_or(|value| value != "1") {
        println!("skipped: LOUVER_E2E=1 is not set, and this test installs a browser");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/page.sh");
    let status = Command::new("bash").arg(script).arg(env!("CARGO_BIN_EXE_louver")).status().unwrap();
    assert!(status.success(), "{status}");
}
