//! A summary may take as long as it likes: the job stays open while the window goes on being cut.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::budget::Budget;
use louver::condense::{CondenseJob, Outcome, Summary};
use louver::policy::{MessagesConfig, PolicyKind, TokensConfig};
use louver::window::{Window, WindowConfig};
use louver::wire::{Format, History, Message};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

fn say(number: usize) -> Message {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let text = format!("Message {number} says something of some length about the task at hand.");
    Message::parse(Format::Anthropic, &json!({ "role": role, "content": text }).to_string()).unwrap()
}

/// A window that condenses: at most six messages, or 600 tokens, or both.
fn config(policy: &str) -> WindowConfig {
    let cap = MessagesConfig { max_messages: 6, preserve_first_n: 1, preserve_last_n: 3, summarize_on_trim: true };
    let tokens =
        TokensConfig { auto_condense_context: true, auto_condense_context_percent: 50, ..TokensConfig::default() };
    let policy = match policy {
        "messages" => PolicyKind::Messages(cap),
        "tokens" => PolicyKind::Tokens(tokens),
        _ => PolicyKind::Both(cap, tokens),
    };
    WindowConfig::new(Format::Anthropic, policy).with_budget(Budget::new(600, Some(100)).unwrap())
}

fn summary(text: &str) -> Result<Summary, String> {
    Ok(Summary::new(text))
}

fn covered(job: &CondenseJob) -> BTreeSet<usize> {
    job.covers.iter().cloned().flatten().collect()
}

fn evicted(window: &Window) -> BTreeSet<usize> {
    window.evicted().map(|(index, _)| index).collect()
}

fn raw_view(window: &Window) -> Vec<String> {
    window.view().iter().map(|sent| sent.message.raw().to_owned()).collect()
}

/// Pushes two messages at a time and fits after each pair, as a tool loop does; the jobs that came of it.
fn live(window: &mut Window, until: usize) -> Vec<CondenseJob> {
    let mut jobs = Vec::new();
    while window.len() < until {
        window.push(say(window.len()));
        window.push(say(window.len()));
        jobs.extend(window.fit().unwrap().job);
    }
    jobs
}

/// Goes on until a summary is wanted.
fn live_until_asked(window: &mut Window) -> CondenseJob {
    let until = |window: &Window| window.len() + 2;
    (0..100).find_map(|_| live(window, until(window)).pop()).unwrap()
}

#[test]
fn a_job_survives_the_cuts_that_come_before_its_answer() {
    let mut window = Window::new(config("messages")).unwrap();
    let jobs = live(&mut window, 60);
    let [job] = jobs.as_slice() else { panic!("one job is open at a time: {jobs:?}") };
    assert_eq!(window.open_job(), Some(job));
    assert_eq!(covered(job), (1..11).collect());
    assert_eq!(window.answer(job.id, summary("The first ten.")).outcome, Some(Outcome::Accepted));
    assert_eq!(window.summary(), Some("The first ten."));
    assert_eq!(window.open_job(), None);
    let jobs = live(&mut window, 62);
    let next = jobs.first().unwrap();
    assert_eq!(covered(next), (11..57).collect(), "the rest was carried to the next job, and nothing comes twice");
    assert!(next.prompt.contains("[summary]: The first ten.\n"), "{}", next.prompt);
}

#[test]
fn what_a_failed_job_covered_and_what_left_meanwhile_are_in_the_next() {
    let mut window = Window::new(config("messages")).unwrap();
    let job = live(&mut window, 40).remove(0);
    window.answer(job.id, Err("timed out".to_owned()));
    let jobs = live(&mut window, 52);
    assert_eq!(covered(jobs.first().unwrap()), (1..45).collect());
}

