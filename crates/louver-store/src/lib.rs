//! Keeps what Louver decided, what it cost and what it left out.
//!
//! A proxy shows a model a view of each conversation. The view follows from the client's history and from recorded
//! decisions, so decisions are kept here, durably, before a request that shows them leaves ([`Decisions`]). Beside them
//! stand what was learned of models ([`Facts`]), the account of requests and money ([`Account`]), and, where it is wanted,
//! the messages themselves, so that what was left out can be had back ([`Content`]). Nothing here decides anything, speaks
//! HTTP or looks at a clock.
//!
//! [`SqliteStore`] is a file for any number of processes on one machine, [`PostgresStore`] a server for any number of
//! machines.
//!
//! ```
//! # #[cfg(feature = "sqlite")] {
//! use louver_store::{ChainHash, ChainQuery, Decision, DecisionKey, Decisions, Inserted, Sequence, SqliteStore, UnixMillis};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let folder = tempfile::tempdir().unwrap();
//! let store = SqliteStore::open(folder.path().join("store.db")).unwrap();
//! let (upstream, model) = ("anthropic".to_owned(), "claude-sonnet-5".to_owned());
//! let decision = |record: &[u8]| Decision {
//!     key: DecisionKey { chain: ChainHash([1; 32]), upstream: upstream.clone(), model: model.clone(), attempt: 0 },
//!     touches: ChainHash([2; 32]),
//!     conversation: "c1".into(),
//!     at: UnixMillis(1_800_000_000_000),
//!     record: record.into(),
//! };
//!
//! // Two requests decide at the same point: the first one counts for both.
//! assert!(matches!(store.insert_decision(decision(b"cut at 40")).await.unwrap(), Inserted::Mine(_)));
//! let second = store.insert_decision(decision(b"cut at 38")).await.unwrap();
//! assert_eq!(&*second.winner().decision.record, b"cut at 40");
//!
//! // A later request of the same conversation finds it on its chain.
//! let hashes = (0..9).map(|message| ChainHash([message; 32])).collect();
//! let found = store.decisions_on(ChainQuery { upstream, hashes, after: Sequence::default() }).await.unwrap();
//! assert_eq!(found.len(), 1);
//! # });
//! # }
//! ```

mod account;
mod bounds;
mod chain;
mod content;
mod decisions;
mod error;
mod facts;
mod maintenance;
mod money;
mod name;
mod page;
mod store;
mod time;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod archive_search;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod behind;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod everything;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod on_chain;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod postings;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use account::{
    Account, ConversationAccount, ConversationInfo, Observed, Order, Outcome, Queued, RequestEntry, Spending, Spent,
    Tokens, Usage, Whose,
};
pub use chain::{ChainHash, ChainTag};
pub use content::{
    ArchiveHit, ArchivedMessage, ChainPlace, ChainPoint, Content, MAX_MESSAGE_BYTES, MAX_PAGE_BYTES, MessagePlace,
    NewContent, NewMessage, RecallRequest, Recalled, SearchAnswer, SearchRequest, SearchScope,
};
pub use decisions::{
    ChainQuery, Decision, DecisionHead, DecisionKey, Decisions, DecisionsVersion, FurtherAttempt, Inserted,
    MAX_FURTHER_ATTEMPTS, MAX_RECORD_BYTES, Sequence, StoredDecision,
};
pub use error::Error;
pub use facts::{CredentialHash, Facts, LIMIT_DAYS, LearnedFacts, LimitScope, ServedModel};
pub use maintenance::{DECISION_DAYS, Maintenance, Removed, Retention, Status, StoreSize};
pub use money::NanoUsd;
pub use name::{ConversationId, MAX_NAME_BYTES, ReaderId};
pub use page::{Cursor, MAX_PAGE_ROWS, Page, PageRequest};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use store::Store;
pub use time::UnixMillis;
