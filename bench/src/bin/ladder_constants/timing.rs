//! When to cut: what the leeway, the patience and their like do.
//!
//! These constants cannot be set, so this is a simulation: the ladder's rule over the sizes of the recorded messages, with
//! a ledger that is as large as the ladder expects it. It is run beside a replay of the engine, to see how far it can be
//! trusted.

use crate::corpus::{CONTEXT_WINDOW, Corpus};
use crate::{mean, median, percent, source};
use louver::budget::Budget;
use louver::count::count_message;
use louver::policy::LadderConfig;
use louver::tokens::CounterChoice;
use louver::unit::units_of;
use louver_replay::{Contender, Conversation, Turn};
use std::error::Error;
use std::ops::Range;

const READ: f64 = 0.1;
const WRITE: f64 = 1.25;

/// What decides when a cut is made.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// How much more than sending everything the view may have cost at any time, as a share of it.
    leeway: f64,
    /// How often the rent has to pay the price.
    patience: f64,
    /// A view of fewer recent tails is left alone.
    smallest_view: f64,
    /// What a cut has to save, as a share of what it rewrites.
    sizeable: f64,
    /// How large a ledger is expected to be, as a share of what is folded.
    expected_ledger: f64,
}

impl Rule {
    fn shipped() -> Result<Self, String> {
        Ok(Self {
            leeway: source::number("LEEWAY_THOUSANDTHS: Money = ")? / 1_000.0,
            patience: source::number("PATIENCE_HUNDREDTHS: Money = ")? / 100.0,
            smallest_view: source::number("SMALLEST_VIEW_TENTHS: u64 = ")? / 10.0,
            sizeable: 1.0 / source::number("self.saved.thousandths().saturating_mul(")?,
            expected_ledger: 1.0 / 3.0,
        })
    }
}

/// Sizes of a recorded conversation, in tokens.
struct Sizes {
    /// Before each message, and of all.
    sums: Vec<f64>,
    turns: Vec<Turn>,
    units: Vec<Range<usize>>,
    head_end: usize,
    /// The messages in which the user says something.
    requests: Vec<usize>,
    overhead: f64,
}

impl Sizes {
    fn of(conversation: &Conversation) -> Self {
        let counter = CounterChoice::Chars4.resolve(None);
        let mut sums = vec![0.0];
        for message in &conversation.messages {
            sums.push(sums[sums.len() - 1] + count_message(&*counter, message).thousandths() as f64 / 1e3);
        }
        let shapes = || conversation.messages.iter().map(|message| message.shape());
        let requests = shapes().enumerate().filter(|(_, shape)| shape.is_request()).map(|(index, _)| index);
        Self {
            sums,
            turns: conversation.turns(),
            units: units_of(conversation.format, conversation.messages.iter().map(|message| &**message)).collect(),
            head_end: shapes().position(|shape| shape.is_from_model()).unwrap_or(conversation.messages.len()),
            requests: requests.collect(),
            overhead: conversation.overhead(&*counter, None).thousandths() as f64 / 1e3,
        }
    }

    fn between(&self, range: Range<usize>) -> f64 {
        (self.sums[range.end] - self.sums[range.start]).max(0.0)
    }

    /// Where the tail starts that is kept before a request.
    fn tail_start(&self, log_len: usize, keep_tokens: f64) -> usize {
        let most = keep_tokens - keep_tokens / 16.0;
        let mut held = 0.0;
        for unit in self.units.iter().rev().filter(|unit| unit.start < log_len) {
            held +=
                unit.clone().take_while(|at| *at < log_len).map(|at| self.between(at..at + 1).min(most)).sum::<f64>();
            if held >= keep_tokens {
                return unit.start;
            }
        }
        0
    }
}

/// Tokens that went over the wire, and what they cost.
#[derive(Clone, Copy, Debug, Default)]
struct Bill {
    cost: f64,
    last: f64,
    requests: usize,
}

impl Bill {
    fn add(&mut self, messages: f64, cached: f64, overhead: f64) {
        let is_first = self.requests == 0;
        let cached = if is_first { 0.0 } else { cached.min(messages) };
        self.cost += cached * READ + (messages - cached) * WRITE + overhead * if is_first { WRITE } else { READ };
        (self.last, self.requests) = (messages, self.requests + 1);
    }

    fn appended(mut self, messages: f64, overhead: f64) -> Self {
        self.add(messages, self.last, overhead);
        self
    }
}

