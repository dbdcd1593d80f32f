//! Violations that a policy adds, and those that the record had already.

use crate::conversation::Conversation;
use crate::snapshot::Snapshot;
use louver::wire::{History, Message, Violation};
use std::collections::HashSet;

/// Rules about a history as a whole: where in it they are reported says nothing.
const WHOLE_HISTORY: [&str; 3] = ["first-not-user", "no-messages", "too-many-cache-marks"];

/// A rule, and the message of the log that breaks it.
type Breach = (&'static str, usize);

/// Whether a request is illegal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// It breaks a rule that the recorded history does not break.
    pub(crate) is_illegal: bool,
    /// It breaks a rule that the recorded history breaks too.
    pub(crate) inherits: bool,
}

/// What the recorded history breaks at each request.
#[derive(Debug)]
pub(crate) struct Law {
    recorded: Vec<HashSet<Breach>>,
}

impl Law {
    /// Judges the record. O(requests * messages).
    pub(crate) fn of(conversation: &Conversation) -> Self {
        let judge = |at: usize| {
            let messages = conversation.messages[..at].iter().map(|message| &**message).collect();
            breaches(conversation, messages, Some).collect()
        };
        Self { recorded: conversation.turns().iter().map(|turn| judge(turn.at)).collect() }
    }

    /// Judges the request of a turn.
    pub(crate) fn judge(
        &self,
        conversation: &Conversation,
        turn: usize,
        view: &Snapshot,
        sent: Vec<&Message>,
    ) -> Verdict {
        let recorded = &self.recorded[turn];
        if view.is_whole {
            return Verdict { is_illegal: false, inherits: !recorded.is_empty() };
        }
        let mut verdict = Verdict::default();
        for breach in breaches(conversation, sent, |position| view.log_index(position)) {
            match recorded.contains(&breach) {
                true => verdict.inherits = true,
                false => verdict.is_illegal = true,
            }
        }
        verdict
    }
}

/// The breaches of a history; `origin` says which message of the log stands at a position. A message of our own and
/// the end of the history have no origin.
fn breaches<'a>(
    conversation: &'a Conversation,
    messages: Vec<&'a Message>,
    origin: impl Fn(usize) -> Option<usize>,
) -> impl Iterator<Item = Breach> {
    let history = History { messages, outer_cache_marks: 0, thinking: conversation.thinking };
    let found: Vec<Violation> = conversation.format.wire().check(&history);
    found.into_iter().map(move |violation| {
        let index = if WHOLE_HISTORY.contains(&violation.rule) { Some(0) } else { origin(violation.index) };
        (violation.rule, index.unwrap_or(usize::MAX))
    })
}
