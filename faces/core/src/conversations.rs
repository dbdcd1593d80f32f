//! Many conversations behind one client: each request finds its own.

use crate::{Fault, Fit, Frame, Live, Sent, Settings, Texts};
use louver::{Format, Usage};

/// Windows for requests that carry their whole history and say nothing of the conversation they belong to.
///
/// A request goes on with the conversation whose log it begins with. One that leaves a known path on the way begins a
/// branch: what was decided up to there stands.
#[derive(Debug)]
pub struct Conversations {
    settings: Settings,
    format: Format,
    max_conversations: usize,
    /// The one that was asked last at the end.
    known: Vec<Conversation>,
    next_id: u64,
}

#[derive(Debug)]
struct Conversation {
    id: u64,
    model: Option<String>,
    live: Live,
}

/// What may be sent for a request.
#[derive(Debug)]
pub struct Asked {
    /// The view of its history; nothing where the provider holds part of it, so that all of it is sent.
    pub view: Option<Vec<Sent>>,
    /// How many messages its history has.
    pub len: usize,
    /// What was done.
    pub fit: Option<Fit>,
    /// The conversation that it belongs to.
    pub conversation: u64,
}

impl Conversations {
    /// Conversations of one format, at most so many at once: the one that was asked longest ago is forgotten.
    ///
    /// # Errors
    ///
    /// Where the settings name no format.
    pub fn new(settings: Settings, max_conversations: usize) -> Result<Self, Fault> {
        let format = settings.wire_format()?;
        let max_conversations = max_conversations.max(1);
        Ok(Self { settings, format, max_conversations, known: Vec::new(), next_id: 0 })
    }

    /// The wire format of all of them.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// What may be sent for a request.
    ///
    /// # Errors
    ///
    /// Where a message cannot be read, the settings come to nothing, or it cannot be made to fit.
    pub fn fit(&mut self, texts: &Texts, frame: Option<&Frame>) -> Result<Asked, Fault> {
        let (mut conversation, common) = self.meet(texts, frame)?;
        let asked = self.ask(&mut conversation, common, texts, frame);
        self.known.push(conversation);
        if self.known.len() > self.max_conversations {
            self.known.remove(0);
        }
        asked
    }

    fn ask(
        &self,
        conversation: &mut Conversation,
        common: usize,
        texts: &Texts,
        frame: Option<&Frame>,
    ) -> Result<Asked, Fault> {
        let Conversation { id, live, .. } = conversation;
        if let Some(frame) = frame {
            live.reframe(&self.settings, frame)?;
        }
        live.append(texts, common)?;
        let (conversation, len) = (*id, texts.len());
        if live.is_server_side(frame) {
            return Ok(Asked { view: None, len, fit: None, conversation });
        }
        let fit = Some(live.fit()?);
        Ok(Asked { view: Some(live.sent()), len, fit, conversation })
    }

    /// The conversation that the request goes on with, taken out of the list, and how much of it is known.
    fn meet(&mut self, texts: &Texts, frame: Option<&Frame>) -> Result<(Conversation, usize), Fault> {
        let model = frame.and_then(|frame| frame.body.model());
        let begins_alike = |conversation: &Conversation| match conversation.model.as_deref() == model {
            true => conversation.live.common(texts),
            false => 0,
        };
        let best = self.known.iter().map(begins_alike).enumerate().max_by_key(|(_, common)| *common);
        match best.filter(|(_, common)| *common > 0) {
            Some((place, common)) if common == self.known[place].live.window().len() => {
                Ok((self.known.remove(place), common))
            }
            Some((place, common)) => {
                let live = self.known[place].live.rewound(common)?;
                Ok((self.begin(model, live), common))
            }
            None => {
                let reply = frame.and_then(|frame| frame.body.max_output());
                let resolved = self.settings.resolve_for(self.format, model, reply)?;
                Ok((self.begin(model, Live::new(resolved, frame)?), 0))
            }
        }
    }

    fn begin(&mut self, model: Option<&str>, live: Live) -> Conversation {
        self.next_id += 1;
        Conversation { id: self.next_id, model: model.map(str::to_owned), live }
    }

    /// Tells what the provider counted for a request of this conversation, and gives what became of it.
    pub fn report_usage(&mut self, conversation: u64, usage: Usage) -> Option<&'static str> {
        let asked = self.known.iter_mut().find(|known| known.id == conversation);
        asked.map(|known| known.live.report_usage(usage))
    }
}
