//! Decisions as values.

use crate::address::holds;
use crate::catalog::ModelWarning;
use crate::condense::Rejection;
use crate::edit::Edit;
use crate::tokens::Millitokens;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// What a policy wants: a plain value that can be printed, compared and thrown away. Nothing has happened yet.
///
/// ```
/// use louver::plan::{Memory, Plan};
///
/// let mut plan = Plan::nothing();
/// assert!(plan.keeps_everything());
/// plan.evict = vec![1..3];
/// assert!(plan.evicts(2) && !plan.evicts(3) && !plan.keeps_everything());
/// assert_eq!(Plan::remembering(Memory::new(7_u32)).memory.get(), Some(&7_u32));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Plan {
    /// Why something is to be done, if anything is.
    pub trigger: Option<Trigger>,
    /// Whole units that leave, as ascending ranges of the log.
    pub evict: Vec<Range<usize>>,
    /// Changes inside messages that stay.
    pub edits: Vec<Edit>,
    /// Where the pinned head ends: ledger and summary stand right after it.
    pub head_end: usize,
    /// What becomes of the ledger.
    pub ledger: LedgerChange,
    /// Whether the summary leaves the view: there is no room for it. The next one takes it in.
    pub drops_summary: bool,
    /// What a summary should cover, if one is wanted. Ranges that are still in the view leave when it arrives.
    pub condense: Option<Vec<Range<usize>>>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
    /// Why condensing, although wanted, is not part of the plan.
    pub condense_error: Option<CondenseError>,
    /// What the view will cost, where a builder counted it.
    pub(crate) expected: Option<Millitokens>,
    /// What the ledger that the plan writes costs, where a builder counted it.
    pub(crate) counted: Option<Counted>,
    /// What the policy remembers once the plan has been applied. A plan that is not applied leaves no trace.
    pub memory: Memory,
}

impl Plan {
    /// A plan that changes nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// The same, with something to remember.
    pub fn remembering(memory: Memory) -> Self {
        Self { memory, ..Self::default() }
    }

    /// Whether a message leaves. O(log ranges).
    pub fn evicts(&self, index: usize) -> bool {
        holds(&self.evict, index)
    }

    /// Whether the view stays as it is.
    pub fn keeps_everything(&self) -> bool {
        self.evict.is_empty() && self.edits.is_empty() && self.ledger == LedgerChange::Keep && !self.drops_summary
    }
}

/// What becomes of the ledger in the view.
///
/// ```
/// use louver::plan::{LedgerChange, Plan};
///
/// assert_eq!(Plan::nothing().ledger, LedgerChange::Keep);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerChange {
    /// It stays as it is, if there is one.
    #[default]
    Keep,
    /// This text takes its place.
    Write(Written),
    /// It leaves: there is no room for it.
    Remove,
}

/// A text that a policy writes, and which of it was taken from where.
///
/// ```
/// use louver::plan::Written;
///
/// assert!(Written::from("[2 messages are folded here]".to_owned()).sources.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What stands in messages of the log, in order. Everything else is the policy's own words.
    pub sources: Vec<Source>,
}

impl From<String> for Written {
    fn from(text: String) -> Self {
        Self { text, sources: Vec::new() }
    }
}

/// What a text costs, known by what it says: whoever changes it has it counted again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    key: u64,
    amount: Millitokens,
}

impl Counted {
    pub(crate) fn new(text: &str, amount: Millitokens) -> Self {
        Self { key: xxh3_64(text.as_bytes()), amount }
    }

    /// The amount, if it was this text that was counted.
    pub(crate) fn of(self, text: &str) -> Option<Millitokens> {
        (self.key == xxh3_64(text.as_bytes())).then_some(self.amount)
    }
}

/// Bytes of a text that were taken from a message.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Source {
    /// Where in the text.
    pub range: Range<usize>,
    /// The message, as an index into the log.
    pub message: usize,
}

