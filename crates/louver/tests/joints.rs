//! Where modules meet: what one of them remembers, and what two of them know of the same thing.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::condense::{Outcome, Summary};
use louver::count::count_message;
use louver::economy::Economy;
use louver::legality::check;
use louver::plan::{Bound, Largest, Overflow, Pins, Plan, Trigger, Warning};
use louver::policy::{
    LadderConfig, MessagesConfig, ObservationsConfig, Policy, PolicyInput, PolicyKind, TABLE, TokensConfig,
};
use louver::report::Report;
use louver::tokens::{Chars4, CounterChoice, Factor, Millitokens};
use louver::trim::{TrimError, TrimOptions, Trimmed, trim};
use louver::unit::units_of;
use louver::window::{Origin, SyntheticKind, Usage, Window, WindowConfig, WithPayload};
use louver::wire::{Body, Format, Message, Role};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const FORMATS: [Format; 4] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini];

/// So many tokens are allowed, whatever is taken off for the reply and the buffer.
fn budget(allowed_tokens: u64) -> Budget {
    let budget = Budget::new((allowed_tokens + 1) * 10 / 9 + 1, Some(1)).unwrap();
    assert!(budget.allowed_tokens().abs_diff(allowed_tokens) < 3);
    budget
}

fn config(format: Format, policy: PolicyKind, allowed_tokens: u64) -> WindowConfig {
    WindowConfig::new(format, policy).with_budget(budget(allowed_tokens))
}

/// Every policy of the table, set so that it leaves out as much as it may.
fn eager_policies() -> impl Iterator<Item = PolicyKind> {
    TABLE.iter().map(|row| {
        let mut policy = row.kind();
        if let Some(messages) = policy.messages_mut() {
            *messages = MessagesConfig { max_messages: 6, preserve_last_n: 2, ..MessagesConfig::default() };
        }
        if let Some(ladder) = policy.ladder_mut() {
            ladder.keep_recent_tokens = 100;
        }
        if let PolicyKind::Mask(observations) | PolicyKind::ClearTools(observations) = &mut policy {
            *observations = ObservationsConfig { trigger_tokens: 0, keep: 1 };
        }
        policy
    })
}

fn token_policies() -> impl Iterator<Item = PolicyKind> {
    eager_policies().filter(PolicyKind::needs_budget)
}

/// A ladder that cuts when it must and not before, because reading costs nothing.
fn unhurried_ladder(allowed_tokens: u64, change: impl FnOnce(&mut LadderConfig)) -> WindowConfig {
    let mut ladder = LadderConfig { keep_recent_tokens: 100, ..LadderConfig::default() };
    change(&mut ladder);
    let economy = Economy { read: Factor::from_thousandths(0), ..Economy::default() };
    config(Format::OpenAiChat, PolicyKind::Ladder(ladder), allowed_tokens).with_economy(economy)
}

fn push(window: &mut Window, message: &Value) -> usize {
    window.push_json(message).unwrap()
}

fn say(window: &mut Window, role: Role, text: &str) -> usize {
    window.push(Message::synthetic(window.format(), role, text).unwrap())
}

