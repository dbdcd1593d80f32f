//! Each law's test catches something that is wrong: a view that was tampered with, or a policy that does what none may.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "what is wrong is written here, so nothing is drawn")]
mod laws;

use laws::{Binding, Observed, Script, conserves, costs_no_more_later, fits, floor_is_named, hold, holds_elsewhere};
use laws::{idempotent, legal_stays_legal, no_input_panics, order_and_bytes, pins_stay, records, stable};
use louver::budget::Budget;
use louver::plan::{Bound, Largest, Memory, Overflow, Pins, Plan, Trigger};
use louver::policy::{MessagesConfig, Policy, PolicyInput, PolicyKind};
use louver::window::{Event, Fit, Origin, Record, Window, WindowConfig};
use louver::wire::{Format, Message, Role};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn message(value: &Value) -> Arc<Message> {
    Arc::new(Message::parse(Format::Anthropic, &value.to_string()).unwrap())
}

fn said(number: usize) -> Arc<Message> {
    let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
    Arc::new(Message::synthetic(Format::Anthropic, role, &format!("Message {number} says something.")).unwrap())
}

fn conversation() -> Vec<Arc<Message>> {
    (0..21).map(said).collect()
}

fn budget(context_window: u64) -> Option<Budget> {
    Some(Budget::new(context_window, Some(1)).unwrap())
}

fn capped() -> WindowConfig {
    let cap = MessagesConfig { max_messages: 6, preserve_last_n: 2, ..MessagesConfig::default() };
    WindowConfig::new(Format::Anthropic, PolicyKind::Messages(cap))
}

fn window(config: &WindowConfig, messages: &[Arc<Message>]) -> Window {
    let mut window = Window::new(config.clone()).unwrap();
    for message in messages {
        window.push(Arc::clone(message));
    }
    window.fit().unwrap();
    window
}

/// A view that every law holds for, until somebody tampers with it.
fn observed(config: &WindowConfig) -> Observed {
    let seen = Observed::of(&window(config, &conversation()));
    order_and_bytes(&seen);
    pins_stay(&seen, config);
    legal_stays_legal(&seen, config);
    fits(&seen, &Fit::default(), config);
    conserves(&seen, config);
    stable(&seen, &seen);
    seen
}

#[test]
#[should_panic(expected = "law 1")]
fn two_messages_change_places() {
    let mut seen = observed(&capped());
    seen.sent.swap(0, 1);
    order_and_bytes(&seen);
}

#[test]
#[should_panic(expected = "law 1")]
fn a_message_is_sent_twice() {
    let mut seen = observed(&capped());
    seen.sent.insert(1, seen.sent[0].clone());
    order_and_bytes(&seen);
}

#[test]
#[should_panic(expected = "law 2")]
fn a_kept_message_has_other_bytes() {
    let mut seen = observed(&capped());
    seen.sent[0].1 = message(&json!({ "role": "user", "content": "Message 0 says something else." }));
    order_and_bytes(&seen);
}

#[test]
#[should_panic(expected = "law 3: pin 0 left")]
fn the_first_message_leaves() {
    let config = capped();
    let mut seen = observed(&config);
    seen.sent.remove(0);
    pins_stay(&seen, &config);
}

#[test]
#[should_panic(expected = "law 3")]
fn what_a_policy_says_it_pins_leaves() {
    let config = capped();
    let mut seen = observed(&config);
    seen.pins = Pins { others: vec![9], ..seen.pins };
    pins_stay(&seen, &config);
}

#[test]
#[should_panic(expected = "law 3: the provider's compaction left")]
fn a_providers_compaction_leaves() {
    let config = capped();
    let mut seen = observed(&config);
    let block = json!({ "type": "compaction", "content": "So far.", "signature": "s" });
    seen.log[9] = message(&json!({ "role": "assistant", "content": [block] }));
    pins_stay(&seen, &config);
}

fn with_a_tool_call() -> Vec<Arc<Message>> {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "read", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "toolu_1", "content": "ok" });
    vec![
        said(0),
        message(&json!({ "role": "assistant", "content": [call] })),
        message(&json!({ "role": "user", "content": [result] })),
    ]
}

#[test]
#[should_panic(expected = "law 4: new violations")]
fn a_result_stays_without_its_call() {
    let config = capped();
    let mut seen = Observed::of(&window(&config, &with_a_tool_call()));
    legal_stays_legal(&seen, &config);
    seen.sent.remove(1);
    legal_stays_legal(&seen, &config);
}

fn thinking(number: usize) -> Arc<Message> {
    let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" });
    let text = json!({ "type": "text", "text": format!("Answer {number}.") });
    message(&json!({ "role": "assistant", "content": [thought, text] }))
}

