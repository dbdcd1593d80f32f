//! A record over the history at hand: the view that goes out.

use super::chain::Chain;
use super::quote::{History, Piece};
use super::record::{ApplyError, OurMessage, ViewRecord, holds, joined};
use super::texts::hash_of_texts;
use louver::edit::{Change, Edit, edit_message};
use louver::plan::{Source, Trigger};
use louver::window::{Decision, EditedMessage, Event, Log, SyntheticKind, SyntheticMessage, Window, WindowConfig};
use louver::wire::{Format, Message, PartKind};
use std::ops::Range;
use std::sync::Arc;

/// What a record makes of a history.
#[derive(Clone, Debug)]
pub struct AppliedView {
    /// How many messages of the history it was made of.
    pub at: usize,
    trigger: Option<Trigger>,
    gone: Vec<Range<usize>>,
    edited: Vec<(usize, Arc<Message>)>,
    ours: Vec<Ours>,
    head_end: usize,
}

#[derive(Clone, Debug)]
struct Ours {
    before: usize,
    kind: SyntheticKind,
    message: Arc<Message>,
    sources: Vec<Source>,
}

/// One message of a view.
#[derive(Clone, Copy, Debug)]
pub enum Item<'v> {
    /// The history's message of this index as the client sent it.
    Kept(usize),
    /// It in another form.
    Edited(usize, &'v Message),
    /// One of our own.
    Ours(&'v Message),
}

impl ViewRecord {
    /// Applies it to a history that has what it speaks of. O(what it changes).
    ///
    /// # Errors
    ///
    /// The history is another one.
    pub fn apply(&self, format: Format, log: &[Arc<Message>], chain: &Chain) -> Result<AppliedView, ApplyError> {
        if self.touches > chain.counted().len() {
            return Err(ApplyError::NoSuchPlace);
        }
        let borrowed: Vec<&Message> = log.iter().map(|message| &**message).collect();
        let history = History::of(&borrowed, chain);
        if hash_of_texts(self, &history).ok_or(ApplyError::NoSuchPlace)? != self.texts {
            return Err(ApplyError::OtherView);
        }
        let applying = Applying { record: self, format, log, chain, history };
        let gone = applying.gone();
        Ok(AppliedView {
            at: applying.place(self.messages),
            trigger: self.trigger,
            edited: applying.edited(&gone)?,
            ours: applying.ours()?,
            head_end: applying.place(self.head_end),
            gone,
        })
    }
}

struct Applying<'a> {
    record: &'a ViewRecord,
    format: Format,
    log: &'a [Arc<Message>],
    chain: &'a Chain,
    history: History<'a>,
}

impl Applying<'_> {
    /// Where so many counted messages end; thinking right behind them belongs to the next.
    fn place(&self, number: usize) -> usize {
        match number.checked_sub(1) {
            None => 0,
            Some(before) => self.chain.counted().get(before).map_or(self.log.len(), |index| index + 1),
        }
    }

    fn gone(&self) -> Vec<Range<usize>> {
        let counted = self.chain.counted();
        let whole = self.record.gone.iter().cloned().flatten().filter_map(|number| {
            let end = counted.get(number)? + 1;
            Some(self.place(number)..end)
        });
        let start = |number: usize| counted.get(number).copied().unwrap_or(self.log.len());
        let bare = self.record.thinking_gone_before.iter().cloned().flatten();
        let bare = bare.filter(|number| *number <= counted.len()).map(|number| self.place(number)..start(number));
        let mut all: Vec<usize> = whole.chain(bare).flatten().collect();
        all.sort_unstable();
        all.dedup();
        joined(all)
    }

    fn ours(&self) -> Result<Vec<Ours>, ApplyError> {
        let ours = |ours: &OurMessage| {
            let (text, sources) = self.written(&ours.text)?;
            let message = Message::synthetic(self.format, ours.role, &text).map_err(|_| ApplyError::NoSuchPlace)?;
            let before = self.chain.counted().get(ours.before).copied().unwrap_or(self.log.len());
            Ok(Ours { before: self.before_thinking(before), kind: ours.kind, message: Arc::new(message), sources })
        };
        self.record.ours.iter().map(ours).collect()
    }

    /// A text, and where in the log its pieces stand.
    fn written(&self, pieces: &[Piece]) -> Result<(String, Vec<Source>), ApplyError> {
        let (mut text, mut sources) = (String::new(), Vec::new());
        for piece in pieces {
            let start = text.len();
            text.push_str(&self.history.text(std::slice::from_ref(piece)).ok_or(ApplyError::NoSuchPlace)?);
            if let Piece::Quote(quote) = piece {
                let message = *self.chain.counted().get(quote.message).ok_or(ApplyError::NoSuchPlace)?;
                sources.push(Source { range: start..text.len(), message });
            }
        }
        Ok((text, sources))
    }

    /// The place before what is nothing but thinking right before a message: nothing may come between the two.
    fn before_thinking(&self, index: usize) -> usize {
        (0..index).rev().take_while(|before| !self.chain.is_counted(*before)).last().unwrap_or(index)
    }

    fn edited(&self, gone: &[Range<usize>]) -> Result<Vec<(usize, Arc<Message>)>, ApplyError> {
        let end = self.place(self.record.messages);
        let mut edited = Vec::new();
        for (index, message) in self.log[..end].iter().enumerate() {
            if !self.chain.is_counted(index) || holds(gone, index) {
                continue;
            }
            let edits = self.edits(index, message)?;
            if !edits.is_empty() {
                let message = edit_message(self.format, message, &edits).map_err(|_| ApplyError::NoSuchPlace)?;
                edited.push((index, Arc::new(message)));
            }
        }
        Ok(edited)
    }

    fn edits(&self, index: usize, message: &Message) -> Result<Vec<Edit>, ApplyError> {
        let number = self.chain.count_before(index);
        let mut edits = Vec::new();
        let parts = || message.shape().parts.iter().enumerate();
        if holds(&self.record.thinking_gone, number) {
            let thinking = parts().filter(|(_, part)| part.kind == PartKind::Thinking);
            edits.extend(thinking.map(|(part, _)| Edit { index, part, change: Change::Drop }));
        }
        let first = self.record.edited.partition_point(|edited| edited.message < number);
        for edited in self.record.edited[first..].iter().take_while(|edited| edited.message == number) {
            let mut counted = parts().filter(|(_, part)| part.kind != PartKind::Thinking);
            let (part, _) = counted.nth(edited.part).ok_or(ApplyError::NoSuchPlace)?;
            let change = match &edited.text {
                None => Change::Drop,
                Some(pieces) => Change::Stub(self.history.text(pieces).ok_or(ApplyError::NoSuchPlace)?),
            };
            edits.push(Edit { index, part, change });
        }
        Ok(edits)
    }
}

