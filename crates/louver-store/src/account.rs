//! Who asked for what, what came of it and what it cost.

use crate::error::{Error, Kind};
use crate::money::NanoUsd;
use crate::name::{ConversationId, ReaderId};
use crate::page::{Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use louver::Format;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Add;
use std::str::FromStr;

/// What a conversation is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationInfo {
    /// Its name.
    pub id: ConversationId,
    /// The conversation that it is a fork of.
    pub parent: Option<ConversationId>,
    /// Who leads it.
    pub reader: ReaderId,
    /// Its wire format.
    pub format: Format,
    /// The model of the current request.
    pub model: String,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// As it came, nothing of ours before.
    Passed,
    /// An earlier cut applies, none new.
    Kept,
    /// Cut now.
    Cut,
    /// Cut after the provider had refused it.
    Rescued,
    /// A refusal reached the client.
    Refused,
    /// Nothing was sent.
    None,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 6] = [Self::Passed, Self::Kept, Self::Cut, Self::Rescued, Self::Refused, Self::None];

    /// The name used in headers and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Kept => "kept",
            Self::Cut => "cut",
            Self::Rescued => "rescued",
            Self::Refused => "refused",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Outcome {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::new(Kind::Invalid, format!("`{name}` is no outcome of a request"));
        Self::ALL.into_iter().find(|outcome| outcome.name() == name).ok_or_else(unknown)
    }
}

/// What the provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input that was neither read from the cache nor written to it.
    pub input: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache for five minutes, or for as long as the provider likes.
    pub cache_write_5m: u64,
    /// Input written to the cache for an hour.
    pub cache_write_1h: u64,
    /// The answer, reasoning included.
    pub output: u64,
    /// How much of the answer was reasoning.
    pub reasoning: u64,
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// How much of a history went out, as we count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// What was sent.
    pub sent: u64,
    /// What the client holds.
    pub held: u64,
}

/// What another decision would have come to, where it was only observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The tokens that would have been sent.
    pub sent: u64,
    /// What they would have cost.
    pub cost: Option<NanoUsd>,
}

/// One request, for the account. Texts longer than [`MAX_NAME_BYTES`](crate::MAX_NAME_BYTES) are cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEntry {
    /// When it came.
    pub at: UnixMillis,
    /// The upstream's name.
    pub upstream: String,
    /// The model.
    pub model: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it repeats a request that was counted: it is no further cut or rescue.
    pub is_repeat: bool,
    /// The status that the client got.
    pub status: Option<u16>,
    /// What the provider counted; nothing where the answer did not say.
    pub usage: Option<Usage>,
    /// What it cost at the catalogue's prices.
    pub cost: Option<NanoUsd>,
    /// What the practical baseline would have cost.
    pub baseline: Option<NanoUsd>,
    /// What was sent and held; nothing where nothing was counted.
    pub tokens: Option<Tokens>,
    /// What was observed and not done.
    pub observed: Option<Observed>,
    /// Why it was cut.
    pub cut_reason: Option<String>,
    /// Why the provider's cache could not be used.
    pub cache_break: Option<String>,
    /// How long it took until the last byte.
    pub duration_ms: u64,
}

impl RequestEntry {
    /// A request of which nothing else is known yet.
    #[must_use]
    pub fn new(at: UnixMillis, upstream: impl Into<String>, model: impl Into<String>, outcome: Outcome) -> Self {
        Self {
            at,
            upstream: upstream.into(),
            model: model.into(),
            outcome,
            is_repeat: false,
            status: None,
            usage: None,
            cost: None,
            baseline: None,
            tokens: None,
            observed: None,
            cut_reason: None,
            cache_break: None,
            duration_ms: 0,
        }
    }
}

/// A conversation and the sums over its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationAccount {
    /// What it is known by; the model is that of the last request.
    pub info: ConversationInfo,
    /// Its first request.
    pub first: UnixMillis,
    /// Its last.
    pub last: UnixMillis,
    /// How many there were.
    pub requests: u64,
    /// How many were cut, rescued ones included.
    pub cuts: u64,
    /// How many were rescued.
    pub rescued: u64,
    /// What the last request sent and held that was counted.
    pub last_tokens: Option<Tokens>,
    /// What all requests sent and held together.
    pub tokens: Tokens,
    /// What the provider counted.
    pub usage: Usage,
    /// What it cost.
    pub cost: NanoUsd,
    /// What the practical baseline would have cost.
    pub baseline: NanoUsd,
}

