//! A framework's own message beside ours, so that nobody has to parse back.

use super::{Fit, Request, Sent, Window};
use crate::Error;
use crate::plan::Overflow;
use crate::wire::Message;
use std::sync::Arc;

/// A window whose messages carry something along: the framework's own value for each.
///
/// ```
/// use louver::policy::PolicyKind;
/// use louver::window::{Window, WindowConfig, WithPayload};
/// use louver::wire::{Format, Message};
///
/// let window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything))?;
/// let mut window = WithPayload::new(window);
/// window.push(Message::parse(Format::OpenAiChat, r#"{"role":"user","content":"Hi"}"#)?, "my own value");
/// window.fit()?;
/// let sent: Vec<_> = window.view().map(|(_, payload)| payload).collect();
/// assert_eq!(sent, [Some(&"my own value")]);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct WithPayload<T> {
    window: Window,
    /// By log index.
    payloads: Vec<Option<T>>,
}

impl<T> WithPayload<T> {
    /// Over a window whose messages, if it has any, carry nothing.
    pub fn new(window: Window) -> Self {
        Self { window, payloads: Vec::new() }
    }

    /// Appends a message with what it carries.
    pub fn push(&mut self, message: impl Into<Arc<Message>>, payload: T) -> usize {
        let index = self.window.push(message);
        self.carry(index, payload)
    }

    /// Writes a value as JSON and appends it with what it carries.
    ///
    /// # Errors
    ///
    /// As [`Window::push_json`]; nothing was appended then.
    pub fn push_json(&mut self, message: &impl serde::Serialize, payload: T) -> Result<usize, Error> {
        let index = self.window.push_json(message)?;
        Ok(self.carry(index, payload))
    }

    fn carry(&mut self, index: usize, payload: T) -> usize {
        self.payloads.resize_with(index, || None);
        self.payloads.push(Some(payload));
        index
    }

    /// As [`Window::fit`].
    ///
    /// # Errors
    ///
    /// The policy's promise cannot be kept.
    pub fn fit(&mut self) -> Result<Fit, Overflow> {
        self.window.fit()
    }

    /// As [`Window::request`].
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn request(&mut self) -> Result<Request<'_>, Overflow> {
        self.window.request()
    }

    /// What is sent, each message with what it carries; nothing for Louver's own.
    pub fn view(&self) -> impl Iterator<Item = (Sent<'_>, Option<&T>)> {
        let payload = |sent: Sent<'_>| sent.origin.index().and_then(|index| self.payloads.get(index)?.as_ref());
        self.window.view().iter().map(move |sent| (sent, payload(sent)))
    }

    /// The window itself.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The same, to be told of usage, summaries and expired caches. A message that is pushed here carries nothing.
    pub fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }
}
