//! A record gives the same view again, and holds nothing of the conversation.

use super::{AppliedView, Chain, Item, ViewRecord, extend, window_of};
use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::policy::PolicyKind;
use louver::window::{Log, Window, WindowConfig};
use louver::wire::{Format, History, Message};
use std::collections::BTreeMap;
use std::sync::Arc;

#[path = "../../../louver/tests/corpus/mod.rs"]
mod corpus;

fn chain_of(format: Format, messages: &[Arc<Message>]) -> Chain {
    Chain::of(format, messages.iter().map(|message| &**message))
}

fn raws<'v>(view: &'v AppliedView, messages: &'v [Arc<Message>]) -> Vec<&'v str> {
    let raw = |item: Item<'v>| match item {
        Item::Kept(index) => messages[index].raw(),
        Item::Edited(_, message) | Item::Ours(message) => message.raw(),
    };
    view.items(messages.len()).map(raw).collect()
}

fn sent(window: &Window) -> Vec<&str> {
    window.view().iter().map(|sent| sent.message.raw()).collect()
}

fn config(format: Format, policy: &str, context_window: u64) -> WindowConfig {
    let mut policy: PolicyKind = policy.parse().unwrap();
    if let Some(ladder) = policy.ladder_mut() {
        ladder.quote_thinking = false;
    }
    let mut config = WindowConfig::new(format, policy);
    config.budget = Some(Budget::new(context_window, Some(context_window / 8)).unwrap());
    config.ledger_heading = Some("0123456789ab To have message 12 back: louver recall --archive".to_owned());
    if format == Format::Anthropic {
        config.thinking = ThinkingBinding::Prefix;
    }
    config
}

/// Rules that a history breaks, and how often.
fn findings<'m>(format: Format, messages: impl Iterator<Item = &'m Message>) -> BTreeMap<&'static str, usize> {
    let history = History::of(messages);
    let mut found = BTreeMap::new();
    for violation in format.wire().check(&history) {
        *found.entry(violation.rule).or_default() += 1;
    }
    found
}

/// Lives through a conversation as the proxy does: what is sent is what the last record says.
struct Lived {
    records: Vec<ViewRecord>,
    view: Option<AppliedView>,
    /// How often the record's view is another than the engine's own.
    other: usize,
}

fn live(name: &str, config: &WindowConfig, messages: &[Arc<Message>]) -> Lived {
    let format = config.format;
    let mut lived = Lived { records: Vec::new(), view: None, other: 0 };
    let mut base = Window::new(config.clone()).unwrap();
    let before = findings(format, messages.iter().map(|message| &**message));
    for (at, _) in Log::of_transcript(messages.to_vec()).events {
        let log = &messages[..at];
        extend(&mut base, log);
        let mut window = base.clone();
        let Ok(fit) = window.fit() else { return lived };
        if fit.is_cut() {
            let chain = chain_of(format, log);
            let record = ViewRecord::of(&window, &chain);
            // What is stored is what counts.
            let record = ViewRecord::parse(&record.to_bytes().unwrap()).unwrap();
            let view = record.apply(format, log, &chain).unwrap();
            base = window_of(config.clone(), log, Some(&view)).unwrap();
            assert_eq!(sent(&base), raws(&view, log), "{name} at {at}: the window shows what is sent");
            assert!(!base.is_over(), "{name} at {at}: it fits");
            lived.other += usize::from(sent(&window) != sent(&base));
            let now = findings(format, base.view().iter().map(|sent| sent.message));
            let is_new = |(rule, count): (&&str, &usize)| before.get(*rule).is_none_or(|old| old < count);
            assert!(!now.iter().any(is_new), "{name} at {at}: {now:?} where the history has {before:?}");
            lived.records.push(record);
            lived.view = Some(view);
        }
    }
    lived
}

/// Everything that a record says in words of its own.
fn own_words(record: &ViewRecord) -> impl Iterator<Item = &str> {
    use super::quote::Piece;
    let edited = record.edited.iter().filter_map(|edited| edited.text.as_ref());
    let pieces = record.ours.iter().map(|ours| &ours.text).chain(edited).flatten();
    pieces.filter_map(|piece| match piece {
        Piece::Ours(words) => Some(words.as_str()),
        Piece::Quote(_) => None,
    })
}

/// Whether words can be ours: headings, addresses, markers.
fn are_ours(words: &str) -> bool {
    const OURS: [&str; 24] = [
        "[Conversation Ledger] 0123456789ab To have message 12 back: louver recall --archive",
        "earlier messages are folded here:",
        "What matters of them follows, oldest first.",
        "Requests and what came of them:",
        "] user:",
        "Concluded:",
        "Demanded:",
        "Steps, as last written down:",
        "] open:",
        "] done:",
        "Commands, each with what came of it last:",
        "Files written:",
        "Quoted, file by file:",
        "-> done",
        "-> failed",
        "-> no result",
        "\n-> [",
        "] $",
        "\n…",
        "characters left out",
        "; lines about errors among them:",
        "[Old tool result cleared]",
        "[left out]",
        "[Earlier messages were left out]",
    ];
    let rest = OURS.iter().fold(words.to_owned(), |rest, ours| rest.replace(ours, ""));
    let is_address = |word: &str| {
        let inner = word.trim_matches(['[', ']', '.', ';', ':']);
        inner.trim_start_matches("louver:").chars().all(|c| c.is_ascii_digit() || "-,".contains(c))
    };
    rest.split_whitespace().all(is_address)
}

#[test]
fn a_record_of_a_real_conversation_gives_the_same_view_and_holds_no_text() {
    let Some(folder) = corpus::folder() else { return };
    let (mut cuts, mut bytes, mut other) = (0, 0, 0);
    let settings = [("ladder", 24_000), ("ladder-careful", 60_000), ("ladder-lean", 9_000), ("clear-tools", 120_000)];
    // One setting for each conversation, and all with LOUVER_FULL=1.
    let is_full = std::env::var_os("LOUVER_FULL").is_some_and(|value| value == "1");
    for (number, (name, body)) in corpus::bodies(&folder).into_iter().enumerate() {
        let (format, messages) = (body.format(), body.messages());
        let chain = chain_of(format, messages);
        for (policy, size) in
            settings.into_iter().enumerate().filter(|(at, _)| is_full || *at == number % 4).map(|(_, s)| s)
        {
            let lived = live(&name, &config(format, policy, size), messages);
            other += lived.other;
            cuts += lived.records.len();
            // Whoever meets the whole conversation later makes the same of the last record.
            if let (Some(record), Some(view)) = (lived.records.last(), &lived.view) {
                let again = record.apply(format, messages, &chain).unwrap();
                assert_eq!(raws(&again, messages), raws(view, messages), "{name} {policy}");
            }
            for record in &lived.records {
                bytes += record.to_bytes().unwrap().len();
                let strange: Vec<&str> = own_words(record).filter(|words| !are_ours(words)).collect();
                assert!(strange.is_empty(), "{name} {policy}: {strange:?}");
            }
        }
    }
    println!("{cuts} cuts, {other} of them not as the engine has them, {} bytes each", bytes / cuts.max(1));
    assert!(cuts > 400 && other * 20 < cuts, "{other} of {cuts} records are not what the engine decided");
}