/// A call and its result, as OpenAI's chat has them.
fn turn(window: &mut Window, number: usize, result: &str) {
    let function = json!({ "name": "read_file", "arguments": format!("{{\"path\":\"src/file_{number}.rs\"}}") });
    let call = json!({ "id": format!("c{number}"), "type": "function", "function": function });
    push(window, &json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
    push(window, &json!({ "role": "tool", "tool_call_id": format!("c{number}"), "content": result }));
}

fn started(config: WindowConfig) -> Window {
    let mut window = Window::new(config).unwrap();
    say(&mut window, Role::User, "Mend src/lib.rs.");
    window
}

fn sent(window: &Window) -> Vec<String> {
    window.view().iter().map(|sent| sent.message.raw().to_owned()).collect()
}

fn kept(window: &Window) -> BTreeSet<usize> {
    window.view().iter().filter_map(|sent| sent.origin.index()).collect()
}

/// What the view costs, counted anew.
fn recounted(window: &Window) -> u64 {
    let sizes = window.view().iter().map(|sent| count_message(&Chars4, sent.message));
    sizes.sum::<Millitokens>().ceil_tokens()
}

/// Text of about so many tokens.
fn text(tokens: usize) -> String {
    "word".repeat(tokens)
}

fn ledger(window: &Window) -> Option<String> {
    let is_ledger = |origin| origin == Origin::Synthetic(SyntheticKind::Ledger);
    let ledger = window.view().iter().find(|sent| is_ledger(sent.origin))?;
    Some(ledger.message.raw().to_owned())
}

/// The number in "N earlier messages are folded here".
fn told_to_be_folded(text: &str) -> usize {
    let (before, _) = text.split_once(" earlier messages are folded here").expect(text);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

fn summary(text: &str) -> Result<Summary, String> {
    Ok(Summary::new(text))
}

fn thought() -> Value {
    json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" })
}

fn tool_use(number: usize) -> Value {
    json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": "read", "input": {} })
}

fn tool_result(number: usize) -> Value {
    let result = json!({ "type": "tool_result", "tool_use_id": format!("toolu_{number}"), "content": text(200) });
    json!({ "role": "user", "content": [result] })
}

// Item 1 of the findings.

/// An unfinished turn of manual thinking, in which the first answer alone was thought about.
fn open_turn() -> Body {
    let mut messages = vec![
        json!({ "role": "user", "content": "What is in the folder?" }),
        json!({ "role": "assistant", "content": "Two files." }),
        json!({ "role": "user", "content": "Fix the test." }),
        json!({ "role": "assistant", "content": [thought(), tool_use(0)] }),
        tool_result(0),
    ];
    for number in 1..12 {
        messages.push(json!({ "role": "assistant", "content": [tool_use(number)] }));
        messages.push(tool_result(number));
    }
    let thinking = json!({ "type": "enabled", "budget_tokens": 1_024 });
    let body = json!({ "model": "claude-sonnet-4-5", "max_tokens": 2_000, "thinking": thinking, "messages": messages });
    Body::parse(&body.to_string(), None).unwrap()
}

#[test]
fn manual_thinking_keeps_the_answer_that_opens_an_unfinished_turn() {
    assert_eq!(check(&open_turn()), []);
    let mut evicting = 0;
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let config = config(Format::Anthropic, policy, 1_200).with_thinking(ThinkingBinding::OpenTurn);
        let trimmed = trim(&open_turn(), config).unwrap();
        assert_eq!(check(&Body::parse(&trimmed.json, None).unwrap()), [], "{name}");
        assert!(trimmed.report.kept.contains(&3), "{name}: {:?}", trimmed.report.kept);
        evicting += usize::from(!trimmed.report.evicted.is_empty());
    }
    assert!(evicting >= 7, "only {evicting} policies left something out");
}

/// The head alone stays, whatever comes behind it.
fn head_alone(messages: &[Value]) -> Window {
    let cap = MessagesConfig { max_messages: 1, preserve_first_n: 3, preserve_last_n: 0, summarize_on_trim: false };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let mut window = Window::new(config.with_thinking(ThinkingBinding::OpenTurn)).unwrap();
    window.extend_json(messages).unwrap();
    window.fit().unwrap();
    window
}

fn refused(messages: &[impl AsRef<str>]) -> usize {
    let messages = messages.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(",");
    let body = format!(r#"{{"thinking":{{"type":"enabled","budget_tokens":1024}},"messages":[{messages}]}}"#);
    let violations = check(&Body::parse(&body, Some(Format::Anthropic)).unwrap());
    violations.iter().filter(|violation| violation.rule == "thinking-misplaced").count()
}

#[test]
fn a_turn_that_began_without_thinking_is_no_unfinished_one_once_its_end_has_left() {
    let turn = [
        json!({ "role": "user", "content": "What is in the folder?" }),
        json!({ "role": "assistant", "content": [tool_use(1)] }),
        tool_result(1),
    ];
    let said = json!({ "role": "assistant", "content": "Nothing." });
    let calls = json!({ "role": "assistant", "content": [thought(), tool_use(2), tool_use(3)] });
    for (rest, had) in [(vec![said], 0), (vec![calls, tool_result(2), tool_result(3)], 1)] {
        let messages = [&turn[..], &rest].concat();
        assert_eq!(refused(&messages.iter().map(Value::to_string).collect::<Vec<_>>()), had, "{messages:#?}");
        let window = head_alone(&messages);
        assert_eq!(refused(&sent(&window)), had, "{:#?}", sent(&window));
    }
}

// Item 2.

#[test]
fn a_late_summary_takes_the_bound_thinking_behind_it_away() {
    let cap = MessagesConfig { max_messages: 4, preserve_first_n: 1, preserve_last_n: 3, summarize_on_trim: true };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let config = config.with_thinking(ThinkingBinding::Prefix);
    let mut window = Window::new(config).unwrap();
    for number in 0..21 {
        let role = if number % 2 == 0 { Role::User } else { Role::Assistant };
        say(&mut window, role, &format!("Message {number} says something about the task."));
    }
    let job = window.fit().unwrap().job.unwrap();
    let answer = json!({ "role": "assistant", "content": [thought(), { "type": "text", "text": "Done." }] });
    let index = push(&mut window, &answer);
    let fit = window.answer(job.id, summary("All went well."));
    assert_eq!(fit.outcome, Some(Outcome::Accepted));
    assert_eq!(fit.edited, [index]);
    let texts = sent(&window);
    assert!(texts.iter().any(|text| text.contains("All went well.")), "{texts:#?}");
    assert!(texts.iter().any(|text| text.contains("Done.")), "the answer itself stays: {texts:#?}");
    assert!(!texts.iter().any(|text| text.contains("\"thinking\"")), "{texts:#?}");
}

// Item 3.

fn frame_without_messages(format: Format) -> Body {
    let long = text(5_000);
    let frame = match format {
        Format::Anthropic => json!({ "model": "m", "max_tokens": 1, "system": long, "messages": [] }),
        Format::OpenAiChat => json!({
            "model": "m",
            "tools": [{ "type": "function", "function": { "name": "f", "description": long } }],
            "messages": [],
        }),
        Format::OpenAiResponses => json!({ "model": "m", "instructions": long, "input": [] }),
        Format::Gemini => json!({ "systemInstruction": { "parts": [{ "text": long }] }, "contents": [] }),
    };
    Body::parse(&frame.to_string(), Some(format)).unwrap()
}

#[test]
fn no_messages_and_an_oversized_system_prompt_are_an_error_not_a_panic() {
    for format in FORMATS {
        for policy in token_policies() {
            let body = frame_without_messages(format);
            let name = policy.name().to_owned();
            let config = config(format, policy, 1_000).with_frame(&body);
            let overflow = Window::new(config.clone()).unwrap().fit().unwrap_err();
            assert_eq!(overflow.largest, None, "{name}");
            assert!(overflow.floor_tokens >= 5_000 && overflow.allowed_tokens <= 1_002, "{name}: {overflow}");
            assert_eq!(trim(&body, config).unwrap_err(), TrimError::Overflow(overflow), "{name}");
        }
    }
}

#[test]
fn a_fit_before_the_first_message_does_nothing() {
    for format in FORMATS {
        for policy in eager_policies() {
            let mut window = Window::new(config(format, policy, 1_000)).unwrap();
            assert!(!window.fit().unwrap().is_cut());
            assert_eq!(window.view().len(), 0);
        }
    }
}

// Item 4.

#[test]
fn a_failed_fit_leaves_no_trace_in_the_ledger() {
    let mut window = started(unhurried_ladder(4_000, |_| {}));
    for number in 0..6 {
        turn(&mut window, number, &text(200));
        window.fit().unwrap();
    }
    say(&mut window, Role::User, &text(10_000));
    for _ in 0..3 {
        window.fit().unwrap_err();
        say(&mut window, Role::Assistant, "I look at it.");
    }
    assert_eq!(window.evicted().count(), 0);
    say(&mut window, Role::User, "Forget that text.");
    assert!(window.fit().unwrap().is_cut());
    let ledger = ledger(&window).unwrap();
    assert_eq!(told_to_be_folded(&ledger), window.evicted().count(), "{ledger}");
}

#[test]
fn a_list_with_a_large_message_in_its_middle_is_told_of_as_it_was_cut() {
    let mut messages = vec![json!({ "role": "user", "content": "Mend src/lib.rs." })];
    for number in 0..24 {
        let tokens = if number == 12 { 10_000 } else { 100 };
        messages.push(json!({ "role": "assistant", "content": format!("I read src/file_{number}.rs.") }));
        messages.push(json!({ "role": "user", "content": format!("{number}: {}", text(tokens)) }));
    }
    let body = Body::parse(&Value::from(messages).to_string(), Some(Format::OpenAiChat)).unwrap();
    let trimmed = trim(&body, unhurried_ladder(4_000, |_| {})).unwrap();
    assert_eq!(told_to_be_folded(&trimmed.json), trimmed.report.evicted.len(), "{}", trimmed.json);
}

// Item 5.

/// About 3,264 of the 3,276 tokens that gpt-4 has left beside a reply of 4,096, in so many turns.
fn nearly_full(turns: usize) -> Window {
    let mut window = Window::for_model(Format::OpenAiChat, "gpt-4")
        .policy(PolicyKind::Ladder(LadderConfig::default()))
        .reply(4_096)
        .counter(CounterChoice::Chars4)
        .build()
        .unwrap();
    assert_eq!(window.budget().unwrap().allowed_tokens(), 3_276);
    say(&mut window, Role::User, "Mend src/lib.rs.");
    let size = (3_264 - 4 - turns * 20) / turns;
    for number in 0..turns {
        turn(&mut window, number, &text(size.max(1)));
    }
    let missing = 3_264_u64.saturating_sub(window.tokens());
    say(&mut window, Role::User, &text(usize::try_from(missing).unwrap()));
    assert!(window.tokens().abs_diff(3_264) < 12, "{}", window.tokens());
    window
}

#[test]
fn an_optional_cut_never_fails_and_never_makes_the_view_larger() {
    for turns in 1..100 {
        for is_cold in [false, true] {
            let mut window = nearly_full(turns);
            if is_cold {
                window.cache_expired();
            }
            let fit = window.fit().unwrap();
            assert!(fit.tokens_after <= fit.tokens_before, "{turns} turns: {fit:?}");
            assert_eq!(fit.tokens_after, recounted(&window), "{turns} turns");
            assert!(!fit.is_cut() || fit.tokens_after < fit.tokens_before, "{turns} turns: a cut for nothing");
        }
    }
}

// Item 6.

#[test]
fn an_overflow_names_the_message_that_is_too_large() {
    for policy in token_policies() {
        let name = policy.name().to_owned();
        let mut window = started(config(Format::OpenAiChat, policy, 4_000));
        for number in 0..10 {
            let role = if number % 2 == 0 { Role::Assistant } else { Role::User };
            say(&mut window, role, &text(60));
            window.fit().unwrap();
        }
        assert_eq!(say(&mut window, Role::User, &text(10_000)), 11);
        let Overflow { floor_tokens, largest, .. } = window.fit().unwrap_err();
        assert_eq!(largest, Some(Largest { index: 11, tokens: 10_000 }), "{name}");
        // The first message and a marker come on top, and nothing else has to.
        assert!((10_000..10_060).contains(&floor_tokens), "{name}: {floor_tokens}");
    }
}

// Item 7.

#[test]
fn a_pinned_text_stays_in_a_tight_window() {
    let (mut tight, mut cuts) = (0, 0);
    for allowed_tokens in (100..2_000).step_by(20) {
        let mut window = started(unhurried_ladder(allowed_tokens, |ladder| ladder.pin = vec!["KEEP THIS".to_owned()]));
        let pinned = say(&mut window, Role::Assistant, &format!("KEEP THIS in mind. {}", text(60)));
        for number in 0..8 {
            turn(&mut window, number, &text(50));
            match window.fit() {
                Ok(fit) => cuts += usize::from(fit.is_cut()),
                Err(overflow) => {
                    tight += 1;
                    assert!(overflow.floor_tokens > allowed_tokens - 3, "{overflow}");
                }
            }
            assert!(kept(&window).contains(&pinned), "{allowed_tokens} tokens, turn {number}");
        }
    }
    assert!(tight > 0 && cuts > 20, "{tight} windows were too tight, {cuts} cuts");
}

// Item 8.

#[test]
fn counts_stay_true_when_arrivals_shrink_and_units_leave_in_one_plan() {
    let mut plans = 0;
    for allowed_tokens in (400..3_000).step_by(100) {
        let mut window = started(unhurried_ladder(allowed_tokens, |ladder| ladder.shrink_on_arrival_tokens = 100));
        for number in 0..12 {
            turn(&mut window, number, &text(if number % 3 == 2 { 40 } else { 800 }));
        }
        let fit = window.fit().unwrap();
        plans += usize::from(!fit.evicted.is_empty() && !fit.edited.is_empty());
        assert_eq!(fit.tokens_after, recounted(&window), "{allowed_tokens}");
        assert!(fit.tokens_after <= allowed_tokens + 2, "{allowed_tokens}: {fit:?}");
    }
    assert!(plans > 3, "{plans} plans did both");
}

#[test]
fn a_usage_report_between_two_fits_is_heeded_by_the_second() {
    for policy in token_policies() {
        let name = policy.name().to_owned();
        let mut window = started(config(Format::OpenAiChat, policy, 3_000));
        if let Some(messages) = window.config().policy.messages() {
            assert_eq!(messages.max_messages, 6);
        }
        for number in 0..5 {
            say(&mut window, if number % 2 == 0 { Role::Assistant } else { Role::User }, &text(560));
        }
        window.fit().unwrap();
        window.report_usage(Usage::of_input(window.tokens() * 3 / 2));
        let fit = window.fit().unwrap();
        assert_eq!(fit.tokens_after, window.tokens(), "{name}");
        assert!(!window.budget().unwrap().is_exceeded_by(window.tokens()), "{name}: {}", window.tokens());
    }
}

#[test]
fn counts_stay_true_when_a_message_of_thinking_alone_is_stripped() {
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let config = config(Format::Anthropic, policy, 1_500).with_thinking(ThinkingBinding::Prefix);
        let mut window = Window::new(config).unwrap();
        say(&mut window, Role::User, "Fix the test.");
        for number in 0..12 {
            push(&mut window, &json!({ "role": "assistant", "content": [thought(), tool_use(number)] }));
            push(&mut window, &tool_result(number));
            push(&mut window, &json!({ "role": "assistant", "content": [thought()] }));
            say(&mut window, Role::User, "Go on.");
            let fit = window.fit().unwrap();
            assert_eq!(fit.tokens_after, recounted(&window), "{name}, turn {number}");
            let is_bound = window.bound() == louver::plan::Bound::Tokens;
            assert!(!is_bound || !window.is_over(), "{name}, turn {number}: {}", window.tokens());
        }
    }
}

// Item 9.

#[test]
fn the_cap_holds_in_the_turn_in_which_a_summary_arrives() {
    let cap = MessagesConfig { max_messages: 10, preserve_first_n: 1, preserve_last_n: 4, summarize_on_trim: true };
    for policy in [PolicyKind::Messages(cap), PolicyKind::Both(cap, TokensConfig::default())] {
        let mut window = started(config(Format::OpenAiChat, policy, 100_000));
        let mut arrived = 0;
        for number in 0..60 {
            let waiting = window.open_job().cloned();
            say(&mut window, Role::Assistant, &format!("Answer {number} says something about the task."));
            say(&mut window, Role::User, &format!("Question {number} asks something about the task."));
            if let Some(job) = waiting {
                let outcome = window.answer(job.id, summary("All went well.")).outcome;
                arrived += usize::from(outcome == Some(Outcome::Accepted));
            }
            window.fit().unwrap();
            let messages = window.metrics().preserved_messages;
            assert!(messages <= 10, "{messages} messages at request {number} under {}", window.policy_name());
        }
        assert!(arrived > 3, "{arrived} summaries");
    }
}

// Item 11.

/// 41 messages of 100 tokens and a last one of 750, about which a caller says something.
fn with_total(total_tokens: u64) -> Trimmed {
    let role = |number| if number % 2 == 0 { "user" } else { "assistant" };
    let mut messages: Vec<Value> =
        (0..41).map(|number| json!({ "role": role(number), "content": text(100) })).collect();
    messages.push(json!({ "role": "user", "content": text(750) }));
    let body = Body::parse(&Value::from(messages).to_string(), Some(Format::OpenAiChat)).unwrap();
    let budget = Some(Budget::new(100_000, Some(30_000)).unwrap());
    let tokens = PolicyKind::Tokens(TokensConfig::default());
    let config = WindowConfig::new(Format::OpenAiChat, tokens).with_budget(budget);
    trim(&body, TrimOptions::from(config).with_total_tokens(total_tokens)).unwrap()
}

#[test]
fn total_tokens_is_what_the_report_is_in_terms_of_and_the_last_message_is_never_scaled() {
    for total_tokens in [2_050, 4_100, 5_000, 6_150, 30_000, 59_250] {
        let report = with_total(total_tokens).report;
        assert_eq!(report.prev_context_tokens, total_tokens + 750);
        assert_eq!((report.tokens.before, report.tokens.after), (total_tokens + 750, total_tokens + 750));
        assert!(report.evicted.is_empty());
    }
}

#[test]
fn total_tokens_scales_upward_by_the_stated_error_at_most_and_the_rest_is_fixed() {
    let report = with_total(60_000).report;
    assert_eq!((report.prev_context_tokens, report.tokens.before), (60_750, 60_750));
    assert_eq!(report.evicted.len(), 20, "half of what stands behind the first");
    // chars4 may be wrong by half, so what left had 150 tokens each.
    assert_eq!(report.new_context_tokens, 60_750 - 20 * 150);
    assert_eq!(report.warnings, []);
}

#[test]
fn total_tokens_that_no_cut_makes_good_is_one_pass_of_a_half_with_a_warning() {
    let report = with_total(200_000).report;
    assert_eq!(report.prev_context_tokens, 200_750);
    assert_eq!(report.evicted, Vec::from_iter(1..21));
    assert_eq!(report.new_context_tokens, 200_750 - 20 * 150);
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
}

#[test]
fn total_tokens_still_holds_after_a_summary_was_accepted() {
    let tokens = TokensConfig { auto_condense_context: true, ..TokensConfig::default() };
    let mut window = Window::new(config(Format::OpenAiChat, PolicyKind::Tokens(tokens), 60_000)).unwrap();
    for number in 0..41 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(100));
    }
    window.report_total(59_000);
    let job = window.fit().unwrap().job.unwrap();
    let before = window.tokens();
    let covered: usize = job.covers.iter().map(ExactSizeIterator::len).sum();
    let fit = window.answer(job.id, summary("All went well."));
    assert_eq!(fit.outcome, Some(Outcome::Accepted));
    assert_eq!((fit.tokens_before, fit.tokens_after), (before, window.tokens()));
    let summary_tokens = window.view().iter().filter(|sent| sent.origin.index().is_none());
    let summary_tokens: Millitokens = summary_tokens.map(|sent| count_message(&Chars4, sent.message)).sum();
    assert_eq!(fit.tokens_after, 59_000 + 100 - 150 * covered as u64 + summary_tokens.ceil_tokens());
    window.fit().unwrap();
    assert!(!window.budget().unwrap().is_exceeded_by(window.tokens()));
}