impl AppliedView {
    /// What brings an empty window to this view.
    #[must_use]
    pub fn decision(&self) -> Decision {
        let mut decision = Decision::default();
        decision.trigger = self.trigger;
        decision.evicted = self.gone.clone();
        decision.edited = self.edited.iter().map(|(index, edited)| EditedMessage::new(*index, edited.raw())).collect();
        let ours = |ours: &Ours| {
            let mut message = SyntheticMessage::new(ours.before, ours.kind, ours.message.raw());
            message.sources = ours.sources.as_slice().into();
            message
        };
        decision.synthetics = Some(self.ours.iter().map(ours).collect());
        decision.head_end = self.head_end;
        decision
    }

    /// The view of a history of so many messages: those behind the record stand as they came.
    pub fn items(&self, len: usize) -> impl Iterator<Item = Item<'_>> {
        let (mut ours, mut edited) = (self.ours.iter().peekable(), self.edited.iter().peekable());
        let mut next = 0;
        std::iter::from_fn(move || {
            loop {
                if let Some(ours) = ours.next_if(|ours| ours.before <= next || next >= len) {
                    return Some(Item::Ours(&ours.message));
                }
                if next >= len {
                    return None;
                }
                let index = next;
                next += 1;
                if holds(&self.gone, index) {
                    continue;
                }
                return match edited.next_if(|(edited, _)| *edited == index) {
                    Some((_, message)) => Some(Item::Edited(index, message)),
                    None => Some(Item::Kept(index)),
                };
            }
        })
    }
}

/// The window of a history whose past decisions are those of a view, or of none: nothing before its end is decided again.
///
/// # Errors
///
/// A view that cannot be of this history, or settings that the policy cannot work with.
pub(crate) fn window_of(
    config: WindowConfig,
    log: &[Arc<Message>],
    view: Option<&AppliedView>,
) -> Result<Window, louver::Error> {
    let at = view.map_or(0, |view| view.at.min(log.len()));
    let points = (1..at).filter(|index| is_request_point(log, *index));
    let mut events: Vec<(usize, Event)> = points.map(|index| (index, Event::Fitted(None))).collect();
    events.extend(view.map(|view| (at, Event::Fitted(Some(Box::new(view.decision()))))));
    let mut window = Window::restore(config, Log { messages: log[..at].to_vec(), events })?;
    extend(&mut window, log);
    Ok(window)
}

/// Appends what a window does not have yet of a history. Requests stood before each run of the model's messages.
pub(crate) fn extend(window: &mut Window, log: &[Arc<Message>]) {
    for (index, message) in log.iter().enumerate().skip(window.len()) {
        let mut here = window.events().iter().rev().take_while(|(at, _)| *at == index);
        let is_decided = here.any(|(_, event)| matches!(event, Event::Fitted(_)));
        if !is_decided && is_request_point(log, index) {
            window.keep();
        }
        window.push(Arc::clone(message));
    }
}

/// Whether a request stood before a message: the model speaks, and did not before.
fn is_request_point(log: &[Arc<Message>], index: usize) -> bool {
    let is_model = |index: usize| log.get(index).is_some_and(|message| message.shape().is_from_model());
    index > 0 && is_model(index) && !is_model(index - 1)
}
