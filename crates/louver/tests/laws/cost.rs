//! What a turn costs, in calls of the counter instead of time.

use louver::budget::Budget;
use louver::policy::PolicyKind;
use louver::tokens::{Chars4, Counter, Image, Millitokens};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, Message, Role};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Turns of a conversation whose window is long full.
const TURNS: usize = 1_200;

/// A counter that notes how many characters it was asked about.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Counter for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn stated_error(&self) -> f64 {
        Chars4.stated_error()
    }

    fn text(&self, text: &str) -> Millitokens {
        self.0.fetch_add(text.len() as u64, Ordering::Relaxed);
        Chars4.text(text)
    }

    fn by_length(&self, chars: u64) -> Option<Millitokens> {
        self.0.fetch_add(chars, Ordering::Relaxed);
        Chars4.by_length(chars)
    }

    fn image(&self, image: &Image<'_>) -> Millitokens {
        Chars4.image(image)
    }
}

/// A full window counts as much in its last third as in its second: what it does follows from what is new.
pub(crate) fn costs_no_more_later(policy: PolicyKind) {
    let name = policy.name().to_owned();
    let counter = Arc::new(Counted::default());
    let config = WindowConfig::new(Format::OpenAiChat, policy).with_budget(Budget::new(3_000, Some(100)).unwrap());
    let mut window = Window::new(config.with_counter(Arc::clone(&counter) as Arc<dyn Counter>)).unwrap();
    let mut thirds = [0; 3];
    for turn in 0..TURNS {
        let role = if turn % 2 == 0 { Role::User } else { Role::Assistant };
        let text = format!("Turn {turn} is about src/file_{turn}.rs. {}", "word ".repeat(20));
        window.push(Message::synthetic(Format::OpenAiChat, role, &text).unwrap());
        window.fit().unwrap();
        assert_eq!(window.fit().unwrap().evicted, [], "law 7: a second fit cut again");
        thirds[turn * 3 / TURNS] += counter.0.swap(0, Ordering::Relaxed);
    }
    let [_, second, third] = thirds;
    assert!(third * 2 <= second * 3, "law 10: {name} counts {third} characters where it counted {second} before");
}
