//! The laws of the design, checked on a window at every request of a conversation.
//!
//! Each law is a function over plain data ([`Observed`]), so that `laws_can_fail` can hand it something wrong.

mod binding;
mod cost;
mod life;
mod reading;
mod script;

pub(crate) use binding::Binding;
#[allow(unused_imports, reason = "each test uses a part of the laws")]
pub(crate) use cost::costs_no_more_later;
#[allow(unused_imports, reason = "each test uses a part of the laws")]
pub(crate) use life::{hold, holds_elsewhere, sizes_agree};
#[allow(unused_imports, reason = "each test uses a part of the laws")]
pub(crate) use reading::no_input_panics;
#[allow(unused_imports, reason = "each test uses a part of the laws")]
pub(crate) use script::{Script, scripts};

use louver::budget::Budget;
use louver::catalog::ThinkingBinding;
use louver::count::count_message;
use louver::plan::{Bound, Overflow, Pins, Trigger, Warning};
use louver::policy::{PolicyKind, TABLE};
use louver::tokens::{Factor, Millitokens};
use louver::unit::units_of;
use louver::window::{Fit, Log, Origin, Record, Window, WindowConfig};
use louver::wire::{Format, History, Message, PartKind, Role, Thinking};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What one can see of a window from outside.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) sent: Vec<(Origin, Arc<Message>)>,
    pub(crate) evicted: BTreeSet<usize>,
    pub(crate) log: Vec<Arc<Message>>,
    /// The units in the view.
    pub(crate) units: Vec<Range<usize>>,
    pub(crate) pins: Pins,
    /// What the wire format holds fast.
    pub(crate) held: BTreeSet<usize>,
    pub(crate) calibration: Factor,
    pub(crate) bound: Bound,
    pub(crate) budget: Option<Budget>,
    pub(crate) tokens: u64,
    pub(crate) estimated_tokens: u64,
    pub(crate) preserved_messages: usize,
    /// Whether a limit that the provider named binds a policy that promises nothing about tokens.
    pub(crate) is_rescued: bool,
    /// Whether the caller may have a figure of their own, which counts are scaled to.
    pub(crate) has_total: bool,
}

impl Observed {
    pub(crate) fn of(window: &Window) -> Self {
        let metrics = window.metrics();
        let log = window.log().messages;
        let shared = |origin: Origin, message: &Message| match origin {
            Origin::Kept(index) if std::ptr::eq(message, &*log[index]) => Arc::clone(&log[index]),
            _ => Arc::new(message.clone()),
        };
        Self {
            sent: window.view().iter().map(|sent| (sent.origin, shared(sent.origin, sent.message))).collect(),
            evicted: window.evicted().map(|(index, _)| index).collect(),
            log,
            units: window.units().collect(),
            pins: window.pins(),
            held: (0..window.len()).filter(|index| window.is_held(*index)).collect(),
            calibration: window.calibration(),
            bound: window.bound(),
            budget: window.budget(),
            tokens: window.tokens(),
            estimated_tokens: metrics.estimated_tokens,
            preserved_messages: metrics.preserved_messages,
            is_rescued: false,
            has_total: false,
        }
    }

    pub(crate) fn raw(&self) -> Vec<&str> {
        self.sent.iter().map(|(_, message)| message.raw()).collect()
    }

    fn calibrated(&self, amount: Millitokens) -> u64 {
        amount.scaled(self.calibration).ceil_tokens()
    }

    fn kept(&self) -> BTreeSet<usize> {
        self.sent.iter().filter_map(|(origin, _)| origin.index()).collect()
    }
}

pub(crate) fn order_and_bytes(seen: &Observed) {
    let mut last = None;
    for (origin, message) in &seen.sent {
        if let Some(index) = origin.index() {
            assert!(last.is_none_or(|last| last < index), "law 1: out of order");
            last = Some(index);
        }
        if let Origin::Kept(index) = origin {
            assert_eq!(message.raw(), seen.log[*index].raw(), "law 2: bytes changed");
        }
    }
}