#[test]
fn total_tokens_beyond_every_count_is_said_in_a_typed_warning() {
    let mut window = Window::new(config(Format::OpenAiChat, "tokens".parse().unwrap(), 1_000)).unwrap();
    for number in 0..9 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(10));
    }
    window.report_total(5_000);
    let fit = window.fit().unwrap();
    assert_eq!(fit.warnings, [Warning::BeyondCount { beyond_tokens: 5_000 - 8 * 15 }]);
}

// Item 12.

#[test]
fn a_price_step_that_cannot_be_kept_below_is_not_cut_for() {
    let mut config = unhurried_ladder(100_000, |_| {});
    config.economy.price_steps = vec![3_000];
    let mut window = started(config);
    for number in 0..8 {
        turn(&mut window, number, &text(300));
        window.fit().unwrap();
    }
    assert_eq!(window.evicted().count(), 0, "there was no reason to cut yet");
    turn(&mut window, 8, &text(6_000));
    assert!(!window.fit().unwrap().is_cut(), "the result that is in the way stays");
    for number in 9..40 {
        turn(&mut window, number, &text(20));
        let fit = window.fit().unwrap();
        let is_below = fit.tokens_after <= 3_000;
        assert!(fit.trigger != Some(Trigger::PriceStep) || is_below, "turn {number}: {fit:?}");
    }
    assert!(window.tokens() <= 3_000, "once the large result is old it is cut for: {}", window.tokens());
}

