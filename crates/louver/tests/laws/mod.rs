//! The laws of the design, checked on a window at every request of a conversation.

use louver::plan::{Bound, Overflow};
use louver::policy::Row;
use louver::unit::units_of;
use louver::window::{ConversationWindow, Log, Origin, WindowConfig};
use louver::wire::{Format, History, Message};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Lives through a conversation as an agent would and checks the laws at every `stride`-th request and the last. (A
/// check of the whole view costs its length, so a long conversation is sampled.)
pub(crate) fn hold(config: &WindowConfig, messages: &[Arc<Message>], stride: usize) {
    let mut window = ConversationWindow::new(config.clone()).unwrap();
    let mut sent_before: Vec<Box<str>> = Vec::new();
    let mut requests = request_points(messages).into_iter().enumerate().peekable();
    for (index, message) in messages.iter().enumerate() {
        window.push(Arc::clone(message));
        let Some((number, _)) = requests.next_if(|(_, at)| *at == index + 1) else {
            continue;
        };
        if number % stride == 0 || requests.peek().is_none() {
            request(&mut window, config, &messages[..=index], &sent_before);
        } else {
            // Only the last request is looked at, whether it failed or not.
            let _ = window.fit();
        }
        sent_before = raw_view(&window);
    }
    rebuilt_is_equal(&window, config, messages);
}

fn request_points(messages: &[Arc<Message>]) -> BTreeSet<usize> {
    Log::of_transcript(messages.to_vec()).events.into_iter().map(|(at, _)| at).collect()
}

fn request(window: &mut ConversationWindow, config: &WindowConfig, log: &[Arc<Message>], sent_before: &[Box<str>]) {
    let fit = window.fit();
    order_and_bytes(window, log);
    pins_stay(window, config, log);
    legal_stays_legal(window, log);
    conserves(window, log);
    let sent = raw_view(window);
    match &fit {
        Ok(fit) => {
            fits(window, config, log);
            if !fit.is_cut() {
                assert!(
                    sent.starts_with(sent_before),
                    "law 8: the sent prefix changed without a cut under {}",
                    config.policy
                );
            }
        }
        Err(overflow) => floor_is_named(overflow),
    }
    idempotent(window, &sent, fit.is_ok());
}

fn raw_view(window: &ConversationWindow) -> Vec<Box<str>> {
    window.view().iter().map(|sent| sent.message.raw().into()).collect()
}

fn order_and_bytes(window: &ConversationWindow, log: &[Arc<Message>]) {
    let mut last = None;
    for sent in window.view().iter() {
        if let Some(index) = sent.origin.index() {
            assert!(last.is_none_or(|last| last < index), "law 1: out of order");
            last = Some(index);
        }
        if let Origin::Kept(index) = sent.origin {
            assert_eq!(sent.message.raw(), log[index].raw(), "law 2: bytes changed");
        }
    }
}

fn kept(window: &ConversationWindow) -> BTreeSet<usize> {
    window.view().iter().filter_map(|sent| sent.origin.index()).collect()
}

fn pins_stay(window: &ConversationWindow, config: &WindowConfig, log: &[Arc<Message>]) {
    let kept = kept(window);
    let messages = &config.settings.messages;
    let pins: Vec<usize> = match config.policy.as_str() {
        "messages" => {
            let head = 0..messages.preserve_first_n.min(log.len());
            let tail = log.len().saturating_sub(messages.preserve_last_n)..log.len();
            head.chain(tail).collect()
        }
        "tokens" | "full-cut" => (0..log.len().min(1)).collect(),
        "ladder" | "ladder-lean" | "ladder-careful" => first_and_latest_request(log),
        "both" if messages.preserve_first_n > 0 => (0..log.len().min(1)).collect(),
        "everything" | "mask" | "clear-tools" => (0..log.len()).collect(),
        "both" | "newest" => Vec::new(),
        other => panic!("say what `{other}` pins"),
    };
    for pin in pins {
        assert!(kept.contains(&pin), "law 3: pin {pin} left");
    }
}

fn first_and_latest_request(log: &[Arc<Message>]) -> Vec<usize> {
    let latest = log.iter().rposition(|message| message.shape().is_request());
    (0..log.len().min(1)).chain(latest).collect()
}

fn violations(format: Format, messages: &[(Option<usize>, &Message)]) -> BTreeSet<(&'static str, Option<usize>)> {
    let history = History::of(messages.iter().map(|(_, message)| *message));
    let found = format.wire().check(&history);
    found
        .into_iter()
        .map(|violation| (violation.rule, messages.get(violation.index).and_then(|(origin, _)| *origin)))
        .collect()
}

fn legal_stays_legal(window: &ConversationWindow, log: &[Arc<Message>]) {
    let original: Vec<_> = log.iter().enumerate().map(|(index, message)| (Some(index), &**message)).collect();
    let view: Vec<_> = window.view().iter().map(|sent| (sent.origin.index(), sent.message)).collect();
    let before = violations(window.format(), &original);
    let after = violations(window.format(), &view);
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.is_empty(), "law 4: new violations {new:?}, had {before:?}\n{:#?}", raw_view(window));
}

