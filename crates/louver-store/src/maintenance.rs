//! Keeping the store small, sound and silent about what was deleted.

use crate::error::Error;
use crate::name::ConversationId;
use crate::time::UnixMillis;
use async_trait::async_trait;

/// For how many days decisions are kept where nothing else is said.
pub const DECISION_DAYS: i64 = 400;

/// What may leave.
///
/// ```
/// use louver_store::{Retention, UnixMillis};
///
/// let now = UnixMillis(1_800_000_000_000);
/// let retention = Retention { content_before: Some(now.plus_days(-30)), ..Retention::default_at(now) };
/// assert_eq!(retention.decisions_before, Some(now.plus_days(-400)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Decisions of conversations in which none was made since.
    pub decisions_before: Option<UnixMillis>,
    /// Requests and sums of conversations that had no request since.
    pub account_before: Option<UnixMillis>,
    /// Messages of conversations that were silent since.
    pub content_before: Option<UnixMillis>,
    /// Messages of the conversations that were silent for longest, until no more bytes are left than this.
    pub content_max_bytes: Option<u64>,
}

impl Retention {
    /// Decisions for [`DECISION_DAYS`], everything else for ever.
    #[must_use]
    pub fn default_at(now: UnixMillis) -> Self {
        Self { decisions_before: Some(now.plus_days(-DECISION_DAYS)), ..Self::default() }
    }
}

/// What left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Decisions.
    pub decisions: u64,
    /// Requests of the account.
    pub requests: u64,
    /// Messages that no other conversation holds.
    pub messages: u64,
    /// Whether no byte of it is left in the files. Otherwise somebody was reading or writing, and
    /// [`vacuum`](Maintenance::vacuum) makes up for it.
    pub is_erased: bool,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// Bytes on disk.
    pub file_bytes: u64,
    /// Decisions.
    pub decisions: u64,
    /// Conversations in the account.
    pub conversations: u64,
    /// Requests in the account.
    pub requests: u64,
    /// Messages, each content of a reader once.
    pub messages: u64,
    /// Their bytes.
    pub content_bytes: u64,
}

/// How writing behind goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// What waits to be written.
    pub waiting: usize,
    /// What was lost because the queue was full, or because it could not be written.
    pub lost: u64,
    /// Whether the last attempt to write failed.
    pub is_failing: bool,
}

/// What is done to a store as a whole.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Removes what may leave, in small steps that let others in between.
    async fn retain(&self, retention: Retention) -> Result<Removed, Error>;

    /// Removes a conversation's requests, messages and what the search knows of them; nothing of it stays in the files.
    /// Its decisions hold no text and stay, so that the conversation can go on.
    async fn delete_conversation(&self, id: ConversationId) -> Result<Removed, Error>;

    /// Makes the store as small as it can be.
    async fn vacuum(&self) -> Result<(), Error>;

    /// Looks whether the store is sound. O(store).
    async fn check(&self) -> Result<(), Error>;

    /// How much there is. O(store).
    async fn size(&self) -> Result<StoreSize, Error>;

    /// How writing behind goes.
    fn status(&self) -> Status;

    /// Waits until everything that was queued before is durable.
    ///
    /// # Errors
    ///
    /// It could not be written now. What is transient is tried again later.
    async fn flush(&self) -> Result<(), Error>;

    /// Writes what is queued and stops; every later call fails with [`Error::is_closed`].
    async fn close(&self) -> Result<(), Error>;
}
