//! A record gives the same view again, and holds nothing of the conversation.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

#[path = "../../louver/tests/corpus/mod.rs"]
mod corpus;

use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::policy::PolicyKind;
use louver::window::{Event, Log, Window, WindowConfig};
use louver::wire::{Format, Message, PartKind};
use louver_proxy::conversation::{Chain, NewText, Piece, ViewRecord};
use std::sync::Arc;

/// Lives through a conversation and calls `each` after every request with the window and all records so far.
fn live(config: &WindowConfig, messages: &[Arc<Message>], mut each: impl FnMut(&Window, &[ViewRecord])) {
    let mut window = Window::new(config.clone()).unwrap();
    let mut records: Vec<ViewRecord> = Vec::new();
    for (at, _) in Log::of_transcript(messages.to_vec()).events {
        while window.len() < at {
            window.push(Arc::clone(&messages[window.len()]));
        }
        let Ok(fit) = window.fit() else { return };
        if fit.is_cut() {
            let chain = chain_of(config.format, &messages[..at]);
            let record = ViewRecord::of(&window, &chain);
            record.check(config.format, window.view().iter().map(|sent| sent.message)).unwrap();
            // What is stored is what counts.
            records.push(serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap());
        }
        each(&window, &records);
    }
}

fn chain_of(format: Format, messages: &[Arc<Message>]) -> Chain {
    Chain::of(format, messages.iter().map(|message| &**message))
}

/// The window of some messages and records alone.
fn opened(config: &WindowConfig, messages: &[Arc<Message>], records: &[ViewRecord]) -> Window {
    let all: Vec<&Message> = messages.iter().map(|message| &**message).collect();
    let chain = chain_of(config.format, messages);
    let mut events = Vec::new();
    let mut earlier = None;
    let mut waiting = records.iter().peekable();
    for (at, _) in Log::of_transcript(messages.to_vec()).events {
        let here = waiting.next_if(|record| record.messages <= chain.count_before(at));
        let decision = here.map(|record| {
            let part = chain_of(config.format, &messages[..at]);
            let decision = record.decision(earlier, config.format, &all[..at], &part).unwrap();
            earlier = Some(record);
            Box::new(decision)
        });
        events.push((at, Event::Fitted(decision)));
    }
    Window::restore(config.clone(), Log { messages: messages.to_vec(), events }).unwrap()
}

fn raws(window: &Window) -> Vec<&str> {
    window.view().iter().map(|sent| sent.message.raw()).collect()
}

fn config(format: Format, policy: &str, context_window: u64) -> WindowConfig {
    let mut config = WindowConfig::new(format, policy.parse::<PolicyKind>().unwrap());
    config.budget = Some(Budget::new(context_window, Some(context_window / 8)).unwrap());
    if format == Format::Anthropic {
        config.thinking = ThinkingBinding::Prefix;
    }
    config
}

/// Everything that a record says in words of its own.
fn own_words(record: &ViewRecord) -> impl Iterator<Item = &str> {
    let edited = record.edited.iter().filter_map(|edited| match &edited.text {
        NewText::Text(pieces) => Some(pieces),
        NewText::Dropped => None,
    });
    let pieces = record.ours.iter().map(|ours| &ours.text).chain(edited).flatten();
    pieces.filter_map(|piece| match piece {
        Piece::Ours(words) => Some(words.as_str()),
        Piece::Quote(_) => None,
    })
}

/// Whether words can be ours: headings, addresses, markers.
fn are_ours(words: &str) -> bool {
    const OURS: [&str; 17] = [
        "[Conversation Ledger]",
        "earlier messages are folded here:",
        "What they said last about each name follows.",
        "Requests:",
        "Files written:",
        "Commands:",
        "Lines:",
        "Files read:",
        "Names:",
        "-> done",
        "-> failed",
        "-> no result",
        "characters left out",
        "; lines about errors among them:",
        "[Old tool result cleared]",
        "[left out]",
        "[Earlier messages were left out]",
    ];
    let mut rest = words.to_owned();
    for ours in OURS {
        rest = rest.replace(ours, "");
    }
    let is_address = |word: &str| {
        let inner = word.trim_matches(['[', ']', '.', ';']);
        inner.trim_start_matches("louver:").chars().all(|c| c.is_ascii_digit() || "-,".contains(c))
    };
    rest.split_whitespace().all(is_address)
}

#[test]
fn a_record_of_a_real_conversation_gives_the_same_view_and_holds_no_text() {
    let Some(folder) = corpus::folder() else { return };
    let (mut cuts, mut bytes) = (0, 0);
    for (name, body) in corpus::bodies(&folder) {
        let (format, messages) = (body.format(), body.messages());
        // A ledger still quotes thinking, which no place in the chain names: such a record has words of the conversation.
        let thinks = messages.iter().any(|message| message.shape().has(PartKind::Thinking));
        for (policy, size) in
            [("ladder", 24_000), ("ladder-careful", 60_000), ("ladder-lean", 9_000), ("clear-tools", 120_000)]
        {
            let config = config(format, policy, size);
            let mut last = None;
            live(&config, messages, |window, records| last = Some((window.clone(), records.to_vec())));
            let Some((window, records)) = last.filter(|(_, records)| !records.is_empty()) else { continue };
            cuts += records.len();
            let again = opened(&config, &messages[..window.len()], &records);
            assert_eq!(raws(&again), raws(&window), "{name} {policy} at {}", window.len());
            for record in &records {
                bytes += serde_json::to_string(record).unwrap().len();
                let strange: Vec<&str> = own_words(record).filter(|words| !are_ours(words)).collect();
                assert!(thinks || strange.is_empty(), "{name} {policy}: {strange:?}");
            }
        }
    }
    println!("{cuts} cuts, {} bytes each", bytes / cuts.max(1));
}