// Item 13.

#[test]
fn a_system_entry_behind_every_user_message_leaves_units_small() {
    let mut window = Window::new(config(Format::Anthropic, "tokens".parse().unwrap(), 3_000)).unwrap();
    for number in 0..30 {
        say(&mut window, Role::User, &text(60));
        push(&mut window, &json!({ "role": "system", "content": "The date has changed." }));
        push(&mut window, &json!({ "role": "assistant", "content": [tool_use(number)] }));
        push(&mut window, &tool_result(number));
        push(&mut window, &json!({ "role": "system", "content": "A file was changed." }));
        say(&mut window, Role::Assistant, "Done.");
        window.fit().unwrap();
    }
    let log = window.log().messages;
    let units: Vec<_> = units_of(Format::Anthropic, log.iter().map(|message| &**message)).collect();
    assert_eq!(units[..4], [0..2, 2..5, 5..6, 6..8]);
    assert!(units.iter().all(|unit| unit.len() <= 3));
    assert!(window.evicted().count() > 100, "{} messages left", window.evicted().count());
}

// Item 14.

/// A history in which the seventh message is the provider's own summary of all before it.
fn compacted(format: Format, policy: PolicyKind) -> Window {
    let mut window = Window::new(config(format, policy, 1_500)).unwrap();
    for number in 0..6 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(150));
    }
    let compaction = match format {
        Format::Anthropic => {
            json!({ "role": "assistant", "content": [{ "type": "compaction", "content": "So far.", "signature": "s" }] })
        }
        _ => json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "ZW5j" }),
    };
    push(&mut window, &compaction);
    window
}

#[test]
fn a_providers_compaction_stays_and_what_stands_before_it_costs_nothing() {
    for format in [Format::Anthropic, Format::OpenAiResponses] {
        for policy in eager_policies() {
            let name = policy.name().to_owned();
            let mut window = compacted(format, policy);
            let compaction = sent(&window)[6].clone();
            assert!(window.tokens() < 40, "{name}: {} tokens before anything is seen", window.tokens());
            let mut most = window.tokens();
            for number in 0..20 {
                say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(150));
                most += 150;
                window.fit().unwrap();
                assert!(sent(&window).contains(&compaction), "{name} lost the compaction at turn {number}");
                assert!(window.tokens() <= most + 40, "{name}: {} tokens, {most} are seen", window.tokens());
            }
        }
    }
}

#[test]
fn what_stands_before_the_latest_of_several_compactions_costs_nothing() {
    let mut window = compacted(Format::OpenAiResponses, PolicyKind::Everything);
    for number in 2..6 {
        say(&mut window, Role::User, &text(100 * number));
        say(&mut window, Role::Assistant, &text(50));
        let (view, log) = (window.tokens(), window.log_tokens());
        assert_eq!((view, log), (100 * number as u64 + 50, 100 * number as u64 + 50));
        push(&mut window, &json!({ "type": "compaction", "id": format!("cmp_{number}"), "encrypted_content": "ZW5j" }));
        assert_eq!((window.tokens(), window.log_tokens()), (0, 0));
    }
}

#[test]
fn what_a_compaction_stands_for_is_the_first_to_leave() {
    let mut window = compacted(Format::OpenAiResponses, "full-cut".parse().unwrap());
    for number in 0..11 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(150));
        window.fit().unwrap();
    }
    let left: BTreeSet<usize> = window.evicted().map(|(index, _)| index).collect();
    assert!((1..6).all(|unseen| left.contains(&unseen)), "{left:?}");
}

#[test]
fn a_history_may_begin_with_a_providers_compaction() {
    let compaction = json!({ "type": "compaction", "content": "So far.", "signature": "s" });
    let mut messages = vec![json!({ "role": "assistant", "content": [compaction] })];
    for number in 0..20 {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        messages.push(json!({ "role": role, "content": text(100) }));
    }
    messages.push(json!({ "role": "user", "content": "Go on." }));
    let body = json!({ "model": "claude-sonnet-5-5", "max_tokens": 100, "messages": messages });
    let body = Body::parse(&body.to_string(), None).unwrap();
    assert_eq!(check(&body), []);
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let trimmed = trim(&body, config(Format::Anthropic, policy, 1_000)).unwrap();
        let view = Body::parse(&trimmed.json, None).unwrap();
        assert_eq!(check(&view), [], "{name}");
        let is_sent = view.messages().iter().any(|message| message.raw() == body.messages()[0].raw());
        assert!(is_sent, "{name}: {}", trimmed.json);
    }
}

