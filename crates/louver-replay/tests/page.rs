//! The page in a real browser: `e2e/replay-page.sh`, under `LOUVER_E2E=1`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

use std::path::Path;
use std::process::Command;

#[test]
fn a_browser_finds_the_charts_and_sorts_the_table() {
    if std::env::var_os("LOUVER_E2E").is_none_or(|value| value != "1") {
        println!("skipped: LOUVER_E2E=1 is not set, and this test installs a browser");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/replay-page.sh");
    let status = Command::new("bash").arg(script).status().unwrap();
    assert!(status.success(), "{status}");
}
