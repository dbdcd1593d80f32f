//! A window over texts.

use crate::errors::thrown;
use crate::view::{Heard, View, frame, settings, shown, texts};
use louver::Usage;
use louver_face::{Fault, Live, Resolved, Settings};
use napi_derive::napi;

/// A conversation that is pushed to, fitted and viewed.
#[napi]
#[derive(Debug)]
pub struct NativeWindow {
    settings: Settings,
    live: Live,
    heard: Heard,
}

fn made(json: &str, make: impl FnOnce(Resolved) -> Result<Live, Fault>) -> napi::Result<NativeWindow> {
    let settings = settings(json)?;
    let resolved = settings.wire_format().and_then(|format| settings.resolve_for(format, None, None));
    let live = resolved.and_then(make).map_err(thrown)?;
    Ok(NativeWindow { settings, live, heard: Heard::default() })
}

#[napi]
impl NativeWindow {
    /// A window without messages.
    #[napi(constructor)]
    pub fn new(settings: String) -> napi::Result<Self> {
        made(&settings, |resolved| Live::new(resolved, None))
    }

    /// The window of some records.
    #[napi(factory)]
    pub fn open(records: Vec<String>, settings: String) -> napi::Result<Self> {
        made(&settings, |resolved| Live::open(resolved, records))
    }

    /// Appends a message.
    #[napi]
    pub fn push(&mut self, message: String) -> napi::Result<u32> {
        let index = self.live.push(&message).map_err(thrown)?;
        Ok(small(index))
    }

    /// Appends messages; none where one cannot be read.
    #[napi]
    pub fn extend(&mut self, messages: String, is_list: bool) -> napi::Result<()> {
        self.live.extend(&texts(messages, is_list)).map_err(thrown)
    }

    /// Makes the view keep the policy's promise.
    #[napi]
    pub fn fit(&mut self) -> napi::Result<String> {
        shown(&self.live.fit().map_err(thrown)?)
    }

    /// What is sent.
    #[napi]
    pub fn view(&self) -> View {
        View::of(self.live.sent())
    }

    /// Fits a history that is handed over whole, and begins with so many messages of the last; nothing where the provider
    /// holds part of it.
    #[napi]
    pub fn take(
        &mut self,
        common: u32,
        messages: String,
        is_list: bool,
        frame_text: Option<String>,
    ) -> napi::Result<Option<View>> {
        let texts = self.heard.texts(0, common, &texts(messages, is_list));
        let frame = frame(frame_text, self.live.window().format())?;
        let taken = self.live.take(&self.settings, &texts, frame.as_ref()).map_err(thrown)?;
        Ok(taken.map(|_| self.view()))
    }

    /// Tells what the provider counted: a number.
    #[napi]
    pub fn report_tokens(&mut self, tokens: u32) -> &'static str {
        self.live.report_usage(Usage::of_input(u64::from(tokens)))
    }

    /// The same from the provider's answer.
    #[napi]
    pub fn report_answer(&mut self, answer: String) -> Option<&'static str> {
        let usage = Usage::from_response(self.live.window().format(), &answer)?;
        Some(self.live.report_usage(usage))
    }

    /// Tells that the provider's cache has expired.
    #[napi]
    pub fn cache_expired(&mut self) {
        self.live.cache_expired();
    }

    /// Takes the text that a model wrote for a job.
    #[napi]
    pub fn answer(&mut self, job: u32, summary: String, input_tokens: u32, output_tokens: u32) -> napi::Result<String> {
        shown(&self.live.answer(u64::from(job), &summary, u64::from(input_tokens), u64::from(output_tokens)))
    }

    /// Says that a job came to nothing.
    #[napi]
    pub fn fail(&mut self, job: u32, reason: String) -> napi::Result<String> {
        shown(&self.live.fail(u64::from(job), reason))
    }

    /// The job that waits for its answer.
    #[napi]
    pub fn open_job(&self) -> napi::Result<Option<String>> {
        self.live.open_job().map(|job| shown(&job)).transpose()
    }

    /// What was appended since there were so many records.
    #[napi]
    pub fn records(&self, since: u32) -> napi::Result<Vec<String>> {
        self.live.records(since as usize).map_err(thrown)
    }

    /// What was left out or changed.
    #[napi]
    pub fn left_out(&self) -> Vec<u32> {
        self.live.left_out().into_iter().map(small).collect()
    }

    /// What stands behind an address.
    #[napi]
    pub fn recall(&self, address: String) -> napi::Result<Vec<u32>> {
        Ok(self.live.recall(&address).map_err(thrown)?.into_iter().map(small).collect())
    }

    /// The text of every message of the log.
    #[napi]
    pub fn log(&self) -> Vec<String> {
        let window = self.live.window();
        (0..window.len()).filter_map(|index| window.original(index)).map(|message| message.raw().to_owned()).collect()
    }

    /// How many messages were pushed.
    #[napi(getter)]
    pub fn length(&self) -> u32 {
        small(self.live.window().len())
    }

    /// What is sent now, in tokens.
    #[napi(getter)]
    pub fn tokens(&self) -> f64 {
        wide(self.live.window().tokens())
    }

    /// What sending everything would come to.
    #[napi(getter)]
    pub fn log_tokens(&self) -> f64 {
        wide(self.live.window().log_tokens())
    }

    /// What the budget allows.
    #[napi(getter)]
    pub fn allowed_tokens(&self) -> Option<f64> {
        self.live.window().budget().map(louver::Budget::allowed_tokens).map(wide)
    }

    /// The wire format.
    #[napi(getter)]
    pub fn format(&self) -> &'static str {
        self.live.window().format().name()
    }

    /// Where the history stands in a request of this format.
    #[napi(getter)]
    pub fn history_key(&self) -> &'static str {
        self.live.window().format().history_key()
    }

    /// The policy's name.
    #[napi(getter)]
    pub fn policy(&self) -> String {
        self.live.window().policy_name().to_owned()
    }

    /// The summary that stands in the view.
    #[napi(getter)]
    pub fn summary(&self) -> Option<String> {
        self.live.window().summary().map(str::to_owned)
    }

    /// What the catalogue did not know of the model.
    #[napi(getter)]
    pub fn warning(&self) -> Option<String> {
        self.live.warning().map(str::to_owned)
    }
}

fn small(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Tokens are far below what a number of JavaScript holds exactly.
fn wide(tokens: u64) -> f64 {
    tokens as f64
}
