//! Which messages a policy always keeps: as the policy itself says.

use crate::budget::Budget;
use crate::display::grouped;
use crate::plan::Pins;
use crate::window::{Log, Window, WindowConfig};
use crate::wire::Body;

/// A window that any policy can say its pins under, where none is known.
const ANY_WINDOW: u64 = 1_000_000;

/// What a policy keeps of a conversation, whatever happens.
#[derive(Debug)]
pub(super) struct Pinned {
    /// For each message whether it stays.
    pub(super) messages: Vec<bool>,
    /// The same in words.
    pub(super) spoken: String,
}

impl Pinned {
    pub(super) fn of(config: &WindowConfig, body: &Body) -> Self {
        let log = Log { messages: body.messages().to_vec(), events: Vec::new() };
        let len = log.messages.len();
        let budget = config.budget.or_else(|| Budget::new(ANY_WINDOW, None).ok());
        let config = config.clone().with_budget(budget);
        let Ok(engine) = Window::restore(config, log) else {
            return Self { messages: vec![false; len], spoken: String::new() };
        };
        let pins = engine.pins();
        let mut messages = vec![false; len];
        for unit in engine.units() {
            let is_held = engine.is_held(unit.start);
            let is_pinned = is_held || pins.touch(&unit) || unit.end > pins.recent_start;
            messages[unit].fill(is_pinned);
        }
        Self { messages, spoken: spoken(&pins, len) }
    }
}

fn spoken(pins: &Pins, len: usize) -> String {
    if pins.head_end >= len {
        return "all".to_owned();
    }
    let mut words = Vec::new();
    if pins.head_end > 0 {
        words.push(format!("first {}", pins.head_end));
    }
    match pins.others.as_slice() {
        [] => {}
        [one] => words.push(format!("number {one}")),
        others => words.push(format!("{} messages between", grouped(others.len() as u64))),
    }
    if pins.tail_start < len {
        words.push(format!("last {}", len - pins.tail_start));
    }
    if pins.recent_start < len {
        words.push(format!("recent {}", len - pins.recent_start));
    }
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