#[test]
fn nothing_of_ours_stands_before_a_compaction_where_the_model_does_not_see_it() {
    for format in [Format::Anthropic, Format::OpenAiResponses] {
        for policy in eager_policies() {
            let name = policy.name().to_owned();
            let mut window = compacted(format, policy);
            for number in 0..20 {
                say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(150));
                window.fit().unwrap();
            }
            let origins: Vec<Origin> = window.view().iter().map(|sent| sent.origin).collect();
            let compaction = origins.iter().position(|origin| origin.index() == Some(6)).unwrap();
            let ledger = origins.iter().position(|origin| *origin == Origin::Synthetic(SyntheticKind::Ledger));
            assert!(ledger.is_none_or(|ledger| ledger > compaction), "{name}, {format}: {origins:?}");
        }
    }
}

#[test]
fn the_answer_that_opens_an_unfinished_turn_stays_behind_a_compaction() {
    let mut messages = vec![
        json!({ "role": "user", "content": "Fix the test." }),
        json!({ "role": "assistant", "content": [{ "type": "compaction", "content": "So far.", "signature": "s" }] }),
        json!({ "role": "assistant", "content": [thought(), tool_use(0)] }),
        tool_result(0),
    ];
    for number in 1..12 {
        messages.push(json!({ "role": "assistant", "content": [tool_use(number)] }));
        messages.push(tool_result(number));
    }
    let thinking = json!({ "type": "enabled", "budget_tokens": 1_024 });
    let body = json!({ "model": "claude-sonnet-4-5", "max_tokens": 2_000, "thinking": thinking, "messages": messages });
    let body = Body::parse(&body.to_string(), None).unwrap();
    assert_eq!(check(&body), []);
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let config = config(Format::Anthropic, policy, 1_200).with_thinking(ThinkingBinding::OpenTurn);
        let trimmed = trim(&body, config).unwrap();
        assert_eq!(check(&Body::parse(&trimmed.json, None).unwrap()), [], "{name}");
    }
}

// Item 15.

/// What Codex sends: its tools, four developer messages, its environment, the task.
fn codex(policy: PolicyKind) -> Window {
    let mut window = Window::new(config(Format::OpenAiResponses, policy, 1_200)).unwrap();
    push(&mut window, &json!({ "type": "additional_tools", "role": "developer", "tools": [{ "name": "shell" }] }));
    let item = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    for text in ["You are Codex.", "The sandbox is read-only.", "Skills: none.", "Answer in prose."] {
        push(&mut window, &item("developer", text));
    }
    push(&mut window, &item("user", "<environment_context>cwd /work</environment_context>"));
    push(&mut window, &item("user", "Mend src/lib.rs."));
    for number in 0..20 {
        let call = format!("call_{number}");
        push(&mut window, &json!({ "type": "function_call", "call_id": call, "name": "shell", "arguments": "{}" }));
        push(&mut window, &json!({ "type": "function_call_output", "call_id": call, "output": text(100) }));
        window.fit().unwrap();
    }
    window
}

#[test]
fn instructions_never_leave_and_the_first_message_counts_from_behind_them() {
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let is_newest = matches!(policy, PolicyKind::Newest);
        let window = codex(policy);
        let kept = kept(&window);
        assert!((0..5).all(|instruction| kept.contains(&instruction)), "{name}: {kept:?}");
        assert!(is_newest || kept.contains(&5), "{name}: {kept:?}");
    }
}

#[test]
fn the_ladders_head_reaches_the_models_first_answer() {
    for policy in eager_policies().filter(|policy| policy.ladder().is_some()) {
        let window = codex(policy);
        assert!(window.evicted().count() > 0);
        assert!((0..7).all(|index| kept(&window).contains(&index)), "{:?}", kept(&window));
        assert_eq!(window.pins().head_end, 7);
    }
}

#[test]
fn the_first_message_of_a_chat_is_the_task_and_not_the_system_message() {
    let cap = MessagesConfig { max_messages: 5, preserve_first_n: 1, preserve_last_n: 2, ..MessagesConfig::default() };
    let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap))).unwrap();
    say(&mut window, Role::System, "Be brief.");
    say(&mut window, Role::User, "Mend src/lib.rs.");
    for number in 0..9 {
        say(&mut window, if number % 2 == 0 { Role::Assistant } else { Role::User }, "Hm.");
    }
    window.fit().unwrap();
    assert!(kept(&window).is_superset(&BTreeSet::from([0, 1])), "{:?}", kept(&window));
}

// The ladder's recent tail.

/// What the recent tail of the view holds, in tokens, no message counting more than `most`.
fn tail_tokens(window: &Window, most: u64) -> u64 {
    let recent_start = window.pins().recent_start;
    let recent = kept(window).into_iter().filter(|index| *index >= recent_start);
    recent.map(|index| window.tokens_of(index).unwrap().min(most)).sum()
}

fn talk(window: &mut Window, messages: usize, tokens: usize) {
    for number in 0..messages {
        say(window, if number % 2 == 0 { Role::Assistant } else { Role::User }, &text(tokens));
        window.fit().unwrap();
    }
}

fn recent(format: Format, keep_recent_tokens: u64, allowed_tokens: u64) -> Window {
    let mut config = unhurried_ladder(allowed_tokens, |ladder| {
        (ladder.keep_recent_turns, ladder.keep_recent_tokens) = (u64::MAX, keep_recent_tokens);
    });
    config.format = format;
    started(config)
}

#[test]
fn the_ladder_has_a_tail_again_behind_a_providers_compaction() {
    let mut window = recent(Format::OpenAiResponses, 300, 100_000);
    talk(&mut window, 40, 100);
    push(&mut window, &json!({ "type": "compaction", "id": "cmp_1", "encrypted_content": "ZW5j" }));
    talk(&mut window, 20, 100);
    assert!((300..=400).contains(&tail_tokens(&window, 300)), "{}", tail_tokens(&window, 300));
}

#[test]
fn the_ladder_has_a_tail_again_in_a_smaller_window() {
    let mut window = recent(Format::OpenAiChat, 9_000, 100_000);
    talk(&mut window, 10, 2_000);
    window.limit_to(budget(3_000));
    talk(&mut window, 20, 100);
    assert!((900..=1_100).contains(&tail_tokens(&window, 940)), "{}", tail_tokens(&window, 940));
}

#[test]
fn the_ladder_has_a_tail_again_after_the_caller_has_counted() {
    let mut window = recent(Format::OpenAiChat, 1_000, 100_000);
    talk(&mut window, 30, 100);
    window.report_total(30 * 20);
    talk(&mut window, 20, 100);
    assert!((1_000..=1_100).contains(&tail_tokens(&window, 1_000)), "{}", tail_tokens(&window, 1_000));
}

#[test]
fn what_left_on_arrival_is_no_part_of_the_ladders_tail() {
    let mut window = recent(Format::OpenAiResponses, 300, 1_500);
    for number in 0..10 {
        let call = format!("late_{number}");
        push(&mut window, &json!({ "type": "function_call", "call_id": call, "name": "run", "arguments": "{}" }));
    }
    talk(&mut window, 40, 100);
    for number in 0..10 {
        let call = format!("late_{number}");
        push(&mut window, &json!({ "type": "function_call_output", "call_id": call, "output": text(200) }));
        window.fit().unwrap();
    }
    talk(&mut window, 6, 100);
    assert!((300..=400).contains(&tail_tokens(&window, 300)), "{}", tail_tokens(&window, 300));
}