/// A conversation that is sent under a rule.
struct Sending<'a> {
    sizes: &'a Sizes,
    rule: Rule,
    keep_tokens: f64,
    ledger_tokens: f64,
    allowed_tokens: f64,
    everything: Bill,
    view: Bill,
    ledger: f64,
    /// What was pinned and stands before the tail, and where the log goes on behind it.
    pinned: f64,
    kept_from: usize,
    seen: usize,
    removable: f64,
    cuts: usize,
}

/// What a cut would do.
#[derive(Clone, Copy, Debug)]
struct Offer {
    saved: f64,
    rewritten: f64,
    ledger: f64,
    tail_start: usize,
}

impl<'a> Sending<'a> {
    fn new(sizes: &'a Sizes, rule: Rule) -> Self {
        let row = LadderConfig::default();
        let allowed_tokens = Budget::new(CONTEXT_WINDOW, None).map_or(0, Budget::allowed_tokens) as f64;
        Self {
            sizes,
            rule,
            keep_tokens: row.keep_recent_tokens as f64,
            ledger_tokens: row.ledger_tokens as f64,
            allowed_tokens,
            everything: Bill::default(),
            view: Bill::default(),
            ledger: 0.0,
            pinned: 0.0,
            kept_from: sizes.head_end,
            seen: 0,
            removable: 0.0,
            cuts: 0,
        }
    }

    fn send_all(mut self) -> Outcome {
        for turn in &self.sizes.turns {
            self.send(turn.at);
        }
        Outcome {
            saving: 1.0 - self.view.cost / self.everything.cost,
            cuts: self.cuts,
            everything: self.everything.cost,
        }
    }

    fn send(&mut self, at: usize) {
        let overhead = self.sizes.overhead;
        self.everything = self.everything.appended(self.sizes.sums[at], overhead);
        let head = self.sizes.sums[self.sizes.head_end.min(at)];
        let messages = head + self.ledger + self.pinned + self.sizes.between(self.kept_from.min(at)..at);
        let offer = self.offer(at, messages);
        self.removable += offer.saved;
        let may_choose = messages + overhead > self.rule.smallest_view * self.keep_tokens;
        if may_choose && self.is_due(offer, messages) || messages + overhead > self.allowed_tokens {
            self.cut(at, offer);
            let left = head + self.ledger + self.pinned + self.sizes.between(self.kept_from.min(at)..at);
            self.view.add(left, head, overhead);
        } else {
            self.view = self.view.appended(messages, overhead);
        }
        self.seen = at;
    }

    fn offer(&self, at: usize, messages: f64) -> Offer {
        let tail_start = self.sizes.tail_start(at, self.keep_tokens).max(self.kept_from).min(at);
        let tail = self.sizes.between(tail_start..at);
        let middle = (messages - self.sizes.sums[self.sizes.head_end.min(at)] - tail).max(0.0);
        let folded = (middle - self.ledger).max(0.0);
        let expected = (folded * self.rule.expected_ledger).max(self.ledger);
        let ledger = expected.min(self.ledger_tokens.max(self.ledger));
        let new = self.sizes.between(self.seen.clamp(tail_start, at)..at);
        Offer { saved: (middle - ledger).max(0.0), rewritten: (tail + ledger - new).max(0.0), ledger, tail_start }
    }

    fn is_due(&self, offer: Offer, messages: f64) -> bool {
        let price = offer.rewritten * (WRITE - READ);
        let expected = offer.saved * READ * self.everything.requests as f64;
        let uncut = self.view.appended(messages, self.sizes.overhead).cost;
        let leeway = self.everything.cost * self.rule.leeway + self.everything.cost - uncut;
        let is_sizeable = offer.saved > 0.0 && offer.saved >= offer.rewritten * self.rule.sizeable;
        is_sizeable && self.removable * READ >= price * self.rule.patience && expected >= price && price <= leeway
    }

    fn cut(&mut self, at: usize, offer: Offer) {
        let latest = self.sizes.requests.iter().rev().find(|request| **request < at).copied().unwrap_or(0);
        let is_apart = latest >= self.sizes.head_end && latest < offer.tail_start;
        self.pinned = if is_apart { self.sizes.between(latest..latest + 1) } else { 0.0 };
        (self.ledger, self.kept_from) = (offer.ledger, offer.tail_start);
        self.removable = 0.0;
        self.cuts += 1;
    }
}