/// What a policy pins by the words of the design, without asking it.
fn pinned(config: &WindowConfig, log: &[Arc<Message>], is_rescued: bool) -> Vec<usize> {
    let instructions = log.iter().take_while(|message| is_instruction(message)).count();
    let first = |count: usize| 0..instructions.saturating_add(count).min(log.len());
    match &config.policy {
        // Where the provider takes less than was known, what is pinned behind the first message may have to leave.
        PolicyKind::Messages(messages) if is_rescued => first(messages.preserve_first_n.min(1)).collect(),
        PolicyKind::Everything | PolicyKind::Mask(_) | PolicyKind::ClearTools(_) if is_rescued => first(1).collect(),
        PolicyKind::Messages(messages) => {
            let tail = log.len().saturating_sub(messages.preserve_last_n)..log.len();
            first(messages.preserve_first_n).chain(tail).collect()
        }
        PolicyKind::Tokens(_) | PolicyKind::FullCut => first(1).collect(),
        PolicyKind::Both(messages, _) => first(messages.preserve_first_n.min(1)).collect(),
        PolicyKind::Ladder(ladder) => {
            let answer = log.iter().position(|message| message.shape().is_from_model()).unwrap_or(log.len());
            let latest = log.iter().rposition(|message| message.shape().is_request());
            let holds = |index: &usize| ladder.pin.iter().any(|text| log[*index].raw().contains(text.as_str()));
            (0..answer).chain(latest).chain((0..log.len()).filter(holds)).collect()
        }
        PolicyKind::Everything | PolicyKind::Mask(_) | PolicyKind::ClearTools(_) => (0..log.len()).collect(),
        _ => first(0).collect(),
    }
}

fn is_instruction(message: &Message) -> bool {
    matches!(message.shape().role, Role::System | Role::Developer)
}

pub(crate) fn pins_stay(seen: &Observed, config: &WindowConfig) {
    let kept = seen.kept();
    let is_there = |pin: usize| kept.contains(&pin) || answers_what_left(seen, pin);
    for pin in pinned(config, &seen.log, seen.is_rescued) {
        assert!(is_there(pin), "law 3: pin {pin} left under {}", config.policy.name());
    }
    let claimed = (0..seen.log.len()).filter(|index| seen.pins.touch(&(*index..*index + 1)));
    for pin in claimed {
        assert!(is_there(pin), "law 3: {pin} left, which {} says it pins", config.policy.name());
    }
    if let Some(compaction) = seen.log.iter().rposition(|message| message.shape().has(PartKind::Compaction)) {
        assert!(kept.contains(&compaction), "law 3: the provider's compaction left");
    }
}

/// Rules that a history breaks, each with the message of the log that does, if it comes from there.
pub(crate) type Broken = BTreeSet<(String, Option<usize>)>;

/// What a reading of the rules finds in a history, and whether no call in the whole log has the id of another: where one
/// has, two readings may blame different messages for the same missing answer.
pub(crate) type Reading = fn(&WindowConfig, &[(Option<usize>, &Message)], bool) -> Broken;

/// Another reading of the rules, which judges every view beside the engine's own once it is set.
pub(crate) static SECOND_READING: OnceLock<Reading> = OnceLock::new();

fn has_unique_ids(log: &[Arc<Message>]) -> bool {
    let mut seen = BTreeSet::new();
    ids(log, PartKind::ToolCall).all(|(_, id)| seen.insert(id))
}

/// The calls or results of a log, each with its message and id.
fn ids(log: &[Arc<Message>], kind: PartKind) -> impl Iterator<Item = (usize, String)> {
    log.iter().enumerate().flat_map(move |(index, message)| {
        let parts = message.shape().parts.iter().filter(move |part| part.kind == kind);
        parts.map(move |part| (index, message.id_of(part).into_owned()))
    })
}

