//! The checks. Each panics with what does not hold.

use louver::budget::Budget;
use louver::json::{Cursor, JsonError, Kind, Problem, text};
use louver::legality::{RepairError, check, repair};
use louver::policy::{MessagesConfig, TABLE};
use louver::trim::{TrimError, Trimmed, trim};
use louver::window::{Record, Window, WindowConfig};
use louver::wire::{Body, Format, Message, Role};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

/// Our cursor and `serde_json` agree on what is JSON. (`serde_json` passes a raw value without a limit on its depth
/// and without reading its numbers, so the depth of ours is the only difference.)
pub fn json(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return;
    };
    let ours = pass(source);
    let theirs = serde_json::from_str::<&RawValue>(source);
    match &ours {
        Err(error) if *error.problem() == Problem::TooDeep => return,
        Err(error) => assert!(error.offset() <= source.len(), "{error} is beyond the text"),
        Ok(()) => {}
    }
    assert_eq!(ours.is_ok(), theirs.is_ok(), "ours: {ours:?}, theirs: {theirs:?}");
    if ours.is_ok() {
        values(source);
    }
}

fn pass(source: &str) -> Result<(), JsonError> {
    let mut cursor = Cursor::new(source);
    cursor.skip()?;
    cursor.finish()
}

/// What is measured and decoded is what `serde_json` reads, where that reads it at all.
fn values(source: &str) {
    let mut cursor = Cursor::new(source);
    if let (Ok(Kind::String), Ok(theirs)) = (cursor.kind(), serde_json::from_str::<String>(source)) {
        let string = cursor.string().expect("it was passed before");
        assert_eq!(string.chars as usize, theirs.chars().count(), "characters");
        let inner = source.trim();
        assert_eq!(text::decode(&inner[1..inner.len() - 1]), theirs, "text");
    }
    let compact = text::compact(source);
    let again = text::compact(&compact).into_owned();
    assert_eq!(again, compact, "compacting twice");
    pass(&compact).expect("what was compacted is JSON");
}

