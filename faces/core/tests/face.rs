//! What every face relies on.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use louver_face::{Conversations, Fault, Frame, Live, Sent, Settings, Texts, functions};
use serde_json::{Value, json};
use std::sync::Arc;

fn settings(given: Value) -> Result<Settings, Fault> {
    Settings::read(serde_json::from_value(given).unwrap())
}

fn live(given: Value) -> Live {
    let settings = settings(given).unwrap();
    Live::new(settings.resolve_for(settings.wire_format().unwrap(), None, None).unwrap(), None).unwrap()
}

/// Questions and answers, the first one as it is said.
fn talk(first: &str, len: usize) -> Texts {
    let content = |index| if index == 0 { first.to_owned() } else { format!("{index} {}", "word ".repeat(50)) };
    let role = |index| if index % 2 == 0 { "user" } else { "assistant" };
    (0..len).map(|index| json!({ "role": role(index), "content": content(index) }).to_string()).collect()
}

const SMALL: &str = r#"{"format": "openai-chat", "counter": "chars4", "context_window": 1500, "max_output": 500}"#;

fn small() -> Value {
    serde_json::from_str(SMALL).unwrap()
}

#[test]
fn settings_are_told_by_name_and_type() {
    assert!(settings(json!({ "model": null, "pin": ["a"], "summarize": true })).is_ok());
    let unknown = settings(json!({ "polcy": "both" })).unwrap_err();
    assert!(matches!(&unknown, Fault::Usage(message) if message.contains("`polcy` is no setting")), "{unknown}");
    let typed = settings(json!({ "max_output": "many" })).unwrap_err();
    assert!(matches!(&typed, Fault::Usage(message) if message.contains("`max_output`")), "{typed}");
    assert!(matches!(settings(json!({ "policy": "bouth" })), Err(Fault::Settings(_))));
    assert!(matches!(settings(json!({})).unwrap().wire_format(), Err(Fault::Settings(_))));
}

#[test]
fn a_history_that_is_handed_over_is_followed_and_gone_back_in() {
    let (mut window, settings) = (live(small()), settings(small()).unwrap());
    let cut = window.take(&settings, &talk("Begin.", 41), None).unwrap().unwrap();
    assert!(cut.is_cut && window.window().len() == 41);
    let view: Vec<_> = window.sent().iter().map(Sent::origin).collect();
    window.take(&settings, &talk("Begin.", 41), None).unwrap();
    assert_eq!(window.sent().iter().map(Sent::origin).collect::<Vec<_>>(), view, "nothing new, nothing changes");
    window.take(&settings, &talk("Begin elsewhere.", 3), None).unwrap();
    assert_eq!(window.window().len(), 3);
    assert!(window.window().original(0).unwrap().raw().contains("elsewhere"));
}