#[test]
fn what_came_before_a_late_summary_still_shrinks_before_it_is_sent() {
    let mut window = started(unhurried_ladder(4_000, |ladder| {
        (ladder.shrink_on_arrival_tokens, ladder.summarize_on_trim) = (100, true);
    }));
    talk(&mut window, 40, 100);
    let job = window.open_job().cloned().expect("so many messages left");
    turn(&mut window, 0, &text(2_000));
    turn(&mut window, 1, &text(1_900));
    let settled = window.answer(job.id, summary("All went well."));
    assert!(!settled.evicted.is_empty(), "there was no room for the result: {settled:?}");
    let fit = window.fit().unwrap();
    assert_eq!(fit.edited, [window.len() - 1], "{fit:?}");
}

// A caller's own figure.

/// Turns with long thinking that is bound to its prefix.
fn bound_turns(allowed_tokens: u64, policy: PolicyKind) -> Window {
    let config = config(Format::Anthropic, policy, allowed_tokens).with_thinking(ThinkingBinding::Prefix);
    let mut window = Window::new(config).unwrap();
    for number in 0..12 {
        say(&mut window, Role::User, &text(20));
        let thinking = json!({ "type": "thinking", "thinking": text(150), "signature": "c2ln" });
        let words = json!({ "type": "text", "text": format!("{number} {}", text(80)) });
        push(&mut window, &json!({ "role": "assistant", "content": [thinking, words] }));
    }
    say(&mut window, Role::User, "Go on.");
    window
}

#[test]
fn total_tokens_holds_for_what_a_cut_changes_too() {
    for policy in token_policies() {
        for total_tokens in [1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 4_400] {
            let name = policy.name().to_owned();
            let mut window = bound_turns(1_200, policy.clone());
            assert!((2_900..3_100).contains(&window.tokens()), "{}", window.tokens());
            window.report_total(total_tokens);
            assert_eq!(window.tokens(), total_tokens + 2, "{name}");
            let fit = window.fit().unwrap();
            assert!(!window.is_over(), "{name}, {total_tokens}: {} tokens", window.tokens());
            assert_eq!(fit.tokens_expected, Some(window.tokens()), "{name}, {total_tokens}");
        }
    }
}

#[test]
fn total_tokens_said_twice_scales_the_counters_own_figure_once() {
    let mut window = Window::new(config(Format::OpenAiChat, "tokens".parse().unwrap(), 60_000)).unwrap();
    talk(&mut window, 41, 100);
    window.report_usage(Usage::of_input(window.tokens() * 3 / 2));
    for total_tokens in [30_000, 30_000, 2_000, 30_000] {
        window.report_total(total_tokens);
        assert_eq!(window.tokens(), total_tokens + 100);
    }
    assert_eq!(window.tokens_of(0), Some(150), "chars4 may be wrong by half");
    assert_eq!(window.tokens_of(40), Some(100), "the last message is never scaled");
}

#[test]
fn total_tokens_is_of_messages_as_they_came_in() {
    let mask = PolicyKind::Mask(ObservationsConfig { trigger_tokens: 0, keep: 1 });
    let mut window = started(WindowConfig::new(Format::OpenAiChat, mask));
    for number in 0..6 {
        turn(&mut window, number, &text(300));
    }
    say(&mut window, Role::User, &text(10));
    window.fit().unwrap();
    window.report_total(2_400);
    assert_eq!(window.log_tokens(), 2_410);
    assert!(window.tokens() < 1_000, "five results of 300 tokens are not sent: {}", window.tokens());
}

#[test]
fn a_report_of_usage_is_about_everything_that_total_tokens_is_about() {
    let mut window = Window::new(config(Format::OpenAiChat, "tokens".parse().unwrap(), 60_000)).unwrap();
    talk(&mut window, 41, 100);
    window.report_total(9_000);
    window.fit().unwrap();
    window.report_usage(Usage::of_input(window.tokens()));
    assert_eq!(window.calibration(), Factor::ONE);
}

#[test]
fn a_report_of_usage_is_about_what_was_sent() {
    let mut window = Window::new(config(Format::OpenAiChat, "tokens".parse().unwrap(), 60_000)).unwrap();
    talk(&mut window, 40, 100);
    let sent_tokens = window.tokens();
    say(&mut window, Role::Assistant, &text(2_000));
    window.report_usage(Usage::of_input(sent_tokens));
    assert_eq!(window.calibration(), Factor::ONE);
}

// A rescue: the provider takes less than was known.

#[test]
fn a_rescue_knows_what_the_policy_edits() {
    for trigger_tokens in [0, 3_000] {
        let mask = PolicyKind::Mask(ObservationsConfig { trigger_tokens, keep: 1 });
        let mut window = started(WindowConfig::new(Format::OpenAiChat, mask));
        for number in 0..20 {
            turn(&mut window, number, &text(300));
        }
        window.limit_to(budget(1_000));
        let fit = window.fit().unwrap();
        assert!(fit.evicted.is_empty(), "19 results of 300 tokens are not sent: {fit:?}");
        assert_eq!((fit.tokens_expected, fit.edited.len()), (Some(window.tokens()), 19));
        assert_eq!(window.tokens(), recounted(&window));
    }
}

#[test]
fn a_rescue_clips_no_result_that_the_policy_has_replaced() {
    let mask = PolicyKind::Mask(ObservationsConfig { trigger_tokens: 0, keep: 1 });
    for allowed_tokens in (30..1_000).step_by(10) {
        let mut window = Window::new(WindowConfig::new(Format::Anthropic, mask.clone())).unwrap();
        say(&mut window, Role::User, "Mend src/lib.rs.");
        for number in 0..4 {
            push(&mut window, &json!({ "role": "assistant", "content": [tool_use(number)] }));
            let words = json!({ "type": "text", "text": text(1_000) });
            let result = json!({ "type": "tool_result", "tool_use_id": format!("toolu_{number}"), "content": [words] });
            push(&mut window, &json!({ "role": "user", "content": [result] }));
        }
        window.limit_to(budget(allowed_tokens));
        let Ok(fit) = window.fit() else {
            continue;
        };
        assert_eq!((fit.tokens_expected, fit.tokens_after), (Some(window.tokens()), window.tokens()));
        assert_eq!(window.tokens(), recounted(&window), "{allowed_tokens}");
        assert!(!window.is_over(), "{allowed_tokens}");
    }
}

#[test]
fn a_rescue_keeps_what_the_policy_pins_as_long_as_there_is_room() {
    let cap = MessagesConfig { preserve_first_n: 3, preserve_last_n: 4, ..MessagesConfig::default() };
    for (allowed_tokens, is_roomy) in [(1_500, true), (900, true), (500, false), (300, false)] {
        let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap))).unwrap();
        talk(&mut window, 30, 100);
        window.limit_to(budget(allowed_tokens));
        window.fit().unwrap();
        let kept = kept(&window);
        let pins = window.pins();
        assert!(
            (0..30).filter(|index| pins.touch(&(*index..index + 1))).all(|index| kept.contains(&index)),
            "{pins:?}"
        );
        assert!(kept.contains(&0) && kept.contains(&29), "{kept:?}");
        assert_eq!([1, 2, 26, 27, 28].iter().all(|index| kept.contains(index)), is_roomy, "{kept:?}");
    }
}

