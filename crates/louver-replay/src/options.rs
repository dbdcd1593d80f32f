//! How to replay.

use crate::contender::Contender;
use crate::conversation::Conversation;
use louver::policy::SettingsError;
use louver::tokens::{CounterChoice, Factor};
use std::str::FromStr;

/// The policies that are compared where nobody says which, as they stand in the table of results.
pub const DEFAULT_POLICIES: [&str; 10] = [
    "everything",
    "messages",
    "tokens",
    "newest",
    "clear-tools",
    "mask",
    "full-cut",
    "ladder-lean",
    "ladder",
    "ladder-careful",
];

/// What is replayed, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The policies, in the order of the report.
    pub contenders: Vec<Contender>,
    /// The model whose prices, window and cache rules hold; the recorded one where there is none.
    pub model: Option<String>,
    /// Replaces the model's window.
    pub context_window: Option<u64>,
    /// What is kept free for the reply.
    pub max_output: Option<u64>,
    /// How tokens are counted.
    pub counter: CounterChoice,
    /// What system and tools cost where a record has neither.
    pub overhead: Option<u64>,
    /// Replaces the cache prices.
    pub cache_prices: Option<CachePrices>,
    /// One pause between all requests, in seconds, instead of the recorded times.
    pub gap_seconds: Option<u64>,
    /// Every so many turns the cache is cold.
    pub cold_every: Option<u64>,
    /// Whether rows say how long a request took. They are not the same on two runs.
    pub timings: bool,
    /// How many threads; all cores where nobody says.
    pub threads: Option<usize>,
    /// Which conversations are replayed.
    pub selection: Selection,
}

/// Which conversations are replayed: all where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those that went on after this time, in milliseconds since 1970.
    pub since_millis: Option<i64>,
    /// Those of a project: its name or path, or a part of either, stands in the record or in the file's own path.
    pub project: Option<String>,
}

impl Selection {
    /// A record without times is as old as its file; one whose age nobody knows is taken.
    pub(crate) fn takes(&self, conversation: &Conversation, file_time: impl Fn() -> Option<i64>) -> bool {
        let is_new = |since: i64| conversation.last_time().or_else(&file_time).is_none_or(|time| time >= since);
        let is_of = |project: &String| {
            let places = conversation.project.iter().chain([&conversation.file]);
            places.into_iter().any(|place| place.contains(project.as_str()))
        };
        self.since_millis.is_none_or(is_new) && self.project.as_ref().is_none_or(is_of)
    }
}

impl Options {
    /// These policies, and defaults for everything else.
    ///
    /// # Errors
    ///
    /// No policy has one of the names.
    ///
    /// ```
    /// let options = louver_replay::Options::of_policies(&["everything", "messages"]).unwrap();
    /// assert_eq!(options.contenders.len(), 2);
    /// assert!(louver_replay::Options::of_policies(&["magic"]).is_err());
    /// ```
    pub fn of_policies<S: AsRef<str>>(names: &[S]) -> Result<Self, SettingsError> {
        let contenders = names.iter().map(|name| Contender::named(name.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self::of(contenders))
    }

    /// Whether something is assumed that the record may have otherwise, so that its bill says nothing.
    pub(crate) fn is_hypothetical(&self) -> bool {
        let has_prices = self.model.is_some() || self.cache_prices.is_some();
        has_prices || self.gap_seconds.is_some() || self.cold_every.is_some()
    }

    /// These contenders, and defaults for everything else.
    pub fn of(contenders: Vec<Contender>) -> Self {
        Self { contenders, ..Self::default() }
    }
}

/// Cache prices as multiples of the input price: `1.25/0.1`.
///
/// ```
/// use louver_replay::CachePrices;
///
/// let prices: CachePrices = "1.25/0.1".parse().unwrap();
/// assert_eq!((prices.write.millionths(), prices.read.millionths()), (1_250_000, 100_000));
/// assert!("1.25".parse::<CachePrices>().is_err());
/// assert!("1/-1".parse::<CachePrices>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachePrices {
    /// A written token.
    pub write: Factor,
    /// A token read from the cache.
    pub read: Factor,
}

/// Not two multiples with a slash between.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the cache prices `{0}`: expected multiples of the input price for write and read, such as 1.25/0.1"
)]
pub struct NoCachePrices(String);

impl FromStr for CachePrices {
    type Err = NoCachePrices;

    fn from_str(text: &str) -> Result<Self, NoCachePrices> {
        let error = || NoCachePrices(text.to_owned());
        let (write, read) = text.split_once('/').ok_or_else(error)?;
        let factor = |text: &str| multiple(text).ok_or_else(error);
        Ok(Self { write: factor(write)?, read: factor(read)? })
    }
}

/// A decimal number between nothing and a thousand, to the millionth.
fn multiple(text: &str) -> Option<Factor> {
    let number: f64 = text.trim().parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (0.0..=1000.0).contains(&number).then(|| Factor::from_millionths((number * 1e6).round() as u64))
}