/// In which order conversations come.
///
/// ```
/// use louver_store::Order;
///
/// assert_eq!("dearest".parse::<Order>().unwrap(), Order::Dearest);
/// assert!("cheapest".parse::<Order>().unwrap_err().is_invalid());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The one with the latest request first.
    #[default]
    Newest,
    /// The one that cost most first.
    Dearest,
    /// The one that cost least of what the practical baseline would have cost first.
    MostSaved,
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::Newest, Self::Dearest, Self::MostSaved];

    /// The name by which it is asked for.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Dearest => "dearest",
            Self::MostSaved => "most-saved",
        }
    }

    /// What conversations are ordered by, of the table `c`.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Newest => "c.last_ms",
            Self::Dearest => "c.cost_nano",
            Self::MostSaved => "(c.baseline_nano - c.cost_nano)",
        }
    }

    /// The same of a row.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn of(self, account: &ConversationAccount) -> i64 {
        match self {
            Self::Newest => account.last.0,
            Self::Dearest => account.cost.0,
            Self::MostSaved => account.baseline.0.saturating_sub(account.cost.0),
        }
    }
}

impl FromStr for Order {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || {
            let message = format!("`{name}` is no order of conversations: expected newest, dearest or most-saved");
            Error::new(Kind::Invalid, message)
        };
        Self::ALL.into_iter().find(|order| order.name() == name).ok_or_else(unknown)
    }
}

/// What some requests came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How many there were.
    pub requests: u64,
    /// What they cost.
    pub cost: NanoUsd,
    /// What the practical baseline would have cost.
    pub baseline: NanoUsd,
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            cost: self.cost + other.cost,
            baseline: self.baseline + other.baseline,
        }
    }
}

/// Money in three ways: each of them adds up to the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// By day (UTC, days since the start of 1970), the first first; days without requests are left out.
    pub by_day: BTreeMap<i64, Spent>,
    /// By the requests' model.
    pub by_model: BTreeMap<String, Spent>,
    /// By whose conversation it was.
    pub by_reader: BTreeMap<ReaderId, Spent>,
}

impl Spending {
    /// Adds what some requests of one day, model and reader came to.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn add(&mut self, day: i64, model: String, reader: String, spent: Spent) {
        let of_day = self.by_day.entry(day).or_default();
        *of_day = *of_day + spent;
        let of_model = self.by_model.entry(model).or_default();
        *of_model = *of_model + spent;
        let of_reader = self.by_reader.entry(reader.into()).or_default();
        *of_reader = *of_reader + spent;
    }
}

/// Whose rows are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All, as whoever owns the store may see them.
    Everybody,
    /// One reader's.
    Only(ReaderId),
}

/// Whether something that is written behind was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Queued {
    /// It waits to be written.
    Waiting,
    /// The queue is full or the store closed: it is lost, and was counted (see [`Status`](crate::Status)).
    Lost,
}

/// The account: written behind, read in pages.
#[async_trait]
pub trait Account: Send + Sync {
    /// Takes a request into the account soon. Never waits.
    fn record_request(&self, conversation: &ConversationInfo, request: RequestEntry) -> Queued;

    /// Conversations, the one with the latest request first.
    async fn conversations(&self, whose: Whose, page: PageRequest) -> Result<Page<ConversationAccount>, Error> {
        self.conversations_by(Order::Newest, whose, page).await
    }

    /// Conversations in an order. O(conversations of the reader), but for the newest. A cursor is good for its order.
    async fn conversations_by(
        &self,
        order: Order,
        whose: Whose,
        page: PageRequest,
    ) -> Result<Page<ConversationAccount>, Error>;

    /// What requests came to since a time. O(requests since then).
    async fn spending(&self, whose: Whose, since: UnixMillis) -> Result<Spending, Error>;

    /// One conversation.
    async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationAccount>, Error>;

    /// The requests of a conversation, oldest first.
    async fn requests(&self, id: ConversationId, page: PageRequest) -> Result<Page<RequestEntry>, Error>;
}