/// Whether a message answers a call that has left: it belonged to that unit, which left whole.
fn answers_what_left(seen: &Observed, index: usize) -> bool {
    let answered: Vec<String> =
        ids(&seen.log, PartKind::ToolResult).filter(|(at, _)| *at == index).map(|(_, id)| id).collect();
    let gone = ids(&seen.log, PartKind::ToolCall).filter(|(at, _)| *at < index && seen.evicted.contains(at));
    !answered.is_empty() && gone.into_iter().any(|(_, id)| answered.contains(&id))
}

/// Whether a message has a call and a later one its answer.
fn is_answered_by(seen: &Observed, call: usize, answer: usize) -> bool {
    let ids_at = |kind, index: usize| ids(&seen.log[index..=index], kind).map(|(_, id)| id);
    let answered: Vec<String> = ids_at(PartKind::ToolResult, answer).collect();
    call < answer && ids_at(PartKind::ToolCall, call).any(|id| answered.contains(&id))
}

fn violations(config: &WindowConfig, messages: &[(Option<usize>, &Message)]) -> Broken {
    let thinking = if config.thinking == ThinkingBinding::OpenTurn { Thinking::Enabled } else { Thinking::Unset };
    let history = History { thinking, ..History::of(messages.iter().map(|(_, message)| *message)) };
    let found = config.format.wire().check(&history);
    found
        .into_iter()
        .map(|violation| (violation.rule.to_owned(), messages.get(violation.index).and_then(|(origin, _)| *origin)))
        .collect()
}

pub(crate) fn legal_stays_legal(seen: &Observed, config: &WindowConfig) {
    let original: Vec<_> = seen.log.iter().enumerate().map(|(index, message)| (Some(index), &**message)).collect();
    let view: Vec<_> = seen.sent.iter().map(|(origin, message)| (origin.index(), &**message)).collect();
    let has_unique_ids = has_unique_ids(&seen.log);
    let own: Reading = |config, messages, _| violations(config, messages);
    for read in std::iter::once(own).chain(SECOND_READING.get().copied()) {
        let after = read(config, &view, has_unique_ids);
        if after.is_empty() {
            continue;
        }
        let before = read(config, &original, has_unique_ids);
        // A turn that is illegal for want of thinking is so whichever of its messages comes first.
        let wants_thinking = |broken: &(String, Option<usize>)| broken.0.starts_with("thinking-misplaced");
        let had_wanted = before.iter().any(wants_thinking);
        let is_inherited =
            |broken: &&(String, Option<usize>)| before.contains(*broken) || (wants_thinking(broken) && had_wanted);
        let new: Vec<_> = after.iter().filter(|broken| !is_inherited(broken)).collect();
        assert!(
            new.is_empty(),
            "law 4: new violations {new:?}, had {before:?}, {}\n{:#?}",
            config.policy.name(),
            seen.raw()
        );
    }
}

pub(crate) fn fits(seen: &Observed, fit: &Fit, config: &WindowConfig) {
    // Where the caller's figure alone keeps the history from fitting, one pass is made and a warning given.
    let is_beyond = fit.warnings.iter().any(|warning| matches!(warning, Warning::BeyondCount { .. }));
    assert!(!is_beyond || seen.has_total, "law 5: nobody gave a figure that is beyond the count");
    if seen.bound == Bound::Tokens && !is_beyond {
        let budget = seen.budget.unwrap();
        assert!(!budget.is_exceeded_by(seen.tokens), "law 5: {} tokens over {budget:?}", seen.tokens);
    }
    let is_optional =
        matches!(fit.trigger, None | Some(Trigger::PaysOff | Trigger::ColdCache | Trigger::PriceStep)) && !is_beyond;
    let (before, after) = (fit.tokens_before, fit.tokens_after);
    assert!(!is_optional || after <= before, "law 5: what nothing forced made {after} tokens of {before}");
    if let Some(allowed) = within_cap(seen, config) {
        let beyond: Vec<_> = seen.kept().difference(&allowed).copied().collect();
        assert!(beyond.is_empty(), "law 5: {beyond:?} stay beyond the cap: {:?}", config.policy.messages());
    }
}