/// What a conversation came to.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    saving: f64,
    cuts: usize,
    everything: f64,
}

/// Prints what other constants would do, over all conversations and over the long ones.
pub(crate) fn report(corpus: &Corpus, long: &Corpus) -> Result<(), Box<dyn Error>> {
    let shipped = Rule::shipped()?;
    let sizes = |corpus: &Corpus| corpus.conversations.iter().map(Sizes::of).collect::<Vec<_>>();
    let (all, long_sizes) = (sizes(corpus), sizes(long));
    compare_with_engine(long, &long_sizes, shipped)?;
    println!(
        "\n{:<24} long ones: median   mean   cuts | all {}: of the bill  dearest  dearer by 1 %  by 5 %",
        "",
        all.len()
    );
    let show = |name: &str, value: f64, is_shipped: bool, rule: Rule| {
        let mark = if is_shipped { "*" } else { " " };
        println!("  {mark} {name:<16} {value:<6.2} {}", Line::of(&all, &long_sizes, rule));
    };
    sweep(&[0.0, 0.03, 0.05, 0.07, 0.1, 0.15, 0.3], shipped.leeway, |leeway, is| {
        show("leeway", leeway, is, Rule { leeway, ..shipped });
    });
    sweep(&[0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0], shipped.patience, |patience, is| {
        show("patience", patience, is, Rule { patience, ..shipped });
    });
    sweep(&[1.0, 2.0, 3.0, 4.0, 6.0], shipped.smallest_view, |smallest_view, is| {
        show("smallest view", smallest_view, is, Rule { smallest_view, ..shipped });
    });
    sweep(&[0.0, 0.1, 0.25, 0.5, 1.0], shipped.sizeable, |sizeable, is| {
        show("sizeable", sizeable, is, Rule { sizeable, ..shipped });
    });
    sweep(&[0.12, 0.2, 1.0 / 3.0, 0.4, 0.5], shipped.expected_ledger, |expected_ledger, is| {
        show("expected ledger", expected_ledger, is, Rule { expected_ledger, ..shipped });
    });
    Ok(())
}

fn sweep(values: &[f64], shipped: f64, mut each: impl FnMut(f64, bool)) {
    for value in values {
        each(*value, (value - shipped).abs() < 1e-9);
    }
}

/// How close the simulation comes to the engine.
fn compare_with_engine(long: &Corpus, sizes: &[Sizes], rule: Rule) -> Result<(), Box<dyn Error>> {
    let rows = long.replay(vec![Contender::named("ladder")?])?.runs;
    let simulated: Vec<Outcome> = sizes.iter().map(|sizes| Sending::new(sizes, rule).send_all()).collect();
    println!(
        "long conversations, as shipped: simulated saving {} in the median, {} cuts; the engine replayed {}, {} cuts.",
        percent(median(simulated.iter().map(|outcome| outcome.saving))),
        simulated.iter().map(|outcome| outcome.cuts).sum::<usize>(),
        percent(median(rows.iter().filter_map(|row| row.saving))),
        rows.iter().map(|row| row.cuts).sum::<u64>(),
    );
    Ok(())
}

/// A rule over all conversations.
struct Line {
    long: Vec<Outcome>,
    all: Vec<Outcome>,
}

impl Line {
    fn of(all: &[Sizes], long: &[Sizes], rule: Rule) -> Self {
        let send = |sizes: &[Sizes]| sizes.iter().map(|sizes| Sending::new(sizes, rule).send_all()).collect();
        Self { long: send(long), all: send(all) }
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let savings = || self.long.iter().map(|outcome| outcome.saving);
        let bill: f64 = self.all.iter().map(|outcome| outcome.everything).sum();
        let saved: f64 = self.all.iter().map(|outcome| outcome.everything * outcome.saving).sum();
        let dearer = |share: f64| self.all.iter().filter(|outcome| outcome.saving < -share).count();
        let dearest = self.all.iter().map(|outcome| outcome.saving).fold(f64::INFINITY, f64::min);
        write!(
            f,
            "          {} {} {:>6} |          {}  {}  {:>13}  {:>6}",
            percent(median(savings())),
            percent(mean(savings())),
            self.long.iter().map(|outcome| outcome.cuts).sum::<usize>(),
            percent(saved / bill),
            percent(dearest),
            dearer(0.01),
            dearer(0.05),
        )
    }
}
