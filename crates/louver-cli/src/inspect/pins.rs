//! Which messages a policy always keeps.

use crate::window::Window;
use louver::wire::{Body, Role};
use std::ops::Range;

/// For each message, whether the policy's configuration protects it: a unit that touches head or tail stays whole.
pub(super) fn pins(window: &Window, units: &[Range<usize>], body: &Body) -> Vec<bool> {
    let messages = body.messages().len();
    let (first, last) = (window.messages.preserve_first_n, window.messages.preserve_last_n);
    let (head, tail) = match window.policy.name {
        "messages" => (first, messages.saturating_sub(last)),
        // The token window may have to cut into the message window's tail.
        "both" => (first.min(1), messages),
        "newest" => (instructions(body), messages),
        "everything" | "mask" | "clear-tools" => (messages, messages),
        name if is_ladder(name) => (instructions(body) + 1, messages),
        _ => (1, messages),
    };
    let mut pins = vec![false; messages];
    for unit in units.iter().filter(|unit| unit.start < head || unit.end > tail) {
        pins[unit.clone()].fill(true);
    }
    if is_ladder(window.policy.name) {
        let latest = latest_request(body);
        for unit in units.iter().filter(|unit| latest.is_some_and(|index| unit.contains(&index))) {
            pins[unit.clone()].fill(true);
        }
    }
    pins
}

/// What is pinned, in words.
pub(super) fn spoken(window: &Window) -> String {
    let (first, last) = (window.messages.preserve_first_n, window.messages.preserve_last_n);
    match window.policy.name {
        "messages" => format!("first {first}, last {last}"),
        "newest" => "system messages at the start".to_owned(),
        "everything" | "mask" | "clear-tools" => "all".to_owned(),
        name if is_ladder(name) => "first and latest request".to_owned(),
        _ => "first message".to_owned(),
    }
}

fn is_ladder(name: &str) -> bool {
    name.starts_with("ladder")
}

/// The last message in which the user says something, tool results apart.
fn latest_request(body: &Body) -> Option<usize> {
    body.messages().iter().rposition(|message| message.shape().is_request())
}

fn instructions(body: &Body) -> usize {
    let roles = body.messages().iter().map(|message| message.shape().role);
    roles.take_while(|role| matches!(role, Role::System | Role::Developer)).count()
}