/// What a cap on messages lets stay, if there is one: head, the newest up to the cap, whole units across their borders, and
/// what the wire format holds.
fn within_cap(seen: &Observed, config: &WindowConfig) -> Option<BTreeSet<usize>> {
    let stays = by_cap(seen, config)?;
    let units = units_of(config.format, seen.log.iter().map(|message| &**message));
    Some(units.filter(|unit| unit.clone().any(&stays)).flatten().collect())
}

/// What a cap on messages keeps by itself, if there is one.
fn by_cap(seen: &Observed, config: &WindowConfig) -> Option<impl Fn(usize) -> bool> {
    let messages = config.policy.messages().filter(|messages| messages.max_messages > 0)?;
    let len = seen.log.len();
    let instructions = seen.log.iter().take_while(|message| is_instruction(message)).count();
    let head = instructions.saturating_add(messages.preserve_first_n);
    let newest = messages.max_messages.saturating_sub(head).max(messages.preserve_last_n);
    let newest = if len <= messages.max_messages { len } else { newest };
    Some(move |index: usize| index < head || index >= len.saturating_sub(newest) || seen.held.contains(&index))
}

/// An error means that what has to stay is too large, and nothing else: pinned, held by the wire format, or the last
/// turn. Its floor is counted again here, and the message that it names is the largest of these.
pub(crate) fn floor_is_named(overflow: &Overflow, seen: &Observed, config: &WindowConfig) {
    assert!(overflow.floor_tokens > overflow.allowed_tokens, "law 5: gave up although the floor fits: {overflow}");
    let policy = config.policy.name();
    // A message cap may take the last turn away, so that an earlier one is the last that the token window sees.
    let capped = within_cap(seen, config);
    let is_left = |unit: &Range<usize>| capped.as_ref().is_none_or(|capped| capped.contains(&unit.start));
    let units: Vec<_> = seen.units.iter().filter(|unit| is_left(unit)).cloned().collect();
    let last = last_turns(seen, config, &units);
    let must_stay = |unit: &&Range<usize>| {
        last == std::slice::from_ref(*unit)
            || seen.pins.touch(unit)
            || (*unit).clone().any(|index| seen.held.contains(&index))
    };
    let sure: Vec<usize> = units.iter().filter(must_stay).cloned().flatten().collect();
    let floor = with_late_answers(seen, config, &units, last, &sure);
    // What a provider's compaction stands for is not seen by the model, so it costs nothing.
    let seen_from = seen.log.iter().rposition(|message| message.shape().has(PartKind::Compaction)).unwrap_or(0);
    let size = |index: usize| count_message(&*config.counter, &seen.log[index]);
    let seen_size = |index: usize| if index < seen_from { Millitokens::ZERO } else { size(index) };
    let sized = |index: &usize| (seen.calibrated(seen_size(*index)), *index);
    let overhead = seen.calibrated(config.overhead);
    // Each is rounded up here, and a marker may stand in every gap.
    let most =
        overhead + floor.iter().map(|index| sized(index).0).sum::<u64>() + 2 * MARKER_TOKENS * (units.len() as u64 + 1);
    // A caller's figure may say that there is more than every count.
    let is_counted = overflow.floor_tokens <= most || seen.has_total;
    assert!(is_counted, "law 5: {policy}'s floor has more than what must stay, {most}: {overflow}");
    match overflow.largest {
        None => assert!(floor.is_empty(), "law 5: messages must stay, and none is named: {overflow}"),
        Some(largest) => {
            // Tool output may be clipped, so only a text that cannot be is surely as large as it came.
            let uncut = sure.iter().map(sized).filter(|(_, index)| !has_output(&seen.log[*index])).max();
            assert!(floor.contains(&largest.index), "law 5: it may leave under {policy}: {overflow}");
            let (tokens, index) = uncut.filter(|_| !seen.has_total).unwrap_or_default();
            assert!(largest.tokens + 1 >= tokens, "law 5: message {index} has {tokens} tokens: {overflow}");
        }
    }
}