fn unthinking(number: usize) -> Arc<Message> {
    message(&json!({ "role": "assistant", "content": [{ "type": "text", "text": format!("Answer {number}.") }] }))
}

fn everything(messages: &[Arc<Message>]) -> Window {
    window(&WindowConfig::new(Format::Anthropic, PolicyKind::Everything), messages)
}

#[test]
#[should_panic(expected = "law 4: thinking behind another prefix")]
fn thinking_stays_behind_another_prefix() {
    let mut binding = Binding::default();
    binding.note(1, &everything(&[said(0)]));
    binding.check(&everything(&[said(0), thinking(1)]));
    binding.check(&everything(&[said(2), thinking(1)]));
}

#[test]
#[should_panic(expected = "law 4: thinking left from the middle")]
fn thinking_leaves_from_the_middle() {
    let lived = [said(0), thinking(1), said(2), thinking(3), said(4), thinking(5)];
    let mut binding = Binding::default();
    for index in [1, 3, 5] {
        binding.note(index, &everything(&lived[..index]));
    }
    binding.check(&everything(&lived));
    binding.check(&everything(&[said(0), thinking(1), said(2), unthinking(3), said(4), thinking(5)]));
}

#[test]
#[should_panic(expected = "law 5")]
fn a_view_has_more_tokens_than_are_allowed() {
    let mut seen = observed(&capped());
    (seen.bound, seen.budget) = (Bound::Tokens, budget(100));
    seen.tokens = 90;
    fits(&seen, &Fit::default(), &capped());
}

#[test]
#[should_panic(expected = "law 5: [9] stay beyond the cap")]
fn a_view_has_more_messages_than_the_cap() {
    let mut seen = observed(&capped());
    seen.sent.push((Origin::Kept(9), said(9)));
    fits(&seen, &Fit::default(), &capped());
}

#[test]
#[should_panic(expected = "law 6: something is lost")]
fn a_message_is_neither_kept_nor_evicted() {
    let mut seen = observed(&capped());
    seen.evicted.pop_first().unwrap();
    conserves(&seen, &capped());
}

#[test]
#[should_panic(expected = "law 6: kept and evicted overlap")]
fn a_message_is_kept_and_evicted() {
    let mut seen = observed(&capped());
    seen.evicted.insert(0);
    conserves(&seen, &capped());
}

#[test]
#[should_panic(expected = "law 6: metrics disagree")]
fn the_metrics_are_of_another_view() {
    let mut seen = observed(&capped());
    seen.preserved_messages += 1;
    conserves(&seen, &capped());
}

#[test]
#[should_panic(expected = "law 6: the estimate")]
fn the_estimate_is_of_another_view() {
    let mut seen = observed(&capped());
    seen.estimated_tokens += 1;
    conserves(&seen, &capped());
}

#[test]
#[should_panic(expected = "law 8")]
fn the_sent_prefix_changes_without_a_cut() {
    let before = observed(&capped());
    let mut now = before.clone();
    now.sent[1] = (Origin::Kept(1), said(1));
    stable(&before, &now);
}

/// An overflow over a last message that is far too large, as the token window says it.
fn overflow() -> (WindowConfig, Observed, Overflow) {
    let config = WindowConfig::new(Format::Anthropic, "tokens".parse().unwrap()).with_budget(budget(100));
    let mut window = Window::new(config.clone()).unwrap();
    window.push(said(0));
    window.push(Message::synthetic(Format::Anthropic, Role::Assistant, "Hm.").unwrap());
    window.push(Message::synthetic(Format::Anthropic, Role::User, &"word".repeat(500)).unwrap());
    let overflow = window.fit().unwrap_err();
    let seen = Observed::of(&window);
    floor_is_named(&overflow, &seen, &config);
    (config, seen, overflow)
}

#[test]
#[should_panic(expected = "law 5: gave up although the floor fits")]
fn a_floor_fits_after_all() {
    let (config, seen, mut overflow) = overflow();
    overflow.floor_tokens = overflow.allowed_tokens;
    floor_is_named(&overflow, &seen, &config);
}

#[test]
#[should_panic(expected = "law 5: tokens's floor has more than what must stay")]
fn a_floor_holds_what_may_leave() {
    let (config, seen, mut overflow) = overflow();
    overflow.floor_tokens = 5_000;
    floor_is_named(&overflow, &seen, &config);
}

#[test]
#[should_panic(expected = "law 5: message 2 has")]
fn a_small_message_is_named_as_the_largest() {
    let (config, seen, mut overflow) = overflow();
    overflow.largest = Some(Largest { index: 0, tokens: 4 });
    floor_is_named(&overflow, &seen, &config);
}

