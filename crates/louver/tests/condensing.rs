//! Jobs out, summaries in.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver::budget::Budget;
use louver::condense::{CondenseJob, Outcome, Rejection, SUMMARY_MAX_TOKENS, SUMMARY_PROMPT, Summary};
use louver::policy::{MessagesConfig, PolicyKind, TokensConfig};
use louver::report::Report;
use louver::window::{Event, Log, Origin, Usage, Window, WindowConfig};
use louver::wire::{Format, History, Message, Role};
use serde_json::json;
use std::sync::Arc;

fn say(role: &str, text: &str) -> Message {
    Message::parse(Format::OpenAiChat, &json!({ "role": role, "content": text }).to_string()).unwrap()
}

/// A cap of four: the first message, and the last three.
fn capped() -> WindowConfig {
    let cap = MessagesConfig { max_messages: 4, preserve_first_n: 1, preserve_last_n: 3, summarize_on_trim: true };
    WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap))
}

fn push_numbered(window: &mut Window, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        window.push(say(role, &format!("Message {number} says something of some length about the task at hand.")));
    }
}

fn summary(text: &str) -> Result<Summary, String> {
    Ok(Summary::new(text))
}

fn job(window: &mut Window) -> Option<CondenseJob> {
    window.fit().unwrap().job
}

fn covered(job: &CondenseJob) -> Vec<usize> {
    job.covers.iter().cloned().flatten().collect()
}

fn texts(window: &Window) -> Vec<String> {
    window.view().iter().map(|sent| sent.message.text_of(&sent.message.shape().parts[0]).into_owned()).collect()
}

#[test]
fn a_summary_stands_right_after_the_head_and_is_marked() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..20);
    let job = job(&mut window).unwrap();
    assert_eq!(job.max_tokens, SUMMARY_MAX_TOKENS);
    assert_eq!(covered(&job), Vec::from_iter(1..17));
    assert_eq!(window.answer(job.id, summary("All went well.")).outcome, Some(Outcome::Accepted));
    let origins: Vec<Origin> = window.view().iter().map(|sent| sent.origin).collect();
    assert!(origins[1].is_summary());
    assert_eq!(origins.iter().filter_map(|origin| origin.index()).collect::<Vec<_>>(), [0, 17, 18, 19]);
    assert_eq!(texts(&window)[1], "[Conversation Summary]\nAll went well.");
    assert_eq!(window.metrics().preserved_messages, 4, "a summary counts neither as kept nor against the cap");
}

#[test]
fn the_prompt_is_the_sentence_a_blank_line_and_the_lines() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..15);
    let prompt = job(&mut window).unwrap().prompt;
    let lines = prompt.strip_prefix(SUMMARY_PROMPT).unwrap().strip_prefix("\n\n").unwrap();
    assert!(lines.starts_with("[assistant]: Message 1 says"), "{lines}");
    assert!(lines.contains("\n[user]: Message 2 says"), "{lines}");
    assert!(!lines.contains("Message 12"), "what stays is not summarised");
}

#[test]
fn at_most_one_summary_per_ten_evicted_messages() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..13);
    assert_eq!(job(&mut window), None, "nine have left");
    push_numbered(&mut window, 13..14);
    let job = job(&mut window).unwrap();
    assert_eq!(covered(&job), Vec::from_iter(1..11), "those that waited are covered too");
}

#[test]
fn summaries_merge_instead_of_nesting() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..20);
    let first = job(&mut window).unwrap();
    window.answer(first.id, summary("The first half."));
    push_numbered(&mut window, 20..40);
    let second = job(&mut window).unwrap();
    assert!(second.prompt.contains("\n\n[summary]: The first half.\n"), "{}", second.prompt);
    window.answer(second.id, summary("Both halves."));
    let summaries: Vec<_> = texts(&window).into_iter().filter(|text| text.starts_with("[Conversation")).collect();
    assert_eq!(summaries, ["[Conversation Summary]\nBoth halves."]);
}

#[test]
fn a_failure_leaves_the_view_and_carries_forward_what_was_not_covered() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..20);
    let failed = job(&mut window).unwrap();
    let before = texts(&window);
    let outcome = window.answer(failed.id, Err("timed out".to_owned())).outcome;
    assert_eq!(outcome, Some(Outcome::Rejected(Rejection::Failed("timed out".to_owned()))));
    assert_eq!(texts(&window), before);
    push_numbered(&mut window, 20..29);
    assert_eq!(job(&mut window), None, "no second try before the window has grown again");
    push_numbered(&mut window, 29..31);
    let retried = job(&mut window).unwrap();
    assert_eq!(covered(&retried), Vec::from_iter(1..28), "what the failed one should have covered, and the rest");
    assert!(retried.prompt.contains("Message 1 says"));
}

