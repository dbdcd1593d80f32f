//! A slice of `e2e/faults.py`, which does much more to the same binary.

use super::louver_with;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const WIRES: [&str; 3] = ["messages", "chat", "responses"];

/// A streamed answer that calls tools: id, name and arguments of each.
fn answer(wire: &str, calls: &[(&str, &str, &str)]) -> String {
    let events: Vec<Value> = match wire {
        "messages" => {
            let block = |(index, (id, name, arguments)): (usize, &(&str, &str, &str))| {
                let start = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                let delta = json!({"type": "input_json_delta", "partial_json": arguments});
                [
                    json!({"type": "content_block_start", "index": index, "content_block": start}),
                    json!({"type": "content_block_delta", "index": index, "delta": delta}),
                ]
            };
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
            calls.iter().enumerate().flat_map(block).chain([end, json!({"type": "message_stop"})]).collect()
        }
        "chat" => {
            let call = |(index, (id, name, arguments)): (usize, &(&str, &str, &str))| {
                let call = json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
                json!({"choices": [{"delta": {"tool_calls": [call]}}]})
            };
            let end = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
            calls.iter().enumerate().map(call).chain([end]).collect()
        }
        _ => {
            let item = |(index, (id, name, arguments)): (usize, &(&str, &str, &str))| {
                let item = json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
                json!({"type": "response.output_item.done", "output_index": index, "item": item})
            };
            let end = json!({"type": "response.completed", "response": {"status": "completed"}});
            calls.iter().enumerate().map(item).chain([end]).collect()
        }
    };
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

fn done(wire: &str) -> String {
    answer(wire, &[("end", "task_complete", r#"{"summary":"All done."}"#)])
}

fn reading(wire: &str, ids: &[&str]) -> String {
    let calls: Vec<_> = ids.iter().map(|id| (*id, "read_file", r#"{"path":"TASK.md"}"#)).collect();
    answer(wire, &calls)
}

/// Runs a task against a server that gives these answers, the last one again and again; how it ended, and what was asked.
fn run(wire: &str, content_type: &'static str, answers: Vec<String>) -> (super::Run, Vec<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let body = read_request(&mut socket);
            let number = seen.lock().unwrap().len();
            seen.lock().unwrap().push(body);
            let said = &answers[number.min(answers.len() - 1)];
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n");
            let _ = socket.write_all(format!("{head}{said}").as_bytes());
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("TASK.md"), "Look around.").unwrap();
    std::fs::write(path("config.yml"), format!("provider: {{type: sandbox, wire: {wire}, base_url: '{url}'}}"))
        .unwrap();
    let root = folder.path().display();
    let run = louver_with(&format!("run {} --config {} --root {root}", path("TASK.md"), path("config.yml")), "");
    let asked = asked.lock().unwrap().clone();
    (run, asked)
}

fn read_request(socket: &mut TcpStream) -> Value {
    let mut bytes = Vec::new();
    let mut chunk = [0; 65536];
    loop {
        let read = socket.read(&mut chunk).unwrap_or(0);
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if read == 0 || body.len() >= length.unwrap_or(0) {
            return serde_json::from_str(body).unwrap_or_default();
        }
    }
}

#[test]
fn half_an_answer_is_asked_for_again_and_nothing_is_doubled() {
    for wire in WIRES {
        let whole = reading(wire, &["first"]);
        let half = whole[..whole.len() - 60].to_owned();
        let (run, asked) = run(wire, "text/event-stream", vec![half, whole, done(wire)]);
        assert_eq!((run.code, asked.len()), (0, 3), "{wire}: {}", run.stderr);
        assert_eq!(asked[0], asked[1], "{wire}: the same is asked again");
        let history = asked[2].to_string();
        assert_eq!(history.matches("\"first\"").count(), 2, "{wire}: one call, one result: {history}");
    }
}

#[test]
fn ids_that_are_empty_or_used_before_are_not_sent_back() {
    for wire in WIRES {
        let answers = vec![reading(wire, &["same", "same", ""]), reading(wire, &["same"]), done(wire)];
        let (run, asked) = run(wire, "text/event-stream", answers);
        assert_eq!((run.code, asked.len()), (0, 3), "{wire}: {}", run.stderr);
        assert_eq!(asked[2].to_string().matches("\"same\"").count(), 2, "{wire}: one call, one result");
        assert!(!asked[2].to_string().contains("id\":\"\""), "{wire}");
    }
}

#[test]
fn a_web_page_ends_the_run_at_once_and_is_called_one() {
    for wire in WIRES {
        let (run, asked) = run(wire, "text/html", vec!["<html><title>Sign in</title></html>".to_owned()]);
        assert_eq!((run.code, asked.len()), (3, 1), "{wire}: {}", run.stderr);
        assert!(run.stderr.contains("a web page (HTML), not an answer of the API: Sign in"), "{wire}: {}", run.stderr);
    }
}