#[test]
#[should_panic(expected = "law 5: it may leave")]
fn a_message_that_may_leave_is_named_as_the_largest() {
    let (config, seen, mut overflow) = overflow();
    overflow.largest = Some(Largest { index: 1, tokens: 500 });
    floor_is_named(&overflow, &seen, &config);
}

#[test]
#[should_panic(expected = "law 5: messages must stay, and none is named")]
fn no_message_is_named() {
    let (config, seen, mut overflow) = overflow();
    overflow.largest = None;
    floor_is_named(&overflow, &seen, &config);
}

/// A policy that does in `decide` what it should not.
#[derive(Debug)]
struct Wrong {
    bound: Bound,
    decide: fn(&Self, &PolicyInput<'_>) -> Result<Plan, Overflow>,
    /// What it remembers where nobody sees it.
    hidden: AtomicUsize,
}

impl Wrong {
    fn new(bound: Bound, decide: fn(&Self, &PolicyInput<'_>) -> Result<Plan, Overflow>) -> Self {
        Self { bound, decide, hidden: AtomicUsize::new(0) }
    }

    /// Lives through a conversation under the laws.
    fn live(self) {
        let policy = PolicyKind::Custom(Arc::new(self));
        let config = WindowConfig::new(Format::Anthropic, policy).with_budget(budget(100));
        hold(&config, &conversation(), &Script::PLAIN, 1);
    }
}

impl Policy for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }

    fn bound(&self) -> Bound {
        self.bound
    }

    fn pins(&self, _input: &PolicyInput<'_>) -> Pins {
        Pins::head(1)
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        (self.decide)(self, input)
    }
}

/// Leaves out everything but the first message and so many at the end.
fn newest(input: &PolicyInput<'_>, pins: &Pins, messages: usize) -> Result<Plan, Overflow> {
    let start = input.log_len().saturating_sub(messages);
    let mut builder = input.builder(pins);
    builder.plan_mut().head_end = pins.head_end;
    builder.evict_where(|unit| unit.range.end <= start);
    builder.finish()
}

#[test]
fn a_policy_that_does_nothing_wrong_passes() {
    Wrong::new(Bound::None, |_, input| newest(input, &Pins::head(1), 4)).live();
}

#[test]
#[should_panic(expected = "law 3: 0 left, which wrong says it pins")]
fn a_policy_lets_its_own_pin_go() {
    Wrong::new(Bound::None, |_, input| newest(input, &Pins::none(), 4)).live();
}

#[test]
#[should_panic(expected = "law 5")]
fn a_policy_sends_more_than_its_bound() {
    Wrong::new(Bound::Tokens, |_, _| Ok(Plan::nothing())).live();
}

#[test]
#[should_panic(expected = "law 5: gave up although the floor fits")]
fn a_policy_gives_up_although_everything_fits() {
    let lie = |_: &Wrong, _: &PolicyInput<'_>| Err(Overflow::new(10, 89, Some(Largest { index: 0, tokens: 10 })));
    Wrong::new(Bound::Tokens, lie).live();
}

#[test]
#[should_panic(expected = "law 5: wrong's floor has more than what must stay")]
fn a_policy_lies_about_its_floor() {
    let lie = |_: &Wrong, _: &PolicyInput<'_>| Err(Overflow::new(9_000, 89, Some(Largest { index: 0, tokens: 9_000 })));
    Wrong::new(Bound::Tokens, lie).live();
}

#[test]
#[should_panic(expected = "law 12: a second plan differs")]
fn a_policy_remembers_that_it_was_asked() {
    let counts = |wrong: &Wrong, input: &PolicyInput<'_>| {
        let asked = wrong.hidden.fetch_add(1, Ordering::Relaxed);
        newest(input, &Pins::head(1), 3 + asked % 2)
    };
    Wrong::new(Bound::None, counts).live();
}

/// As long as the log grows it is as any other; once it sees a shorter one, which happens when a window is rebuilt, it
/// leaves nothing out.
fn forgetful(wrong: &Wrong, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
    let longest = wrong.hidden.fetch_max(input.log_len(), Ordering::Relaxed);
    if input.log_len() < longest {
        wrong.hidden.store(usize::MAX, Ordering::Relaxed);
        return Ok(Plan::nothing());
    }
    newest(input, &Pins::head(1), 4)
}

#[test]
#[should_panic(expected = "laws 9 and 12: rebuilt from its log")]
fn a_policy_decides_otherwise_when_it_is_rebuilt() {
    Wrong::new(Bound::None, forgetful).live();
}