// A frame.

#[test]
fn a_frame_may_use_the_historys_name_for_something_else() {
    let schema =
        json!({ "type": "object", "properties": { "input": { "type": "string" }, "messages": {}, "contents": {} } });
    let frames = [
        (
            Format::OpenAiResponses,
            json!({ "model": "m", "tools": [{ "type": "function", "name": "f", "parameters": schema }] }),
        ),
        (Format::Anthropic, json!({ "model": "m", "tools": [{ "name": "f", "input_schema": schema }] })),
        (Format::Gemini, json!({ "tools": [{ "functionDeclarations": [{ "name": "f", "parameters": schema }] }] })),
        (Format::OpenAiChat, json!({ "model": "m", "system \"messages\"": "\"messages\"" })),
    ];
    for (format, frame) in frames {
        let mut window = Window::for_model(format, "m").frame(&frame).build().unwrap();
        say(&mut window, Role::User, "Hi");
        let request: Value = serde_json::from_str(&window.request().unwrap().json()).unwrap();
        assert_eq!(request[format.history_key()].as_array().unwrap().len(), 1, "{format}");
        let with_history =
            json!({ "model": "m", format.history_key(): [serde_json::from_str::<Value>(&sent(&window)[0]).unwrap()] });
        assert!(Window::for_model(format, "m").frame(&with_history).build().is_err(), "{format}");
    }
}

#[test]
fn a_request_with_manual_thinking_binds_an_open_turn_whatever_the_catalogue_knows() {
    let mut evicting = 0;
    for policy in eager_policies() {
        let name = policy.name().to_owned();
        let trimmed = trim(&open_turn(), config(Format::Anthropic, policy, 1_200)).unwrap();
        assert_eq!(check(&Body::parse(&trimmed.json, None).unwrap()), [], "{name}");
        evicting += usize::from(!trimmed.report.evicted.is_empty());
    }
    assert!(evicting >= 7, "only {evicting} policies left something out");
    let bound = config(Format::Anthropic, PolicyKind::Newest, 9).with_thinking(ThinkingBinding::Prefix);
    assert_eq!(bound.with_frame(&open_turn()).thinking, ThinkingBinding::Prefix, "the stricter binding stays");
}

#[test]
fn cache_marks_are_four_at_most_whoever_set_them() {
    let mark = json!({ "type": "ephemeral" });
    let block = |text: &str| json!({ "type": "text", "text": text, "cache_control": mark });
    let plain = json!({ "type": "text", "text": "Hi" });
    for own in 0..=4 {
        let system: Vec<Value> =
            (0..4).map(|number| if number < own { block("Be brief.") } else { plain.clone() }).collect();
        for in_history in 0..=4 - own {
            let frame = json!({ "model": "m", "max_tokens": 100, "system": system });
            let cap = MessagesConfig { max_messages: 6, preserve_last_n: 5, ..MessagesConfig::default() };
            let builder = Window::for_model(Format::Anthropic, "m").policy(PolicyKind::Messages(cap));
            let mut window = builder.frame(&frame).build().unwrap();
            for number in 0..9 {
                let content = if number >= 4 && number < 4 + in_history { block("Hi") } else { plain.clone() };
                push(
                    &mut window,
                    &json!({ "role": if number % 2 == 0 { "user" } else { "assistant" }, "content": [content] }),
                );
            }
            let json = window.request().unwrap().with_cache_marks().json();
            assert_eq!(check(&Body::parse(&json, Some(Format::Anthropic)).unwrap()), [], "{own} and {in_history}");
            let marks = json.matches("cache_control").count();
            assert_eq!(marks, (own + in_history + 2).min(4), "{own} and {in_history}");
        }
    }
}

// A plan.

#[test]
fn a_plan_right_after_a_fit_changes_nothing() {
    for policy in eager_policies() {
        for size in [5, 10, 20, 40] {
            let name = policy.name().to_owned();
            let mut config = config(Format::OpenAiChat, policy.clone(), 4_000);
            config.economy.read = Factor::from_thousandths(300);
            let mut window = started(config);
            for number in 0..60 {
                let role = if number % 2 == 0 { Role::Assistant } else { Role::User };
                say(&mut window, role, &text(if number == 20 { size * 20 } else { size }));
                window.fit().unwrap();
                let plan = window.plan().unwrap();
                assert!(plan.keeps_everything() && plan.trigger.is_none(), "{name}, {number}: {plan:?}");
            }
            say(&mut window, Role::User, &text(9_000));
            assert_eq!(window.fit().err(), window.plan().err(), "{name}");
        }
    }
}

// What rides along.

#[test]
fn what_rides_along_stays_with_its_message() {
    let mut window = started(WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything));
    say(&mut window, Role::Assistant, "Hi.");
    let mut window = WithPayload::new(window);
    window.push(Message::synthetic(Format::OpenAiChat, Role::User, "Third.").unwrap(), 3);
    say(window.window_mut(), Role::Assistant, "Fourth.");
    window.push_json(&json!({ "role": "user", "content": "Fifth." }), 5).unwrap();
    assert!(window.push_json(&json!(7), 6).is_err());
    window.push_json(&json!({ "role": "user", "content": "Sixth." }), 6).unwrap();
    assert!(window.request().unwrap().json().contains("Sixth."));
    let riding: Vec<_> = window.view().map(|(_, payload)| payload.copied()).collect();
    assert_eq!(riding, [None, None, Some(3), None, Some(5), Some(6)]);
}

// What a summary cost.

#[test]
fn the_report_says_what_the_summary_cost() {
    let tokens = TokensConfig { auto_condense_context: true, ..TokensConfig::default() };
    let mut window = Window::new(config(Format::OpenAiChat, PolicyKind::Tokens(tokens), 4_000)).unwrap();
    for number in 0..50 {
        say(&mut window, if number % 2 == 0 { Role::User } else { Role::Assistant }, &text(100));
    }
    let fit = window.fit().unwrap();
    assert_eq!(Report::new(&window, &fit).cost, None);
    let answer = Summary::new("All went well.").with_cost(0.25);
    let fit = window.answer(fit.job.unwrap().id, Ok(answer));
    let report = Report::new(&window, &fit);
    assert_eq!((report.summary.as_deref(), report.cost), (Some("All went well."), Some(0.25)));
}

#[test]
fn an_account_does_not_begin_an_unfinished_turn_in_place_of_thinking() {
    let block = json!({ "type": "compaction", "content": "So far, so good.", "signature": "c2ln" });
    let mut config = unhurried_ladder(370, |ladder| ladder.keep_recent_tokens = 0);
    (config.format, config.thinking) = (Format::Anthropic, ThinkingBinding::OpenTurn);
    let mut window = Window::new(config).unwrap();
    let long = json!({ "role": "assistant", "content": text(300) });
    let messages = [
        json!({ "role": "user", "content": "What is in src/a.rs?" }),
        long,
        json!({ "role": "user", "content": "And now?" }),
        json!({ "role": "assistant", "content": [block] }),
        tool_result(7),
        tool_result(8),
    ];
    window.extend_json(&messages).unwrap();
    let had = refused(&messages.iter().map(Value::to_string).collect::<Vec<_>>());
    window.fit().unwrap();
    assert!(ledger(&window).is_some(), "{:#?}", sent(&window));
    assert_eq!(refused(&sent(&window)), had, "{:#?}", sent(&window));
}