/// Whatever the bytes are: no panic. Where they are a history: it is JSON, repairing makes it legal, and every policy
/// leaves a legal history legal and the bytes of what it keeps alone.
pub fn body(format: Format, bytes: &[u8]) {
    // Detection reads the same bytes in another way; only a panic would be wrong.
    drop(Body::parse_bytes(bytes, None));
    let body = match Body::parse_bytes(bytes, Some(format)) {
        Ok(body) => body,
        Err(error) => {
            assert!(error.offset() <= bytes.len(), "{error} is beyond the text");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    serde_json::from_str::<&RawValue>(body.text()).expect("what was read is JSON");
    for message in body.messages() {
        messages_stand_alone(format, message);
    }
    let is_legal = check(&body).is_empty();
    repairs(&body, is_legal);
    for row in TABLE {
        for (messages, budget) in settings() {
            let mut policy = row.kind();
            if let Some(own) = policy.messages_mut() {
                *own = messages;
            }
            trims(&body, row.name, WindowConfig::new(format, policy).with_budget(budget), is_legal);
        }
    }
}

fn messages_stand_alone(format: Format, message: &Message) {
    // A bare `input` string of Responses is a history, but no message that could stand in a list.
    if message.raw().starts_with('{') {
        let again = Message::parse(format, message.raw()).expect("a message is one without its body, too");
        assert_eq!(&again, message);
    }
    for part in &message.shape().parts {
        let _ = (message.text_of(part), message.name_of(part), message.id_of(part), message.own_id_of(part));
    }
}

fn repairs(body: &Body, is_legal: bool) {
    let repaired = match repair(body) {
        Ok(repaired) => repaired,
        Err(RepairError::Unmended { left, .. }) => {
            // Marks outside the history and on compactions are not ours to drop.
            assert!(left.iter().all(|violation| violation.rule == "too-many-cache-marks"), "{left:?}");
            return;
        }
        Err(error) => panic!("what repair writes can be read: {error:?}"),
    };
    if is_legal {
        assert_eq!(repaired.json, body.text(), "a legal history is repaired to itself");
        return;
    }
    let again = Body::parse(&repaired.json, Some(body.format())).expect("a repaired history can be read");
    // There is no legal history without a message.
    if !again.messages().is_empty() {
        assert_eq!(check(&again), [], "the repaired history {}", repaired.json);
    }
}

fn settings() -> [(MessagesConfig, Option<Budget>); 2] {
    let small = MessagesConfig { max_messages: 3, preserve_first_n: 1, preserve_last_n: 1, summarize_on_trim: false };
    let tail = MessagesConfig { preserve_first_n: 0, max_messages: 2, ..small };
    [(small, 150), (tail, 60)].map(|(messages, window)| (messages, Budget::new(window, Some(5)).ok()))
}

fn trims(body: &Body, policy: &str, config: WindowConfig, is_legal: bool) {
    let trimmed = match trim(body, config) {
        Ok(trimmed) => trimmed,
        Err(TrimError::Overflow(overflow)) => {
            assert!(overflow.floor_tokens > overflow.allowed_tokens, "{policy} gave up although it fits: {overflow}");
            return;
        }
        Err(error) => panic!("{policy}: {error}"),
    };
    let again = Body::parse(&trimmed.json, Some(body.format())).expect("a trimmed history can be read");
    if is_legal {
        assert_eq!(check(&again), [], "{policy} made it illegal: {}", trimmed.json);
    }
    keeps_bytes(body, &again, policy, &trimmed);
}

/// Kept and left out are the whole input, and what is kept and not edited is sent in order, byte for byte.
fn keeps_bytes(body: &Body, again: &Body, policy: &str, trimmed: &Trimmed) {
    let report = &trimmed.report;
    let all: BTreeSet<usize> = report.kept.iter().chain(&report.evicted).copied().collect();
    let count = report.kept.len() + report.evicted.len();
    assert_eq!((all.len(), count), (body.messages().len(), body.messages().len()), "{policy} lost or doubled messages");
    let untouched = report.kept.iter().filter(|index| !report.edited.contains(index));
    let mut sent = again.messages().iter();
    for index in untouched {
        let raw = body.messages()[*index].raw();
        assert!(
            sent.any(|message| message.raw() == raw),
            "{policy} changed or moved message {index}: {}",
            trimmed.json
        );
    }
}

/// Whatever lines somebody says are records of a window: no panic. Where they open, the window can be gone on with, and
/// what it records opens again as what it is.
pub fn records(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let records: Vec<Record> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let header = records.iter().find_map(|record| match record {
        Record::Louver { format, .. } => Some(*format),
        _ => None,
    });
    let format = header.unwrap_or(Format::OpenAiChat);
    for row in TABLE {
        let budget = Budget::new(150, Some(5)).ok();
        let config = WindowConfig::new(format, row.kind()).with_budget(budget);
        if let Ok(window) = Window::open(config, records.clone()) {
            goes_on(window, row.name);
        }
    }
}

fn goes_on(mut window: Window, policy: &str) {
    reopens(&window, policy);
    let job = window.open_job().map(|job| job.id);
    let _ = window.fit();
    if let Some(job) = job {
        window.answer(job, Ok(louver::condense::Summary::new("Well.")));
    }
    for role in [Role::User, Role::Assistant, Role::User] {
        window.push(Message::synthetic(window.format(), role, "And then?").expect("every format can say something"));
        let _ = window.fit();
    }
    reopens(&window, policy);
}

fn reopens(window: &Window, policy: &str) {
    let sent = |window: &Window| window.view().iter().map(|sent| sent.message.raw().to_owned()).collect::<Vec<_>>();
    assert_eq!(window.view().len(), sent(window).len(), "{policy}: the view has another length than it says");
    let lines = window.records_since(0).map(|record| serde_json::to_string(&record).expect("a record can be written"));
    let records = lines.map(|line| serde_json::from_str(&line).expect("a record can be read"));
    let again = Window::open(window.config().clone(), records).expect("what was opened opens again");
    assert_eq!(sent(&again), sent(window), "{policy}: another view");
    assert_eq!(again.metrics(), window.metrics(), "{policy}: other figures");
}