/// The turns one of which is the last that the token window sees: the newest, and before it as many as may be, because a
/// cap may take the call that the newer answers, and it goes with its call.
fn last_turns<'a>(seen: &Observed, config: &WindowConfig, units: &'a [Range<usize>]) -> &'a [Range<usize>] {
    let stays = by_cap(seen, config).filter(|_| config.format == Format::OpenAiResponses);
    let is_taken = |unit: &&Range<usize>| stays.as_ref().is_some_and(|stays| !(*unit).clone().any(stays));
    let taken: Vec<usize> = seen.units.iter().filter(is_taken).cloned().flatten().collect();
    let may_go = |unit: &&Range<usize>| {
        (*unit).clone().any(|answer| taken.iter().any(|call| is_answered_by(seen, *call, answer)))
    };
    let newer = units.iter().rev().take_while(may_go).count();
    &units[units.len().saturating_sub(newer + 1)..]
}

/// What must stay, with the calls that the last message answers and the answers that came late. Where ids are repeated
/// this may name more than the engine holds together, never less.
fn with_late_answers(
    seen: &Observed,
    config: &WindowConfig,
    units: &[Range<usize>],
    last: &[Range<usize>],
    sure: &[usize],
) -> Vec<usize> {
    let mut floor = sure.to_vec();
    // Elsewhere an answer stands beside its call.
    if config.format != Format::OpenAiResponses {
        return floor;
    }
    let mut add = |is_held: &dyn Fn(usize, &[usize]) -> bool| {
        let more = units.iter().filter(|unit| (*unit).clone().any(|index| is_held(index, &floor)));
        let more: Vec<usize> = more.cloned().flatten().filter(|index| !floor.contains(index)).collect();
        floor.extend(more);
    };
    add(&|index, _| last.iter().any(|unit| unit.contains(&index) || is_answered_by(seen, index, unit.end - 1)));
    add(&|index, floor| floor.iter().any(|call| is_answered_by(seen, *call, index)));
    floor
}

/// What a marker has at most, with room for a calibration of four.
const MARKER_TOKENS: u64 = 40;

fn has_output(message: &Message) -> bool {
    message.shape().has(PartKind::ToolResult) || message.shape().has(PartKind::Thinking)
}

pub(crate) fn conserves(seen: &Observed, config: &WindowConfig) {
    let kept = seen.kept();
    assert!(kept.is_disjoint(&seen.evicted), "law 6: kept and evicted overlap");
    assert_eq!(kept.len() + seen.evicted.len(), seen.log.len(), "law 6: something is lost");
    assert_eq!(seen.preserved_messages, kept.len(), "law 6: metrics disagree with the lists");
    let chars: u64 = seen.sent.iter().map(|(_, message)| message.shape().estimate_chars).sum();
    assert_eq!(seen.estimated_tokens, chars.div_ceil(4), "law 6: the estimate is not of what is sent");
    if !seen.has_total {
        assert_eq!(seen.tokens, recounted(seen, config), "law 6: the view has another size than its messages");
    }
}

/// What is sent, counted message by message. What a provider's compaction stands for costs nothing.
fn recounted(seen: &Observed, config: &WindowConfig) -> u64 {
    let seen_from = seen.log.iter().rposition(|message| message.shape().has(PartKind::Compaction)).unwrap_or(0);
    let is_seen = |origin: &Origin| origin.index().is_none_or(|index| index >= seen_from);
    let sent = seen.sent.iter().filter(|(origin, _)| is_seen(origin));
    let sizes = sent.map(|(_, message)| count_message(&*config.counter, message));
    seen.calibrated(sizes.sum::<Millitokens>() + config.overhead)
}

pub(crate) fn stable(before: &Observed, now: &Observed) {
    assert!(now.raw().starts_with(&before.raw()), "law 8: the sent prefix changed without a cut");
}

