//! What is sent: the log under the decisions so far.

use crate::plan::Source;
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::wire::Message;
use std::collections::VecDeque;
use std::sync::Arc;

/// One message of the log and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) message: Arc<Message>,
    pub(crate) edited: Option<Arc<Message>>,
    /// What the counter says of it as it came in.
    pub(crate) counted: Millitokens,
    /// What it costs in the form it is sent in.
    pub(crate) amount: Millitokens,
    pub(crate) is_evicted: bool,
}

impl Entry {
    /// The form it is sent in.
    pub(crate) fn current(&self) -> &Message {
        self.edited.as_deref().unwrap_or(&self.message)
    }
}

/// A synthetic message: one of our own in the view.
#[derive(Clone, Debug)]
pub(crate) struct Synthetic {
    /// The log index it stands before.
    pub(crate) before: usize,
    pub(crate) kind: SyntheticKind,
    pub(crate) message: Arc<Message>,
    pub(crate) amount: Millitokens,
    /// What of its text was taken from the log.
    pub(crate) sources: Arc<[Source]>,
}

/// What a synthetic message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SyntheticKind {
    /// Stands before a summary so that the summary stands legally.
    Opening,
    /// What was written down, without a model, of the messages that left.
    Ledger,
    /// What a model wrote about the messages that left.
    Summary,
    /// Stands where messages left, because their neighbours may not stand together.
    Marker,
}

impl SyntheticKind {
    /// Whether it stands for what has left, and so moves with the head.
    pub(crate) fn is_account(self) -> bool {
        matches!(self, Self::Ledger | Self::Summary)
    }
}

/// Where a message of the view comes from.
///
/// ```
/// use louver::window::{Origin, SyntheticKind};
///
/// assert_eq!(Origin::Edited(3).index(), Some(3));
/// assert!(Origin::Synthetic(SyntheticKind::Summary).is_summary());
/// assert_eq!(Origin::Synthetic(SyntheticKind::Marker).index(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The log, byte for byte.
    Kept(usize),
    /// The log, changed inside.
    Edited(usize),
    /// Louver itself.
    Synthetic(SyntheticKind),
}

impl Origin {
    /// The log index, unless Louver wrote it.
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Kept(index) | Self::Edited(index) => Some(index),
            Self::Synthetic(_) => None,
        }
    }

    /// Whether Louver wrote it to stand for what was summarised.
    pub fn is_summary(self) -> bool {
        self == Self::Synthetic(SyntheticKind::Summary)
    }
}

/// One message of the view.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sent<'a> {
    /// Where it comes from.
    pub origin: Origin,
    /// What goes out.
    pub message: &'a Message,
    /// Of a message of our own, what of its text was taken from the log.
    pub sources: &'a [Source],
}

/// Where explicit cache marks belong besides the one behind system and tools: each as the number of messages of the
/// view that stand before it.
///
/// ```
/// use louver::{Format, Window};
///
/// let mut window = Window::for_model(Format::Anthropic, "claude-sonnet-5-5").build()?;
/// window.push_raw(r#"{"role":"user","content":"Hello"}"#)?;
/// assert_eq!(window.breakpoints().end, 1); // a mark on the last message
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakpoints {
    /// The last stable point: no later cut changes what stands before it. 0 until there was a cut.
    pub head: usize,
    /// The end of what is sent, for the next request to read.
    pub end: usize,
}

/// What is sent: a borrowed sequence over the log.
///
/// ```
/// use louver::window::Origin;
/// use louver::{Format, Window};
/// use serde_json::{Value, json};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.push_json(&json!({ "role": "user", "content": "Hello" }))?;
/// let view = window.view();
/// assert!(view.len() == 1 && !view.is_empty());
/// assert_eq!(view.iter().next().map(|sent| sent.origin), Some(Origin::Kept(0)));
/// let typed: Vec<Value> = view.to_vec().unwrap(); // or any type of an SDK
/// assert_eq!(typed[0]["content"], "Hello");
/// assert_eq!(serde_json::to_string(&view).unwrap(), r#"[{"content":"Hello","role":"user"}]"#);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    entries: &'a [Entry],
    units: &'a VecDeque<Unit>,
    synthetics: &'a [Synthetic],
    len: usize,
}

impl<'a> View<'a> {
    pub(crate) fn new(
        entries: &'a [Entry],
        units: &'a VecDeque<Unit>,
        synthetics: &'a [Synthetic],
        kept_messages: usize,
    ) -> Self {
        Self { entries, units, synthetics, len: kept_messages + synthetics.len() }
    }

    /// How many messages it has. O(1).
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is sent.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The messages in order.
    pub fn iter(&self) -> impl Iterator<Item = Sent<'a>> + use<'a> {
        let (entries, synthetics) = (self.entries, self.synthetics);
        let indices = self.units.iter().flat_map(|unit| unit.range.clone()).chain([entries.len()]);
        let mut written = 0;
        indices.flat_map(move |index| {
            let ours = &synthetics[written..];
            let ours = &ours[..ours.partition_point(|synthetic| synthetic.before <= index)];
            written += ours.len();
            ours.iter()
                .map(|ours| Sent {
                    origin: Origin::Synthetic(ours.kind),
                    message: &ours.message,
                    sources: &ours.sources,
                })
                .chain(entries.get(index).map(|entry| sent(index, entry)))
        })
    }

    /// Appends the view to a text as a JSON array: kept messages byte for byte.
    ///
    /// ```
    /// use louver::policy::PolicyKind;
    /// use louver::window::{Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything))?;
    /// window.push_raw(r#"{"role":"user", "content":"Hi"}"#)?;
    /// let mut json = String::new();
    /// window.view().write_json(&mut json);
    /// assert_eq!(json, r#"[{"role":"user", "content":"Hi"}]"#);
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn write_json(&self, out: &mut String) {
        out.push('[');
        for (position, sent) in self.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            out.push_str(sent.message.raw());
        }
        out.push(']');
    }

    /// The messages as values of one's own type.
    ///
    /// # Errors
    ///
    /// A message that this type cannot hold.
    pub fn to_vec<T: serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, serde_json::Error> {
        self.iter().map(|sent| serde_json::from_str(sent.message.raw())).collect()
    }
}

impl serde::Serialize for View<'_> {
    /// An array of the messages as they are.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|sent| RawMessage(sent.message)))
    }
}

impl<'a> IntoIterator for View<'a> {
    type Item = Sent<'a>;
    type IntoIter = Box<dyn Iterator<Item = Sent<'a>> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

/// A message as the JSON it is.
struct RawMessage<'a>(&'a Message);

impl serde::Serialize for RawMessage<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(self.0.raw()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

fn sent(index: usize, entry: &Entry) -> Sent<'_> {
    let origin = if entry.edited.is_some() { Origin::Edited(index) } else { Origin::Kept(index) };
    Sent { origin, message: entry.current(), sources: &[] }
}
