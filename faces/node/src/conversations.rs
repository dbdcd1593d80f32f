//! Many conversations behind one client: each request finds its own.

use crate::errors::thrown;
use crate::view::{Heard, View, frame, settings, shown, texts};
use louver::Usage;
use louver_face::Conversations;
use napi_derive::napi;

/// Windows for requests that carry their whole history.
#[napi]
#[derive(Debug)]
pub struct NativeConversations {
    known: Conversations,
    heard: Heard,
}

/// What may be sent for a request.
#[napi(object)]
#[derive(Debug)]
pub struct NativeTurn {
    /// Nothing where the provider holds part of the history, so that all of it is sent.
    pub view: Option<View>,
    /// What was done, as JSON.
    pub fit: Option<String>,
    /// The conversation it belongs to.
    pub conversation: u32,
}

#[napi]
impl NativeConversations {
    /// At most so many conversations at once.
    #[napi(constructor)]
    pub fn new(settings_json: String, max_conversations: u32) -> napi::Result<Self> {
        let known = Conversations::new(settings(&settings_json)?, max_conversations as usize).map_err(thrown)?;
        Ok(Self { known, heard: Heard::default() })
    }

    /// What may be sent for a request, whose history begins with so many messages of one that was told at this slot.
    #[napi]
    pub fn fit(
        &mut self,
        slot: u32,
        common: u32,
        messages: String,
        is_list: bool,
        frame_text: Option<String>,
    ) -> napi::Result<NativeTurn> {
        let texts = self.heard.texts(slot, common, &texts(messages, is_list));
        let frame = frame(frame_text, self.known.format())?;
        let asked = self.known.fit(&texts, frame.as_ref()).map_err(thrown)?;
        let fit = asked.fit.as_ref().map(shown).transpose()?;
        let conversation = u32::try_from(asked.conversation).unwrap_or(u32::MAX);
        Ok(NativeTurn { view: asked.view.map(View::of), fit, conversation })
    }

    /// Tells what the provider counted: a number.
    #[napi]
    pub fn report_tokens(&mut self, conversation: u32, tokens: u32) -> Option<&'static str> {
        self.known.report_usage(u64::from(conversation), Usage::of_input(u64::from(tokens)))
    }

    /// The same from the provider's answer.
    #[napi]
    pub fn report_answer(&mut self, conversation: u32, answer: String) -> Option<&'static str> {
        let usage = Usage::from_response(self.known.format(), &answer)?;
        self.known.report_usage(u64::from(conversation), usage)
    }

    /// How many conversations are known.
    #[napi(getter)]
    pub fn size(&self) -> u32 {
        u32::try_from(self.known.len()).unwrap_or(u32::MAX)
    }

    /// Where the history stands in a request of this format.
    #[napi(getter)]
    pub fn history_key(&self) -> &'static str {
        self.known.format().history_key()
    }
}
