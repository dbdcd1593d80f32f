//! What the program says about itself.

use crate::louver;

#[test]
fn help_is_helpful() {
    let commands = "/trim/check/repair/inspect/condense/recall/replay/run/proxy/wrap/archive/mcp/sandbox/demo/models/completions\
        /config/config check/config schema";
    for command in commands.split('/') {
        let name = if command.is_empty() { "louver".to_owned() } else { command.replace(' ', "_") };
        let long = louver(&format!("{command} --help"));
        insta::assert_snapshot!(format!("help_{name}"), long.done());
        assert_eq!(long.stderr, "");
        let short = louver(&format!("{command} -h"));
        assert!(short.done().lines().count() <= long.stdout.lines().count());
        assert!(long.stdout.contains("Examples:"), "{command}");
    }
}

#[test]
fn nothing_typed_shows_what_can_be_typed() {
    let run = louver("");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("Usage: louver"), "{}", run.stderr);
}

#[test]
fn the_version_is_the_crates() {
    assert_eq!(louver("--version").done(), concat!("louver ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = louver(&format!("completions {shell}"));
        assert!(run.done().contains("inspect") && run.done().contains("max-messages"), "{shell}");
    }
    louver("completions tcsh").refused();
}