/// Keeps one message more from cut to cut, and does not say what it remembers after a recorded decision.
fn growing(_: &Wrong, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
    let cuts = input.memory().get::<usize>().copied().unwrap_or_default();
    let mut plan = newest(input, &Pins::head(1), 3 + cuts)?;
    plan.memory = Memory::new(cuts + usize::from(!plan.keeps_everything()));
    Ok(plan)
}

#[test]
#[should_panic(expected = "law 13: restored decides otherwise")]
fn a_policy_forgets_what_it_decided_when_it_is_restored() {
    Wrong::new(Bound::None, growing).live();
}

#[test]
#[should_panic(expected = "law 6: the plan counted another size")]
fn a_policy_changes_its_plan_after_it_was_counted() {
    let recount = |_: &Wrong, input: &PolicyInput<'_>| {
        let mut plan = newest(input, &Pins::head(1), 4)?;
        plan.evict.pop();
        Ok(plan)
    };
    Wrong::new(Bound::None, recount).live();
}

#[test]
#[should_panic(expected = "law 5: what nothing forced made")]
fn a_policy_cuts_for_its_own_sake_and_writes_more_than_it_takes_away() {
    let chatty = |_: &Wrong, input: &PolicyInput<'_>| {
        let mut builder = input.builder(&Pins::head(1));
        builder.evict_where(|unit| unit.range.start == 1);
        builder.put_ledger("word ".repeat(500));
        builder.plan_mut().trigger = Some(Trigger::PaysOff);
        Ok(builder.into_plan())
    };
    Wrong::new(Bound::None, chatty).live();
}

/// Leaves out one message more whenever it is asked.
fn restless(wrong: &Wrong, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
    let asked = wrong.hidden.fetch_add(1, Ordering::Relaxed);
    newest(input, &Pins::head(1), 15_usize.saturating_sub(asked))
}

#[test]
#[should_panic(expected = "law 7: a second fit cut again")]
fn a_policy_cuts_again_although_nothing_was_appended() {
    let policy = PolicyKind::Custom(Arc::new(Wrong::new(Bound::None, restless)));
    let mut window = window(&WindowConfig::new(Format::Anthropic, policy), &conversation());
    let seen = Observed::of(&window);
    idempotent(&mut window, &seen, true);
    // The window asks no policy twice about the same; what has no message makes it ask.
    window.cache_expired();
    idempotent(&mut window, &seen, true);
}

#[test]
#[should_panic(expected = "law 7: a second fit changed the view")]
fn a_view_is_another_after_a_second_fit() {
    let mut window = window(&capped(), &conversation());
    let mut seen = Observed::of(&window);
    seen.sent.pop();
    idempotent(&mut window, &seen, true);
}

/// Counts everything that was ever said, whenever it is asked.
fn diligent(_: &Wrong, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
    for index in 0..input.log_len() {
        let _ = input.count_text(input.original(index).raw());
    }
    newest(input, &Pins::head(1), 4)
}

#[test]
fn a_policy_that_counts_nothing_twice_costs_no_more_later() {
    let lazy = Wrong::new(Bound::None, |_, input| newest(input, &Pins::head(1), 4));
    costs_no_more_later(PolicyKind::Custom(Arc::new(lazy)));
}

#[test]
#[should_panic(expected = "law 10: wrong counts")]
fn a_policy_counts_the_whole_log_at_every_request() {
    costs_no_more_later(PolicyKind::Custom(Arc::new(Wrong::new(Bound::None, diligent))));
}

#[test]
#[should_panic(expected = "law 11: an error without a place")]
fn a_reader_does_not_say_where() {
    no_input_panics(|_| Err("It cannot be read.".to_owned()));
}

#[test]
#[should_panic(expected = "Utf8Error")]
fn a_reader_panics_over_bytes_that_are_no_text() {
    no_input_panics(|bytes| Ok(std::str::from_utf8(bytes).unwrap().to_owned()));
}

#[test]
#[should_panic(expected = "law 11: a lone surrogate")]
fn a_reader_writes_surrogates_anew() {
    no_input_panics(|bytes| {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        Ok(value.to_string())
    });
}

#[test]
#[should_panic(expected = "law 13: other settings, other bytes")]
fn a_record_leaves_a_decision_out() {
    let lived = window(&capped(), &conversation());
    let other = WindowConfig::new(Format::Anthropic, PolicyKind::Everything);
    let mut written = records(&lived);
    holds_elsewhere(&other, written.clone(), &lived);
    written.retain(|record| !matches!(record, Record::Event(Event::Fitted(_))));
    holds_elsewhere(&other, written, &lived);
}