/// What a policy remembers from request to request: any value of its own, which the window keeps and hands back.
///
/// It is part of the plan and taken over when the plan is applied, so a plan that fails or is thrown away leaves no
/// trace. Cloning is O(1).
///
/// ```
/// use louver::plan::Memory;
///
/// let memory = Memory::new(7_usize);
/// assert_eq!(memory.get::<usize>(), Some(&7));
/// assert_eq!(Memory::default().get::<usize>(), None);
/// ```
#[derive(Clone, Default)]
pub struct Memory(Option<Arc<dyn Any + Send + Sync>>);

impl Memory {
    /// Remembers a value.
    pub fn new<T: Any + Send + Sync>(value: T) -> Self {
        Self(Some(Arc::new(value)))
    }

    /// The value, if one of this type is remembered.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref()?.downcast_ref()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Memory(..)" } else { "Memory(none)" })
    }
}

/// Why a policy acts.
///
/// ```
/// assert_eq!(serde_json::to_string(&louver::plan::Trigger::MessageCap).unwrap(), "\"message-cap\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trigger {
    /// More messages than the cap.
    MessageCap,
    /// More tokens than the window allows.
    TokenLimit,
    /// The share of the window at which condensing starts.
    CondenseThreshold,
    /// Tool results that are older than those to keep.
    OldResults,
    /// Keeping has cost as much as rewriting would.
    PaysOff,
    /// The provider's cache has expired, so that a cut costs nothing.
    ColdCache,
    /// The next request would pass a size above which every token costs more.
    PriceStep,
}

/// What a policy promises of the view.
///
/// ```
/// use louver::PolicyKind;
/// use louver::plan::Bound;
///
/// assert_eq!("tokens".parse::<PolicyKind>()?.bound(), Bound::Tokens);
/// # Ok::<(), louver::policy::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most so many messages, units that straddle a boundary apart.
    Messages,
    /// Never more tokens than the budget allows.
    Tokens,
    /// Nothing.
    None,
}

/// The messages that a policy never lets go, as far as it goes by its settings alone. What the wire format holds fast
/// (instructions, a provider's compaction, the opening of an unfinished turn) comes on top, whatever the policy.
///
/// ```
/// use louver::plan::Pins;
///
/// assert!(Pins::head(2).touch(&(1..3)) && !Pins::head(2).touch(&(2..3)));
/// assert!(Pins::everything().touch(&(9..10)) && !Pins::none().touch(&(0..1)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Everything before this index.
    pub head_end: usize,
    /// Everything from this index on.
    pub tail_start: usize,
    /// Single messages between, ascending.
    pub others: Vec<usize>,
    /// Everything from this index on stays as long as it fits.
    pub recent_start: usize,
}

impl Pins {
    /// Nothing is pinned.
    pub fn none() -> Self {
        Self::head(0)
    }

    /// The head alone.
    pub fn head(head_end: usize) -> Self {
        Self { head_end, tail_start: usize::MAX, others: Vec::new(), recent_start: usize::MAX }
    }

    /// Everything.
    pub fn everything() -> Self {
        Self::head(usize::MAX)
    }

    /// Whether one of these messages is pinned. A unit stays whole, so it stays if one of its messages is.
    ///
    /// ```
    /// use louver::plan::Pins;
    ///
    /// let pins = Pins { others: vec![7], ..Pins::head(2) };
    /// assert!(pins.touch(&(1..4)) && pins.touch(&(6..9)));
    /// assert!(!pins.touch(&(2..7)));
    /// ```
    pub fn touch(&self, range: &Range<usize>) -> bool {
        let following = self.others.partition_point(|index| *index < range.start);
        let touches_other = self.others.get(following).is_some_and(|index| *index < range.end);
        range.start < self.head_end || range.end > self.tail_start || touches_other
    }
}

/// A history that cannot be made to fit.
///
/// ```
/// use louver::plan::{Largest, Overflow};
///
/// let overflow = Overflow::new(9_000, 8_000, Some(Largest { index: 3, tokens: 7_500 }));
/// assert!(overflow.to_string().ends_with("the largest message is number 3 with 7500 tokens"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overflow {
    /// The least that has to be sent: system, tools, what is pinned, and the last turn.
    pub floor_tokens: u64,
    /// What the budget allows.
    pub allowed_tokens: u64,
    /// The largest message among those that have to be sent; nothing where system and tools alone are too large.
    pub largest: Option<Largest>,
}

