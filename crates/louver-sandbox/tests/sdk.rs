//! The official SDKs can talk to the sandbox: `e2e/sdk.sh`, under `LOUVER_E2E=1`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says when it is skipped")]

use std::path::Path;
use std::process::Command;

#[test]
fn the_official_python_and_node_sdks_talk_to_the_sandbox() {
    if std::env::var_os("LOUVER_E2E").is_none_or(|value| value != "1") {
        println!("skipped: LOUVER_E2E=1 is not set, and this test installs SDKs from their registries");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/sdk.sh");
    let status = Command::new("sh").arg(script).status().unwrap();
    assert!(status.success(), "{status}");
}
