//! The few places of a log that decisions go by.

use crate::catalog::ThinkingBinding;
use crate::unit::Unit;
use crate::wire::{PartKind, Role, Shape, Wire};

/// Places of a log, kept up as messages arrive: each follows from the messages alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landmarks {
    /// The messages before this one are instructions.
    pub(crate) instructions_end: usize,
    /// The first message of the model.
    pub(crate) first_answer: Option<usize>,
    /// The last message in which the user says something.
    pub(crate) latest_request: Option<usize>,
    /// The message with the provider's latest compaction of everything before it.
    pub(crate) compaction: Option<usize>,
    /// What opened the turn that goes on.
    prompt: Option<usize>,
    /// The first message of the model in that turn, if it came with thinking.
    thinking_opener: Option<usize>,
    has_answer: bool,
    /// Compactions before that message which stand right behind an instruction: nothing else of the model's may stand in
    /// their place there, because it would begin the turn.
    behind_instructions: Vec<usize>,
    ends_in_instruction: bool,
    len: usize,
}

impl Landmarks {
    /// Takes note of the next message. O(its parts).
    pub(crate) fn note(&mut self, shape: &Shape) {
        let index = self.len;
        self.len += 1;
        if self.instructions_end == index && shape.is_instruction() {
            self.instructions_end = index + 1;
        }
        if shape.is_request() {
            self.latest_request = Some(index);
        }
        if shape.has(PartKind::Compaction) {
            self.compaction = Some(index);
        }
        if shape.is_from_model() {
            self.first_answer.get_or_insert(index);
            let is_compaction_alone = shape.parts.iter().all(|part| part.kind == PartKind::Compaction);
            if is_compaction_alone {
                self.behind_instructions.extend((self.ends_in_instruction && !self.has_answer).then_some(index));
            } else if !std::mem::replace(&mut self.has_answer, true) {
                self.thinking_opener = shape.has(PartKind::Thinking).then_some(index);
            }
        } else if shape.role == Role::User && !shape.has(PartKind::ToolResult) {
            (self.prompt, self.thinking_opener, self.has_answer) = (Some(index), None, false);
            self.behind_instructions.clear();
        }
        self.ends_in_instruction = shape.is_instruction();
    }

    /// Whether a seam before `next` lies inside an unfinished turn that has to begin with thinking: a message of the
    /// user there would begin another turn, which does not.
    fn is_inside_turn(&self, next: usize, thinking: ThinkingBinding) -> bool {
        thinking == ThinkingBinding::OpenTurn && self.thinking_opener.is_some_and(|opener| next > opener)
    }

    /// Whether what the model says before `next` would begin the unfinished turn in place of the answer that has to begin it
    /// with thinking.
    fn comes_before_answer(&self, next: usize, thinking: ThinkingBinding) -> bool {
        let is_before = self.thinking_opener.map_or(!self.has_answer, |opener| next <= opener);
        thinking == ThinkingBinding::OpenTurn && is_before && self.prompt.is_none_or(|prompt| prompt < next)
    }

    /// The roles of what has to stand before an account of what left and at the end of the seam before `next`. The end of a
    /// history needs nothing: what comes next is not known yet.
    pub(crate) fn bridges(
        &self,
        wire: &Wire,
        thinking: ThinkingBinding,
        next: usize,
        [before, account, after]: [Option<&Shape>; 3],
    ) -> [Option<Role>; 2] {
        let opening = account.and_then(|account| wire.bridge(before, Some(account)));
        let marker = after.and_then(|after| wire.bridge(account.or(before), Some(after)));
        let is_before_answer = self.comes_before_answer(next, thinking);
        let begins_turn = is_before_answer && account.is_some() && after.is_some();
        let marker = marker.or(begins_turn.then_some(Role::User));
        let is_inside_turn = self.is_inside_turn(next, thinking);
        // The model is wanted before its answer only where the history was refused for want of it already.
        let may_stand = |role: &Role| match role {
            Role::User => !is_inside_turn,
            _ => !is_before_answer,
        };
        [opening, marker].map(|role| role.filter(may_stand))
    }

    /// Where what the model sees begins: what stands before a provider's compaction it does not.
    pub(crate) fn seen_from(&self) -> usize {
        self.compaction.map_or(0, |compaction| compaction + 1)
    }

    /// Whether a unit may leave under no policy: instructions, a provider's compaction, and, where the model wants the
    /// thinking of an unfinished turn, what opened that turn, the answer that opened it, the end of the history and what
    /// follows an instruction before that answer. (Without what opened it an older turn would be the unfinished one, and
    /// without its end a finished one would be.)
    pub(crate) fn holds(&self, unit: &Unit, thinking: ThinkingBinding) -> bool {
        let has = |index: Option<usize>| index.is_some_and(|index| unit.range.contains(&index));
        let follows_instruction = self.behind_instructions.iter().any(|index| unit.range.contains(index));
        let marks_turn =
            has(self.thinking_opener) || has(self.prompt) || has(self.len.checked_sub(1)) || follows_instruction;
        let is_open_turn = thinking == ThinkingBinding::OpenTurn && marks_turn;
        unit.range.start < self.instructions_end || has(self.compaction) || is_open_turn
    }
}