fn fits(window: &ConversationWindow, config: &WindowConfig, log: &[Arc<Message>]) {
    match window.bound() {
        Bound::Tokens => {
            let budget = window.budget().unwrap();
            assert!(!budget.is_exceeded_by(window.tokens()), "law 5: {} tokens over {budget:?}", window.tokens());
        }
        Bound::Messages => {
            let settings = &config.settings.messages;
            let cap = settings.max_messages.max(settings.preserve_first_n + settings.preserve_last_n);
            let longest = units_of(window.format(), log.iter().map(|message| &**message)).map(|unit| unit.len()).max();
            let slack = 3 * (longest.unwrap_or(1) - 1);
            let count = window.metrics().preserved_messages;
            assert!(count <= cap + slack, "law 5: {count} messages, cap {cap}, slack {slack}");
        }
        Bound::None => {}
    }
}

fn floor_is_named(overflow: &Overflow) {
    assert!(overflow.floor_tokens > overflow.allowed_tokens, "law 5: gave up although the floor fits: {overflow}");
}

fn conserves(window: &ConversationWindow, log: &[Arc<Message>]) {
    let kept = kept(window);
    let evicted: BTreeSet<usize> = window.evicted().map(|(index, _)| index).collect();
    assert!(kept.is_disjoint(&evicted), "law 6: kept and evicted overlap");
    assert_eq!(kept.len() + evicted.len(), log.len(), "law 6: something is lost");
    for (index, message) in window.evicted() {
        assert_eq!(message.raw(), log[index].raw(), "law 6: not given back as it came");
    }
    let metrics = window.metrics();
    assert_eq!(
        (metrics.total_messages, metrics.preserved_messages, metrics.evicted_messages),
        (log.len(), kept.len(), evicted.len()),
        "law 6: metrics disagree with the lists"
    );
    let chars: u64 = window.view().iter().map(|sent| sent.message.shape().estimate_chars).sum();
    assert_eq!(metrics.estimated_tokens, chars.div_ceil(4), "law 6: the estimate is not of what is sent");
}

fn idempotent(window: &mut ConversationWindow, sent: &[Box<str>], fitted: bool) {
    let again = window.fit();
    assert_eq!(again.is_ok(), fitted);
    assert!(!again.is_ok_and(|fit| fit.is_cut()), "law 7: a second fit cut again");
    assert_eq!(raw_view(window), sent, "law 7: a second fit changed the view");
}

fn rebuilt_is_equal(window: &ConversationWindow, config: &WindowConfig, messages: &[Arc<Message>]) {
    for log in [window.log(), Log::of_transcript(messages.to_vec())] {
        let (rebuilt, _) = ConversationWindow::rebuild(config.clone(), log).unwrap();
        assert_eq!(raw_view(&rebuilt), raw_view(window), "law 9: rebuilt differs");
        assert_eq!(rebuilt.tokens(), window.tokens(), "law 9: rebuilt counts differ");
    }
}

/// Every policy of the table, so that a new row is under the laws from its first day.
pub(crate) fn policies() -> impl Iterator<Item = &'static str> {
    louver::policy::TABLE.iter().map(|row: &Row| row.name)
}
