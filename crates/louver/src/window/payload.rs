//! A framework's own message beside ours, so that nobody has to parse back.

use super::{Fit, Sent, Window};
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
    payloads: Vec<T>,
}

impl<T> WithPayload<T> {
    /// Over an empty window.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self { window, payloads: Vec::new() }
    }

    /// Appends a message with what it carries.
    pub fn push(&mut self, message: impl Into<Arc<Message>>, payload: T) -> usize {
        self.payloads.push(payload);
        self.window.push(message)
    }

    /// As [`Window::fit`].
    ///
    /// # Errors
    ///
    /// The policy's promise cannot be kept.
    pub fn fit(&mut self) -> Result<Fit, Overflow> {
        self.window.fit()
    }

    /// What is sent, each message with what it carries; nothing for Louver's own.
    pub fn view(&self) -> impl Iterator<Item = (Sent<'_>, Option<&T>)> {
        let payload = |sent: Sent<'_>| sent.origin.index().and_then(|index| self.payloads.get(index));
        self.window.view().iter().map(move |sent| (sent, payload(sent)))
    }

    /// The window itself.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The same, to be told of usage, summaries and expired caches. A message that is pushed here carries nothing.
    pub fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }
}