#[test]
fn an_answer_that_is_empty_or_larger_than_what_it_replaces_is_rejected() {
    for text in [" \n".to_owned(), "word ".repeat(1_000)] {
        let mut window = Window::new(capped()).unwrap();
        push_numbered(&mut window, 0..20);
        let job = job(&mut window).unwrap();
        assert!(matches!(window.answer(job.id, summary(&text)).outcome, Some(Outcome::Rejected(_))));
        assert_eq!(window.view().iter().count(), 4);
    }
}

#[test]
fn an_answer_to_a_job_that_is_not_open_is_rejected() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..20);
    let job = job(&mut window).unwrap();
    window.answer(job.id, summary("Once."));
    assert!(matches!(window.answer(job.id, summary("Twice.")).outcome, Some(Outcome::Rejected(_))));
    assert!(matches!(window.answer(99, summary("Who?")).outcome, Some(Outcome::Rejected(_))));
}

#[test]
fn nothing_is_asked_where_only_tools_spoke() {
    let mut window = Window::new(capped()).unwrap();
    window.push(say("user", "Go."));
    for number in 0..20 {
        let call = json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": format!("c{number}"), "type": "function", "function": { "name": "ls", "arguments": "{}" } }
        ] });
        let result = json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": "README.md" });
        for value in [call, result] {
            window.push(Message::parse(Format::OpenAiChat, &value.to_string()).unwrap());
        }
    }
    assert_eq!(job(&mut window), None);
    assert!(window.metrics().evicted_messages > 10);
}

/// A window of 2,000 tokens that condenses from half on.
fn condensing_tokens() -> WindowConfig {
    let tokens =
        TokensConfig { auto_condense_context: true, auto_condense_context_percent: 50, ..TokensConfig::default() };
    let budget = Some(Budget::new(2_000, Some(100)).unwrap());
    WindowConfig::new(Format::OpenAiChat, PolicyKind::Tokens(tokens)).with_budget(budget)
}

#[test]
fn the_token_window_condenses_all_but_the_first_and_the_newest_three() {
    let mut window = Window::new(condensing_tokens()).unwrap();
    push_numbered(&mut window, 0..70);
    let fit = window.fit().unwrap();
    assert!(!fit.is_cut(), "below the limit nothing leaves before the summary is there");
    let job = fit.job.unwrap();
    window.answer(job.id, summary("So far so good."));
    let kept: Vec<_> = window.view().iter().filter_map(|sent| sent.origin.index()).collect();
    assert_eq!(kept, [0, 67, 68, 69]);
    assert_eq!(texts(&window)[1], "[Conversation Summary]\nSo far so good.");
}

#[test]
fn over_the_limit_the_view_fits_before_any_summary_arrives() {
    let mut window = Window::new(condensing_tokens()).unwrap();
    push_numbered(&mut window, 0..200);
    let fit = window.fit().unwrap();
    assert!(fit.is_cut());
    assert!(!window.budget().unwrap().is_exceeded_by(window.tokens()));
    let job = fit.job.unwrap();
    assert_eq!(covered(&job), Vec::from_iter(1..197), "what was dropped already is covered too");
    window.answer(job.id, summary("A long way."));
    assert_eq!(window.view().iter().count(), 5);
}

#[test]
fn a_failure_below_the_limit_changes_nothing_and_is_told() {
    let mut window = Window::new(condensing_tokens()).unwrap();
    push_numbered(&mut window, 0..70);
    let job = job(&mut window).unwrap();
    window.answer(job.id, Err("overloaded".to_owned()));
    assert_eq!(window.metrics().evicted_messages, 0);
    push_numbered(&mut window, 70..71);
    let fit = window.fit().unwrap();
    assert_eq!(fit.job, None);
    assert!(
        fit.error.unwrap().to_string().contains("waits"),
        "an error is reported also when nothing had to be truncated"
    );
}

#[test]
fn file_writes_near_the_tail_stay_in_the_tail() {
    let mut window = Window::new(condensing_tokens()).unwrap();
    push_numbered(&mut window, 0..66);
    let call = json!({ "role": "assistant", "tool_calls": [
        { "id": "w", "type": "function", "function": { "name": "write_file", "arguments": "{\"path\":\"a.rs\"}" } }
    ] });
    let result = json!({ "role": "tool", "tool_call_id": "w", "content": "wrote a.rs" });
    for value in [call, result] {
        window.push(Message::parse(Format::OpenAiChat, &value.to_string()).unwrap());
    }
    push_numbered(&mut window, 66..69);
    let job = job(&mut window).unwrap();
    window.answer(job.id, summary("Done."));
    let kept: Vec<_> = window.view().iter().filter_map(|sent| sent.origin.index()).collect();
    assert_eq!(kept, [0, 66, 67, 68, 69, 70]);
}