#[test]
fn a_marker_does_not_begin_an_unfinished_turn_in_place_of_thinking() {
    let messages = [
        json!({ "role": "user", "content": "What is in the folder?" }),
        json!({ "role": "system", "content": "A file was changed." }),
        tool_result(7),
        tool_result(8),
        json!({ "role": "assistant", "content": [thought(), tool_use(1)] }),
        tool_result(1),
    ];
    let cap = MessagesConfig { max_messages: 5, preserve_first_n: 2, preserve_last_n: 3, summarize_on_trim: false };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let mut window = Window::new(config.with_thinking(ThinkingBinding::OpenTurn)).unwrap();
    window.extend_json(&messages).unwrap();
    window.fit().unwrap();
    assert_eq!(kept(&window), BTreeSet::from([0, 1, 3, 4, 5]));
    assert_eq!(refused(&sent(&window)), 0, "{:#?}", sent(&window));
}

#[test]
fn a_summary_behind_a_compaction_does_not_begin_an_unfinished_turn_in_place_of_thinking() {
    let cap = MessagesConfig { max_messages: 1, preserve_first_n: 0, preserve_last_n: 0, summarize_on_trim: true };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let config = config.with_thinking(ThinkingBinding::OpenTurn);
    let compaction =
        json!({ "role": "assistant", "content": [{ "type": "compaction", "content": "So far.", "signature": "s" }] });
    let system = json!({ "role": "system", "content": "A file was changed." });
    for (before, is_system_first) in (0..24).flat_map(|before| [(before, false), (before, true)]) {
        let mut window = Window::new(config.clone()).unwrap();
        let mut messages: Vec<_> =
            (0..before).map(|n| json!({ "role": (["user", "assistant"][n % 2]), "content": text(40) })).collect();
        messages.extend([compaction.clone(), json!({ "role": "user", "content": "And now?" }), tool_result(7)]);
        messages
            .extend(if is_system_first { [&system, &compaction] } else { [&compaction, &system] }.map(Clone::clone));
        messages.extend([json!({ "role": "assistant", "content": [thought(), tool_use(1)] }), tool_result(1)]);
        for message in &messages {
            push(&mut window, message);
            if let Some(job) = window.fit().unwrap().job {
                window.answer(job.id, summary("They looked around."));
            }
        }
        assert_eq!(window.summary().is_some(), before > 10, "{before} before: {:#?}", sent(&window));
        assert_eq!(refused(&sent(&window)), 0, "{before} before: {:#?}", sent(&window));
    }
}

#[test]
fn a_compaction_behind_an_instruction_stays_where_a_marker_would_begin_the_turn() {
    let cap = MessagesConfig { max_messages: 7, preserve_first_n: 3, preserve_last_n: 4, summarize_on_trim: false };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap));
    let compaction =
        json!({ "role": "assistant", "content": [{ "type": "compaction", "content": "So far.", "signature": "s" }] });
    let messages = [
        json!({ "role": "user", "content": "Go." }),
        json!({ "role": "user", "content": "On." }),
        json!({ "role": "system", "content": "A file was changed." }),
        compaction.clone(),
        tool_result(7),
        compaction,
        json!({ "role": "assistant", "content": [thought(), tool_use(1)] }),
        tool_result(1),
    ];
    let mut window = Window::new(config.with_thinking(ThinkingBinding::OpenTurn)).unwrap();
    for message in &messages {
        push(&mut window, message);
    }
    window.fit().unwrap();
    let body = format!(r#"{{"thinking":{{"type":"enabled"}},"messages":[{}]}}"#, sent(&window).join(","));
    let rules: Vec<_> =
        check(&Body::parse(&body, Some(Format::Anthropic)).unwrap()).iter().map(|one| one.rule).collect();
    assert_eq!(rules, ["tool-result-without-use"], "as it was before, and nothing else: {body}");
}

#[test]
fn clipping_what_the_model_does_not_see_does_not_make_the_view_larger() {
    let ladder = LadderConfig { shrink_on_arrival_tokens: 20, ..LadderConfig::default() };
    let config = WindowConfig::new(Format::Anthropic, PolicyKind::Ladder(ladder));
    let config = config.with_thinking(ThinkingBinding::Prefix).with_budget(Budget::new(4_000, Some(100)).unwrap());
    let mut window = Window::new(config).unwrap();
    let said = |block: Value| json!({ "role": "assistant", "content": [block] });
    let messages = [
        json!({ "role": "user", "content": "Go." }),
        said(tool_use(1)),
        tool_result(1),
        said(json!({ "type": "compaction", "content": "So far.", "signature": "s" })),
        said(json!({ "type": "redacted_thinking", "data": "cmVkYWN0ZWQ=" })),
    ];
    window.extend_json(&messages).unwrap();
    let fit = window.fit().unwrap();
    assert!(fit.tokens_after <= fit.tokens_before, "{fit:?}");
    assert!(sent(&window).iter().any(|text| text.contains("redacted_thinking")), "{:#?}", sent(&window));
}

/// Folds the first answer once there are four messages, and lets the question behind a compaction go later.
#[derive(Debug)]
struct Folding;

impl Policy for Folding {
    fn name(&self) -> &str {
        "folding"
    }

    fn bound(&self) -> Bound {
        Bound::None
    }

    fn pins(&self, _: &PolicyInput<'_>) -> Pins {
        Pins::head(1)
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let mut builder = input.builder(&self.pins(input));
        builder.plan_mut().head_end = 1;
        match input.log_len() {
            4 => {
                builder.evict_where(|unit| unit.range.start == 1);
                builder.put_ledger("[one answer is folded here]".to_owned());
            }
            11 => drop(builder.evict_where(|unit| unit.range.start == 8)),
            _ => {}
        }
        Ok(builder.into_plan())
    }
}

#[test]
fn an_account_that_moves_behind_a_compaction_changes_what_stood_behind_its_old_place() {
    let config = config(Format::Anthropic, PolicyKind::Custom(Arc::new(Folding)), 10_000);
    let mut window = Window::new(config.with_thinking(ThinkingBinding::Prefix)).unwrap();
    for (role, text) in
        [(Role::User, "Go."), (Role::Assistant, "One."), (Role::User, "And?"), (Role::Assistant, "Two.")]
    {
        say(&mut window, role, text);
    }
    assert!(window.fit().unwrap().is_account_new);
    say(&mut window, Role::User, "Think.");
    push(&mut window, &json!({ "role": "assistant", "content": [thought(), { "type": "text", "text": "Done." }] }));
    say(&mut window, Role::User, "And now?");
    let compaction = json!({ "type": "compaction", "content": "So far.", "signature": "s" });
    push(&mut window, &json!({ "role": "assistant", "content": [compaction] }));
    for (role, text) in [(Role::User, "More?"), (Role::Assistant, "More."), (Role::User, "Enough.")] {
        say(&mut window, role, text);
    }
    assert!(sent(&window).iter().any(|raw| raw.contains("thinking")), "it stands behind what it was written behind");
    let fit = window.fit().unwrap();
    assert_eq!((fit.edited.as_slice(), fit.tokens_expected), ([5].as_slice(), Some(fit.tokens_after)));
    assert!(!sent(&window).iter().any(|raw| raw.contains("thinking")), "the ledger is not before it any more");
}
