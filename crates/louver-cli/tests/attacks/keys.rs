//! Attacks on the key.

use crate::world::{KEY, World, has_landlock, is_root, said, shell};
use louver_sandbox::Call;
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn a_redirect_carries_the_key_nowhere() {
    for status in [302, 307, 308] {
        let world = World::calling([]);
        let (provider, thief) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let config = format!(
            "provider: {{type: anthropic-api, base_url: 'http://{}', api_key_env: ATTACKED_KEY}}",
            provider.local_addr().unwrap()
        );
        std::fs::write(world.path("config.yml"), config).unwrap();
        let location = format!("http://{}/v1/messages", thief.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let (mut socket, _) = provider.accept().unwrap();
            let mut head = [0; 4096];
            let length = socket.read(&mut head).unwrap();
            let answer = format!("HTTP/1.1 {status} Go\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            socket.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&head[..length]).into_owned()
        });
        let output = world.run(&[]);
        assert_eq!(output.status.code(), Some(3), "{}", said(&output));
        assert!(said(&output).contains("which is not done"), "{}", said(&output));
        assert!(answering.join().unwrap().contains(KEY), "the provider itself gets it");
        thief.set_nonblocking(true).unwrap();
        assert!(thief.accept().is_err(), "{status}: somebody else was called");
    }
}

#[test]
fn the_key_stands_in_no_environment_that_a_command_or_anybody_could_read() {
    // Climbs from the command to whoever started the run.
    let look = "cat go; at=$PPID; while [ $at -gt 1 ]; do tr '\\0' '\\n' < /proc/$at/environ | grep ATTACKED_KEY && touch \
                stolen; at=$(awk '/^PPid/ {print $2}' /proc/$at/status); done; touch looked";
    let world = World::calling([shell(look)]);
    let (child, go) = world.waiting(&["--allow", "sh"]);
    let environment = std::fs::read(format!("/proc/{}/environ", child.id()));
    match is_root() {
        true => {
            let environment = String::from_utf8_lossy(&environment.unwrap()).into_owned();
            assert!(environment.contains("LOUVER_KEYS_ON_STDIN=1") && !environment.contains(KEY), "{environment}");
        }
        // Not even its own user's programs read it: it is not dumpable.
        false => assert_eq!(environment.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied),
    }
    drop(go);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(world.inside("looked").exists() && !world.inside("stolen").exists(), "{state}");
}

#[test]
fn a_key_in_a_file_of_the_root_is_shown_to_nobody() {
    let world = World::calling([
        Call::new("read_file", json!({"path": ".env"})),
        Call::new("search_files", json!({"pattern": "KEY"})),
        shell("cat .env; cat .env >&2"),
    ]);
    std::fs::write(world.inside(".env"), format!("KEY={KEY}\n")).unwrap();
    let output = world.run(&["--allow", "sh"]);
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(state.matches("KEY=***").count() >= 4, "{state}");
    assert!(!state.contains(KEY) && !said(&output).contains(KEY), "{state}{}", said(&output));
}

#[test]
fn a_command_cannot_look_into_the_run_even_as_an_administrator() {
    if !has_landlock("a_command_cannot_look_into_the_run_even_as_an_administrator") {
        return;
    }
    let world = World::calling([shell("cat go; cat /proc/$PPID/environ /proc/$PPID/maps || echo denied")]);
    let (child, go) = world.waiting(&["--allow", "sh"]);
    drop(go);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let state = std::fs::read_to_string(world.path("run.state")).unwrap();
    assert!(state.contains("denied") && !state.contains("TMPDIR="), "{state}");
}