pub(crate) fn idempotent(window: &mut Window, seen: &Observed, fitted: bool) {
    let again = window.fit();
    assert_eq!(again.is_ok(), fitted, "law 7: a second fit went otherwise");
    assert!(!again.is_ok_and(|fit| fit.is_cut()), "law 7: a second fit cut again");
    assert_eq!(raw(window), seen.raw(), "law 7: a second fit changed the view");
}

fn planning_changes_nothing(window: &Window) {
    let before = (raw(window), window.tokens());
    let plans = [window.plan(), window.plan()].map(|plan| format!("{plan:?}"));
    assert_eq!(plans[0], plans[1], "law 12: a second plan differs");
    assert_eq!((raw(window), window.tokens()), before, "law 12: planning left a trace");
}

/// The log has no event for a fit that failed, so living through it again leaves those out: if one had left a trace, the
/// two windows would differ.
fn no_trace_and_rebuildable(window: &Window, config: &WindowConfig) {
    let (rebuilt, _) = Window::rebuild(config.clone(), window.log()).unwrap();
    same(&rebuilt, window, "laws 9 and 12: rebuilt from its log");
    assert_eq!(rebuilt.account(), window.account(), "laws 9 and 12: the books differ");
}

fn transcript_is_enough(window: &Window, config: &WindowConfig, messages: &[Arc<Message>]) {
    let (rebuilt, _) = Window::rebuild(config.clone(), Log::of_transcript(messages.to_vec())).unwrap();
    same(&rebuilt, window, "law 9: rebuilt from its messages alone");
}

/// The records of a window, written down and read again.
pub(crate) fn records(window: &Window) -> Vec<Record> {
    let lines = window.records_since(0).map(|record| serde_json::to_string(&record).unwrap());
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

fn raw(window: &Window) -> Vec<&str> {
    window.view().iter().map(|sent| sent.message.raw()).collect()
}

/// Under any settings the recorded view comes back; under the same ones the next decisions are the same, too.
fn recorded_decisions_hold(window: &Window, config: &WindowConfig) {
    let records = records(window);
    for count in 0..=records.len().min(40) {
        let rest: Vec<Record> = window.records_since(count).take(3).collect();
        assert_eq!(rest, records[count..(count + 3).min(records.len())], "law 13: records from {count} on");
    }
    let opened = |config: WindowConfig| Window::open(config, records.clone()).unwrap();
    let mut other = config.clone().with_budget(None);
    other.policy = PolicyKind::Everything;
    let elsewhere = opened(other);
    assert_eq!(raw(&elsewhere), raw(window), "law 13: other settings, other bytes");
    let mut restored = opened(config.clone());
    same(&restored, window, "law 13: restored");
    let mut lived = window.clone();
    for number in 0..6 {
        let text = format!("{number} one_more.rs {}", "word ".repeat(200 * (number % 3)));
        let roles = [Role::User, Role::Assistant];
        let message = Arc::new(Message::synthetic(config.format, roles[number % 2], &text).unwrap());
        for window in [&mut lived, &mut restored] {
            window.push(Arc::clone(&message));
        }
        let fits = [lived.fit().is_ok(), restored.fit().is_ok()];
        assert_eq!(fits[0], fits[1], "law 13: restored decides otherwise");
        same(&restored, &lived, "law 13: restored decides otherwise");
    }
}

fn same(one: &Window, other: &Window, what: &str) {
    let policy = one.policy_name();
    assert_eq!(raw(one), raw(other), "{what}: the view differs under {policy}");
    assert_eq!(one.tokens(), other.tokens(), "{what}: counts differ");
}

/// Every policy of the table, so that a new row is under the laws from its first day.
pub(crate) fn policies() -> impl Iterator<Item = PolicyKind> {
    TABLE.iter().map(|row| row.kind())
}

/// What every format's tests share.
pub(crate) fn bindings(format: Format) -> &'static [ThinkingBinding] {
    match format {
        Format::Anthropic => &[ThinkingBinding::None, ThinkingBinding::OpenTurn, ThinkingBinding::Prefix],
        _ => &[ThinkingBinding::None],
    }
}