#[test]
fn the_condensing_request_is_bounded_oldest_tool_output_first() {
    let mut config = condensing_tokens();
    config.custom_condensing_prompt = Some("Sum up.".to_owned());
    let mut window = Window::new(config).unwrap();
    push_numbered(&mut window, 0..400);
    let prompt = job(&mut window).unwrap().prompt;
    assert!(prompt.starts_with("Sum up.\n\n"));
    assert!(prompt.len() / 2 <= 2_000, "{} characters do not fit a window of 2,000 tokens", prompt.len());
    assert!(prompt.contains("Message 390"), "the newest stay");
}

#[test]
fn a_summary_is_put_legally_in_every_format() {
    for format in Format::ALL {
        let cap = MessagesConfig { max_messages: 4, preserve_first_n: 0, preserve_last_n: 2, summarize_on_trim: true };
        let mut window = Window::new(WindowConfig::new(format, PolicyKind::Messages(cap))).unwrap();
        for message in agent_history(format) {
            window.push(message);
        }
        let job = job(&mut window).unwrap();
        window.answer(job.id, summary("Files were read."));
        let history = History::of(window.view().iter().map(|sent| sent.message));
        assert_eq!(format.wire().check(&history), [], "{format}");
        let roles: Vec<_> = history.messages.iter().map(|message| message.shape().role).collect();
        let merges = matches!(format, Format::Anthropic | Format::Gemini);
        let is_merged = roles.windows(2).any(|pair| pair == [Role::Assistant, Role::Assistant]);
        assert!(!(merges && is_merged), "{format}: a summary is a turn of its own, {roles:?}");
        assert!(window.view().iter().any(|sent| sent.origin.is_summary()), "{format}");
    }
}

fn agent_history(format: Format) -> Vec<Arc<Message>> {
    let words = "Please look at these files and tell me what you think of each of them.";
    let turn = |number: usize| match format {
        Format::Anthropic => vec![
            json!({ "role": "user", "content": words }),
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": format!("t{number}"), "name": "read", "input": {} }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("t{number}"), "content": "text" }] }),
        ],
        Format::OpenAiChat => vec![
            json!({ "role": "user", "content": words }),
            json!({ "role": "assistant", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "read", "arguments": "{}" } }] }),
            json!({ "role": "tool", "tool_call_id": "c", "content": "text" }),
        ],
        Format::OpenAiResponses => vec![
            json!({ "role": "user", "content": words }),
            json!({ "type": "function_call", "call_id": "c", "name": "read", "arguments": "{}" }),
            json!({ "type": "function_call_output", "call_id": "c", "output": "text" }),
        ],
        Format::Gemini => vec![
            json!({ "role": "user", "parts": [{ "text": words }] }),
            json!({ "role": "model", "parts": [{ "functionCall": { "name": "read", "args": {} } }] }),
            json!({ "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": { "output": "text" } } }] }),
        ],
    };
    let values = (0..8).flat_map(turn);
    values.map(|value| Arc::new(Message::parse(format, &value.to_string()).unwrap())).collect()
}

#[test]
fn a_window_with_summaries_is_rebuilt_from_its_log() {
    let mut window = Window::new(capped()).unwrap();
    push_numbered(&mut window, 0..20);
    let first = job(&mut window).unwrap();
    window.answer(first.id, summary("The first half."));
    window.report_usage(Usage::of_input(300));
    push_numbered(&mut window, 20..40);
    let second = job(&mut window).unwrap();
    window.answer(second.id, Err("timed out".to_owned()));
    let Log { messages, events } = window.log();
    assert!(events.iter().any(|(at, event)| *at == 20 && matches!(event, Event::UsageReported { .. })));
    let (rebuilt, _) = Window::rebuild(capped(), Log { messages, events }).unwrap();
    assert_eq!(texts(&rebuilt), texts(&window));
    assert_eq!(rebuilt.tokens(), window.tokens());
}

#[test]
fn a_report_says_what_the_summary_in_the_view_cost() {
    let cap =
        MessagesConfig { max_messages: 12, preserve_last_n: 2, summarize_on_trim: true, ..MessagesConfig::default() };
    let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap))).unwrap();
    for i in 0..30 {
        window.push_raw(&format!(r#"{{"role":"user","content":"Message {i} has quite a few words in it"}}"#)).unwrap();
    }
    let fit = window.fit().unwrap();
    assert_eq!(Report::new(&window, &fit).cost, None, "nothing was summarised yet");
    let answer = Summary::new("Much.").with_cost(1.0);
    let fit = window.answer(fit.job.unwrap().id, Ok(answer));
    assert_eq!(fit.outcome, Some(Outcome::Accepted));
    let report = Report::new(&window, &fit);
    assert_eq!((report.cost, report.summary.as_deref()), (Some(1.0), Some("Much.")));
    let again = Window::restore(window.config().clone(), window.log()).unwrap();
    assert_eq!(Report::new(&again, &fit).cost, Some(1.0), "a restored window knows it, too");
}