#[test]
fn what_a_job_covers_may_leave_before_the_answer() {
    let mut window = Window::new(config("tokens")).unwrap();
    let job = live_until_asked(&mut window);
    assert!(window.awaits_room(), "below the limit nothing has left yet");
    assert_eq!(evicted(&window), BTreeSet::new());
    while evicted(&window).is_empty() {
        let until = window.len() + 2;
        live(&mut window, until);
    }
    assert!(evicted(&window).is_subset(&covered(&job)), "{:?}", evicted(&window));
    assert_eq!(window.answer(job.id, summary("All of it.")).outcome, Some(Outcome::Accepted));
    assert!(!window.awaits_room());
    assert_eq!(evicted(&window), covered(&job), "and the rest of it leaves with the answer");
}

#[test]
fn what_leaves_while_condensing_waits_is_covered_later() {
    let mut window = Window::new(config("tokens")).unwrap();
    let job = live_until_asked(&mut window);
    window.answer(job.id, Err("overloaded".to_owned()));
    let next = live_until_asked(&mut window);
    assert!(!evicted(&window).is_empty());
    assert!(evicted(&window).is_subset(&covered(&next)), "{:?} {:?}", evicted(&window), covered(&next));
}

#[test]
fn a_merged_summary_may_be_as_long_as_the_one_it_takes_in() {
    let mut window = Window::new(config("messages")).unwrap();
    let first = live(&mut window, 60).remove(0);
    window.answer(first.id, summary(&"word ".repeat(30)));
    let second = live(&mut window, 62).remove(0);
    window.answer(second.id, summary(&"word ".repeat(150)));
    let third = live(&mut window, 72).remove(0);
    assert_eq!(third.covers.iter().map(|range| range.len()).sum::<usize>(), 10);
    assert_eq!(window.answer(third.id, summary(&"word ".repeat(190))).outcome, Some(Outcome::Accepted));
}

/// What a summariser does with the open job at some moment.
#[derive(Clone, Copy, Debug)]
enum Moment {
    Busy,
    Answers,
    Fails,
}

fn moments() -> impl Strategy<Value = Vec<Moment>> {
    let moment = prop_oneof![5 => Just(Moment::Busy), 1 => Just(Moment::Answers), 1 => Just(Moment::Fails)];
    prop::collection::vec(moment, 0..80)
}

proptest! {
    #[test]
    fn every_message_that_left_is_covered_once(moments in moments(), policy in prop::sample::select(vec!["messages", "tokens", "both"])) {
        let mut window = Window::new(config(policy)).unwrap();
        let mut done = BTreeSet::new();
        for (number, moment) in moments.into_iter().enumerate() {
            let until = window.len() + 2;
            let was_open = window.open_job().cloned();
            let jobs = live(&mut window, until);
            prop_assert!(jobs.is_empty() || was_open.is_none(), "one job is open at a time");
            let Some(job) = window.open_job().cloned() else { continue };
            match moment {
                Moment::Busy => {}
                Moment::Answers => {
                    prop_assert_eq!(window.answer(job.id, summary(&number.to_string())).outcome, Some(Outcome::Accepted));
                    let covered = covered(&job);
                    prop_assert!(done.is_disjoint(&covered), "{done:?} {covered:?}");
                    done.extend(covered);
                }
                Moment::Fails => drop(window.answer(job.id, Err("no".to_owned()))),
            }
            prop_assert!(done.is_subset(&evicted(&window)));
            let history = History::of(window.view().iter().map(|sent| sent.message));
            prop_assert_eq!(Format::Anthropic.wire().check(&history), []);
        }
        let (rebuilt, _) = Window::rebuild(config(policy), window.log()).unwrap();
        prop_assert_eq!(raw_view(&rebuilt), raw_view(&window));
        prop_assert_eq!(rebuilt.open_job(), window.open_job());
        // Whatever is not covered is in the job that is open or in the one that comes next.
        let mut rest = BTreeSet::new();
        let left = evicted(&window);
        if let Some(job) = window.open_job().cloned() {
            window.answer(job.id, Err("the end".to_owned()));
        }
        let until = window.len() + 60;
        rest.extend(live(&mut window, until).first().map(covered).unwrap_or_default());
        prop_assert!(left.difference(&done).all(|index| rest.contains(index)), "{left:?} {done:?} {rest:?}");
        prop_assert!(done.is_disjoint(&rest), "{done:?} {rest:?}");
    }
}