/// The largest message among those that have to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest {
    /// Its index in the log.
    pub index: usize,
    /// Its size, as it would be sent.
    pub tokens: u64,
}

impl Overflow {
    /// A floor above what is allowed, with the largest message in it.
    pub fn new(floor_tokens: u64, allowed_tokens: u64, largest: Option<Largest>) -> Self {
        Self { floor_tokens, allowed_tokens, largest }
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { floor_tokens, allowed_tokens, largest } = self;
        match largest {
            None => {
                write!(f, "cannot fit: system and tools alone need {floor_tokens} tokens, {allowed_tokens} are allowed")
            }
            Some(Largest { index, tokens }) => write!(
                f,
                "cannot fit: system, tools, pinned messages and the last turn need {floor_tokens} tokens, \
                 {allowed_tokens} are allowed; the largest message is number {index} with {tokens} tokens"
            ),
        }
    }
}

impl std::error::Error for Overflow {}

/// Something that was done as asked, and that the caller should know about.
///
/// ```
/// let warning = louver::plan::Warning::NotEdited { index: 3 };
/// assert_eq!(warning.to_string(), "message 3 could not be changed and stays as it is");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Head and tail together reach the cap.
    #[error(
        "preserve_first_n {preserve_first_n} and preserve_last_n {preserve_last_n} reach the cap of {max_messages} \
         messages: only these are kept"
    )]
    Overpinned {
        /// Messages kept at the start.
        preserve_first_n: usize,
        /// Messages kept at the end.
        preserve_last_n: usize,
        /// The cap.
        max_messages: usize,
    },
    /// A profile's threshold that cannot be used.
    #[error("profile `{profile}` has a threshold of {threshold}, outside 50 to 100: the global {global} is used")]
    Threshold {
        /// The profile.
        profile: String,
        /// What it says.
        threshold: i64,
        /// What is used instead.
        global: u64,
    },
    /// The caller's figure is so far above the count that no cut can make the difference good.
    #[error(
        "total_tokens says {beyond_tokens} tokens more than the messages can have: half of them were left out once, and \
         the rest may still be too large"
    )]
    BeyondCount {
        /// Tokens that no message accounts for.
        beyond_tokens: u64,
    },
    /// A message that could not be read again after a change, and stays as it was.
    #[error("message {index} could not be changed and stays as it is")]
    NotEdited {
        /// The message.
        index: usize,
    },
    /// The input could be more than one format.
    #[error("this could be more than one format; it is read as openai-chat (--format says otherwise)")]
    Ambiguous,
    /// The provider keeps part of the history.
    #[error("part of this history is kept by the provider, so nothing was left out")]
    ServerSide,
    /// A summary was wanted where nobody is there to write one.
    #[error("condensing is configured, but trim calls no model: messages are left out without a summary")]
    NoModel,
    /// A summary was wanted, and there is none.
    #[error("condensing failed, messages are left out without a summary: {0}")]
    NotCondensed(Rejection),
    /// What the catalogue does not know of the model.
    #[error(transparent)]
    Model(#[from] ModelWarning),
}

impl serde::Serialize for Warning {
    /// As its sentence.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why there is no summary although one was wanted.
///
/// ```
/// use louver::plan::CondenseError;
///
/// assert_eq!(CondenseError::Waiting.to_string(), "condensing failed before and waits for more history");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CondenseError {
    /// Nothing stands between what has to stay.
    #[error("too few messages between the first and the last to condense")]
    TooFew,
    /// The last one failed, and the history has not grown enough since.
    #[error("condensing failed before and waits for more history")]
    Waiting,
    /// The model's answer was no use, or there was none.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl serde::Serialize for CondenseError {
    /// As its sentence.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