#[test]
fn what_cannot_be_read_changes_nothing_and_says_where() {
    let (mut window, settings) = (live(small()), settings(small()).unwrap());
    window.take(&settings, &talk("Begin.", 3), None).unwrap();
    let broken: Texts = [talk("Begin.", 1).raw(0), r#"{"role":7}"#].into_iter().collect();
    let fault = window.take(&settings, &broken, None).unwrap_err();
    assert!(matches!(&fault, Fault::Input { path, .. } if path == "$[1].role"), "{fault:?}");
    assert_eq!(window.window().len(), 3);
    assert!(matches!(window.extend(&broken), Err(Fault::Input { .. })));
    assert_eq!(window.window().len(), 3, "none where one cannot be read");
}

#[test]
fn requests_find_their_conversation() {
    let mut known = Conversations::new(settings(small()).unwrap(), 2).unwrap();
    let frame = || Frame::read(r#"{"model":"gpt-4","messages":[]}"#.to_owned(), known_format()).unwrap();
    let first = known.fit(&talk("One.", 3), Some(&frame())).unwrap().conversation;
    let second = known.fit(&talk("Two.", 3), Some(&frame())).unwrap().conversation;
    assert_ne!(first, second);
    let grown = known.fit(&talk("One.", 41), Some(&frame())).unwrap();
    assert!(grown.conversation == first && grown.len == 41 && grown.view.unwrap().len() < 41);
    known.fit(&talk("Three.", 1), None).unwrap();
    assert_eq!(known.len(), 2);
    assert_ne!(known.fit(&talk("Two.", 3), Some(&frame())).unwrap().conversation, second, "it was forgotten");
}

fn known_format() -> louver::Format {
    louver::Format::OpenAiChat
}

#[test]
fn a_floor_that_is_too_high_is_told_with_the_largest_message() {
    let (mut window, settings) = (live(small()), settings(small()).unwrap());
    let fault = window.take(&settings, &talk(&"word ".repeat(5_000), 1), None).unwrap_err();
    let Fault::Overflow(overflow) = fault else { panic!("{fault}") };
    assert!(overflow.floor_tokens > overflow.allowed_tokens && overflow.largest.unwrap().index == 0);
}

#[test]
fn what_needs_nothing_is_not_written_again() {
    let body = louver::Body::parse(r#"[{"role":"user","content":"Hi"}]"#, None).unwrap();
    let (output, _) = functions::trim(&body, &settings(json!({ "model": "gpt-5" })).unwrap()).unwrap();
    assert!(output.is_none() && functions::repair(&body).unwrap().output.is_none());
}

#[test]
fn joined_texts_are_the_same_messages() {
    let texts = Texts::joined(" {\n} \0[]\0".to_owned());
    assert_eq!((texts.len(), texts.raw(0), texts.raw(1), texts.raw(2)), (3, "{\n}", "[]", ""));
}

#[test]
fn shared_texts_stand_among_those_that_are_written() {
    let mut texts: Texts = ["{}", "[]"].into_iter().collect();
    texts.share("null".into());
    texts.push(" 1 ");
    texts.share_last(|raw| Some(raw.into()));
    texts.push("2");
    texts.share_last(|_| None);
    let all: Vec<_> = (0..=texts.len()).map(|index| texts.raw(index)).collect();
    assert_eq!(all, ["{}", "[]", "null", "1", "2", ""]);
}

#[test]
fn a_text_that_came_before_is_the_same_message_wherever_it_stands() {
    let messages: Vec<Arc<str>> =
        (0..4).map(|n| json!({ "role": "user", "content": n.to_string() }).to_string().into()).collect();
    let texts = |order: &[usize]| {
        let mut texts = Texts::default();
        order.iter().for_each(|at| texts.share(messages[*at].clone()));
        texts
    };
    let settings = json!({ "format": "openai-chat", "context_window": 9_000, "policy": "everything" });
    let (mut window, settings) = (live(settings.clone()), self::settings(settings).unwrap());
    for order in [&[0, 1, 2][..], &[0, 1, 2, 3], &[0, 2, 1], &[0, 2, 1, 1, 3], &[3], &[0, 1]] {
        window.take(&settings, &texts(order), None).unwrap();
        window.push(&messages[3]).unwrap();
        window.take(&settings, &texts(order), None).unwrap();
        let log: Vec<_> = (0..window.window().len()).map(|at| window.window().original(at).unwrap().raw()).collect();
        assert_eq!(log, order.iter().map(|at| &*messages[*at]).collect::<Vec<_>>());
    }
}

#[test]
fn a_list_is_split_where_its_messages_end() {
    let messages = [
        json!({ "a": "],}\"\\\"," }),
        json!({ "b": [1, { "c": [] }], "\\": "\\" }),
        json!([]),
        json!("\\"),
        json!(null),
    ];
    for len in 0..=messages.len() {
        let texts = Texts::list(json!(messages[..len]).to_string());
        let split: Vec<_> = (0..texts.len()).map(|index| texts.raw(index).to_owned()).collect();
        assert_eq!(split, messages[..len].iter().map(Value::to_string).collect::<Vec<_>>());
    }
    for broken in ["", "[", "[\"", "[\"\\", "]]", "{}}"] {
        Texts::list(broken.to_owned());
    }
}

/// A request as clients write it that mark the last message of the user, so that the provider caches up to there.
fn marked_talk(len: usize, is_bare: bool) -> Texts {
    let mark = json!({ "type": "ephemeral" });
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        let text = format!("{index} cache_control {}", "word ".repeat(50));
        let content = match index + 1 == len {
            true => json!([{ "type": "text", "text": text, "cache_control": mark }]),
            false if is_bare => json!(text),
            false => json!([{ "type": "text", "text": text }]),
        };
        json!({ "role": role, "content": content }).to_string()
    };
    (0..len).map(message).collect()
}

#[test]
fn a_mark_that_moves_on_is_no_other_history() {
    let given = json!({ "format": "anthropic", "counter": "chars4", "context_window": 3_000, "max_output": 500 });
    for is_bare in [false, true] {
        let mut known = Conversations::new(settings(given.clone()).unwrap(), 8).unwrap();
        let (mut window, settings) = (live(given.clone()), settings(given.clone()).unwrap());
        let (mut cuts, mut before) = (0, Vec::new());
        for turn in 0..40 {
            let texts = marked_talk(2 * turn + 1, is_bare);
            let asked = known.fit(&texts, None).unwrap();
            assert_eq!(asked.conversation, 1, "turn {turn}");
            let is_cut = asked.fit.unwrap().is_cut;
            let view: Vec<_> = asked.view.unwrap().iter().map(Sent::origin).collect();
            assert!(is_cut || view.starts_with(&before), "turn {turn}: {view:?} after {before:?}");
            cuts += usize::from(is_cut);
            before = view;
            assert!(known.report_usage(1, louver::Usage::of_input(2_000)).is_some());
            assert_eq!(window.take(&settings, &texts, None).unwrap().unwrap().is_cut, is_cut);
            window.report_usage(louver::Usage::of_input(2_000));
        }
        let events = |is_it: fn(&louver::window::Event) -> bool| {
            window.window().events().iter().filter(|(_, event)| is_it(event)).count()
        };
        assert!((1..20).contains(&cuts), "{cuts}");
        assert_eq!(events(|event| matches!(event, louver::window::Event::UsageReported { .. })), 40);
        assert_eq!(events(|event| matches!(event, louver::window::Event::Fitted(Some(_)))), cuts);
        let is_marked = |line: &String| line.contains("ephemeral");
        assert!(!window.records(0).unwrap().iter().any(is_marked), "the log never sees a mark");
    }
}

#[test]
fn a_summary_of_a_history_that_was_left_is_nobodys() {
    let given = json!({
        "format": "openai-chat", "counter": "chars4", "policy": "messages", "max_messages": 10, "preserve_last": 4,
        "summarize": true, "context_window": 100_000
    });
    let (mut window, settings) = (live(given.clone()), settings(given).unwrap());
    let late = window.take(&settings, &talk("Begin.", 41), None).unwrap().unwrap().job.unwrap();
    let asked = window.take(&settings, &talk("Begin elsewhere.", 41), None).unwrap().unwrap().job.unwrap();
    assert_ne!(late.id, asked.id);
    let answered = window.answer(late.id, "Of the first history.", 0, 0);
    assert!(!answered.is_cut && window.window().summary().is_none(), "{answered:?}");
    assert_eq!(window.open_job().map(|job| job.id), Some(asked.id));
    window.answer(asked.id, "Of the second.", 0, 0);
    assert_eq!(window.window().summary(), Some("Of the second."));
}

#[test]
fn what_was_saved_of_a_history_that_was_left_is_not_continued() {
    let given = json!({
        "format": "openai-chat", "counter": "chars4", "policy": "messages", "max_messages": 10, "preserve_last": 4,
        "context_window": 100_000
    });
    let (mut window, settings) = (live(given.clone()), settings(given).unwrap());
    let resolved = || settings.resolve_for(louver::Format::OpenAiChat, None, None).unwrap();
    window.take(&settings, &talk("Begin.", 21), None).unwrap();
    let mut saved = window.records(0).unwrap();
    window.take(&settings, &talk("Begin.", 23), None).unwrap();
    saved.extend(window.records(saved.len()).unwrap());
    assert_eq!(Live::open(resolved(), saved.clone()).unwrap().window().len(), 23);

    window.take(&settings, &talk("Begin elsewhere.", 25), None).unwrap();
    let refused = window.records(saved.len()).unwrap_err();
    assert!(refused.to_string().contains("save all of them again"), "{refused}");
    let mut saved = window.records(0).unwrap();
    window.take(&settings, &talk("Begin elsewhere.", 27), None).unwrap();
    saved.extend(window.records(saved.len()).unwrap());
    let opened = Live::open(resolved(), saved).unwrap();
    assert!(opened.window().records_since(0).eq(window.window().records_since(0)));
}
