//! What was decided, once and for all.

use crate::bounds::bounded;
use crate::chain::{ChainHash, ChainTag};
use crate::error::{Error, Kind};
use crate::name::ConversationId;
use crate::page::{Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use std::sync::Arc;

/// The most bytes of a record.
pub const MAX_RECORD_BYTES: usize = 8 << 20;

/// How many attempts may follow the first at one key, whoever adds them.
pub const MAX_FURTHER_ATTEMPTS: u8 = 2;

/// What a decision is known by: the request at which it was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DecisionKey {
    /// The hash of the whole request's history.
    pub chain: ChainHash,
    /// The upstream's name.
    pub upstream: String,
    /// The model.
    pub model: String,
    /// 0 for the first decision at this request, then 1 and 2.
    pub attempt: u8,
}

/// A decision to be kept. What it says is its writer's business; the store never looks inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What it is found by.
    pub key: DecisionKey,
    /// The hash at the end of the last message that it touches or quotes: where the client changed something behind, it is
    /// found by this.
    pub touches: ChainHash,
    /// The conversation in which it was made.
    pub conversation: ConversationId,
    /// When.
    pub at: UnixMillis,
    /// What was decided: at most [`MAX_RECORD_BYTES`], with a version of its writer's own.
    pub record: Arc<[u8]>,
}

impl Decision {
    /// Refuses names that nobody gives and a record that is too large.
    pub(crate) fn check(&self) -> Result<(), Error> {
        bounded("the upstream's name", &self.key.upstream)?;
        bounded("the model's name", &self.key.model)?;
        bounded("the conversation's name", self.conversation.as_str())?;
        if self.record.len() > MAX_RECORD_BYTES {
            let message = format!("a record of {} bytes is larger than {MAX_RECORD_BYTES}", self.record.len());
            return Err(Error::new(Kind::TooLarge, message));
        }
        Ok(())
    }
}

/// The place of a decision in the order of insertion. Later ones have greater numbers, none is ever used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub i64);

/// A decision as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDecision {
    /// When it was inserted, compared with others.
    pub sequence: Sequence,
    /// Whether an answer to its view reached a client.
    pub is_shown: bool,
    /// The decision.
    pub decision: Decision,
}

/// A decision without its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionHead {
    /// When it was inserted, compared with others.
    pub sequence: Sequence,
    /// Whether an answer to its view reached a client.
    pub is_shown: bool,
    /// What it is found by.
    pub key: DecisionKey,
    /// The end of the last message that it touches or quotes.
    pub touches: ChainHash,
}

/// Which decisions are wanted: those of one upstream on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainQuery {
    /// The upstream's name.
    pub upstream: String,
    /// The chain's hashes, in any order: one for each message, or only those not asked for before.
    pub hashes: Vec<ChainHash>,
    /// Only what was inserted after this one. [`Sequence::default`] is before all.
    pub after: Sequence,
}

/// What became of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It is the one that counts.
    Mine(StoredDecision),
    /// Another was there before and counts. A call that is repeated finds its own.
    Theirs(StoredDecision),
}

impl Inserted {
    /// The decision that counts.
    #[must_use]
    pub fn winner(&self) -> &StoredDecision {
        let (Self::Mine(winner) | Self::Theirs(winner)) = self;
        winner
    }

    /// Takes the decision that counts.
    #[must_use]
    pub fn into_winner(self) -> StoredDecision {
        let (Self::Mine(winner) | Self::Theirs(winner)) = self;
        winner
    }
}

/// What became of a further attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FurtherAttempt {
    /// It was inserted, or another of the same number was there before.
    Inserted(Inserted),
    /// Nothing was inserted: an answer to this one, the first shown at the key, has reached a client.
    Shown(StoredDecision),
    /// Nothing was inserted: there have been [`MAX_FURTHER_ATTEMPTS`] already.
    Exhausted,
}

impl FurtherAttempt {
    /// What became of an attempt, by all attempts at its request.
    pub(crate) fn of(attempts: Vec<StoredDecision>, key: &DecisionKey, is_mine: bool) -> Result<Self, Error> {
        if let Some(shown) = attempts.iter().find(|found| found.is_shown) {
            return Ok(Self::Shown(shown.clone()));
        }
        match attempts.into_iter().find(|found| found.decision.key.attempt == key.attempt) {
            Some(winner) if is_mine => Ok(Self::Inserted(Inserted::Mine(winner))),
            Some(winner) => Ok(Self::Inserted(Inserted::Theirs(winner))),
            None if key.attempt > MAX_FURTHER_ATTEMPTS => Ok(Self::Exhausted),
            None => Err(Error::new(Kind::Invalid, format!("attempt {} has no attempt before it", key.attempt))),
        }
    }
}

/// Which state of the decisions an answer speaks of: where two are equal, no decision was inserted, shown or removed in
/// between, by any process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionsVersion(pub i64);

/// Decisions: durable when a call returns, the same for every process.
#[async_trait]
pub trait Decisions: Send + Sync {
    /// The decisions whose key's or touched hash is among those of a chain, oldest inserted first. O(hashes).
    async fn decisions_on(&self, chain: ChainQuery) -> Result<Vec<StoredDecision>, Error>;

    /// The same without their records.
    async fn decision_heads_on(&self, chain: ChainQuery) -> Result<Vec<DecisionHead>, Error>;

    /// One decision.
    async fn decision(&self, sequence: Sequence) -> Result<Option<StoredDecision>, Error>;

    /// The decisions that were made in a conversation, oldest first.
    async fn decisions_in(
        &self,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<StoredDecision>, Error>;

    /// The decisions that were made where a tag says, oldest inserted first.
    async fn decisions_at(&self, tag: ChainTag) -> Result<Vec<StoredDecision>, Error>;

    /// Keeps a decision if there is none at its key, and says which one counts. After an error, ask again: it may have
    /// been kept all the same.
    async fn insert_decision(&self, decision: Decision) -> Result<Inserted, Error>;

    /// Keeps a further attempt (its key says which) while none at this request is shown.
    ///
    /// # Errors
    ///
    /// [`Error::is_invalid`] for attempt 0, and where the attempt before it is missing.
    async fn insert_attempt(&self, decision: Decision) -> Result<FurtherAttempt, Error>;

    /// Notes that an answer to an attempt is about to reach a client. Says whether there is such an attempt.
    async fn mark_shown(&self, key: DecisionKey) -> Result<bool, Error>;

    /// The state that the decisions are in. Cheap enough to be asked at every request.
    async fn decisions_version(&self) -> Result<DecisionsVersion, Error>;
}
