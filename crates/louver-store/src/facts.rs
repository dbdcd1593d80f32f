//! What was learned of models.

use crate::bounds::bounded;
use crate::error::Error;
use crate::time::UnixMillis;
use async_trait::async_trait;
use louver::tokens::Factor;
use std::fmt;

/// For how many days a learned limit is believed.
pub const LIMIT_DAYS: i64 = 7;

/// A model as one upstream serves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedModel {
    /// The upstream's name.
    pub upstream: String,
    /// The model.
    pub model: String,
}

impl ServedModel {
    /// Refuses names that nobody gives.
    pub(crate) fn check(&self) -> Result<(), Error> {
        bounded("the upstream's name", &self.upstream)?;
        bounded("the model's name", &self.model)
    }
}

/// A keyed hash of a credential: tells two apart and says nothing of either.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredentialHash(pub [u8; 32]);

impl fmt::Debug for CredentialHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What a context limit holds for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LimitScope {
    /// The model.
    pub served: ServedModel,
    /// The beta that changes the window; empty without one.
    pub beta: String,
    /// Who asked.
    pub credential: CredentialHash,
}

/// What was learned, as far as it is still believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearnedFacts {
    /// How much the counter has to be corrected by.
    pub calibration: Option<Factor>,
    /// How many tokens of input the provider takes.
    pub context_limit: Option<u64>,
    /// The tokens of the longest answer.
    pub longest_answer: Option<u64>,
}

/// Facts about models, shared by all processes.
#[async_trait]
pub trait Facts: Send + Sync {
    /// Everything that is known at this time.
    async fn facts(&self, scope: LimitScope, now: UnixMillis) -> Result<LearnedFacts, Error>;

    /// Keeps a calibration factor in the place of the one before.
    async fn learn_calibration(&self, served: ServedModel, factor: Factor) -> Result<(), Error>;

    /// A provider refused an input and named its limit, or it follows from what was refused. It is believed for
    /// [`LIMIT_DAYS`], in the place of any other.
    async fn learn_limit(&self, scope: LimitScope, tokens: u64, now: UnixMillis) -> Result<(), Error>;

    /// A provider accepted an input: a limit that is lower is raised to it, for as long as it would have been believed.
    /// Says whether one was.
    async fn learn_accepted(&self, scope: LimitScope, input_tokens: u64) -> Result<bool, Error>;

    /// An answer had so many tokens; the longest is kept.
    async fn learn_answer(&self, served: ServedModel, output_tokens: u64) -> Result<(), Error>;
}
