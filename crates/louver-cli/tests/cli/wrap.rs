//! `wrap`: what a client is started with.

use assert_cmd::cargo::cargo_bin;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A client that writes down what it was started with and ends with 7.
const CLIENT: &str =
    "#!/bin/sh\nenv -0 >env\nprintf '%s\\n' \"$@\" >arguments\nls /proc/$$/fd >files 2>/dev/null\nexit 7\n";

fn wrapped(folder: &Path, client: &str) -> BTreeMap<String, String> {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join(client);
    std::fs::write(&program, CLIENT).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(cargo_bin!("louver"));
    command.args(["wrap", client, "--store"]).arg(folder.join("louver.db")).args(["--", "-p", "two words"]);
    command.env_clear().env("PATH", path).env("HOME", folder).env("ANTHROPIC_API_KEY", "the user's own");
    let output = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(7), "{said}");
    let expected =
        "Louver: 0 requests cost about $0.00 at list prices, $0.00 less than uncut.\nNothing was left out.\n";
    assert_eq!(said, expected);
    let environment = std::fs::read_to_string(folder.join("env")).unwrap();
    let pairs = environment.split_terminator('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// What the user has and what the client needs, and nothing else: no token, no open file.
#[test]
fn a_client_gets_what_it_needs_and_no_secret() {
    let claude = [
        "ANTHROPIC_BASE_URL",
        "CLAUDE_CODE_GATEWAY_HINT_HEADERS",
        "CLAUDE_CODE_PROPAGATE_TRACEPARENT",
        "ENABLE_TOOL_SEARCH",
    ];
    let clients: [(&str, &[&str]); 3] = [("claude", &claude), ("codex", &[]), ("gemini", &["GOOGLE_GEMINI_BASE_URL"])];
    for (client, own) in clients {
        let folder = tempfile::tempdir().unwrap();
        let environment = wrapped(folder.path(), client);
        let users = ["PATH", "HOME", "ANTHROPIC_API_KEY"];
        // The shell that the client is made of adds its own.
        let shells = ["PWD", "OLDPWD", "SHLVL", "_"];
        let names = environment.keys().map(String::as_str);
        let added: Vec<&str> = names.filter(|name| !users.contains(name) && !shells.contains(name)).collect();
        assert_eq!(added, own, "{client}");
        assert_eq!(environment["ANTHROPIC_API_KEY"], "the user's own");
        let arguments = std::fs::read_to_string(folder.path().join("arguments")).unwrap();
        assert!(arguments.ends_with("-p\ntwo words\n"), "{arguments}");
        assert!(!format!("{environment:?}{arguments}").contains("token"), "{client}");
        let files = || std::fs::read_to_string(folder.path().join("files")).unwrap();
        let inherited = files();
        Command::new(folder.path().join(client)).current_dir(folder.path()).output().unwrap();
        assert_eq!(inherited, files(), "{client}: as many files are open as without Louver");
    }
}
