//! What is remembered of a request until its answer has ended.

use super::figures::Figures;
use super::money::Baseline;
use crate::brain::Tokens;
use louver_store::{ConversationInfo, DecisionKey, LimitScope, Observed, Sequence, UnixMillis};
use std::sync::{Arc, Mutex};

/// What a keeper remembers of one attempt; nothing where the request has no history that could be cut.
#[derive(Debug, Default)]
pub struct Ticket(pub(super) Option<Box<Open>>);

/// A request that waits for its answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) at: UnixMillis,
    pub(super) conversation: ConversationInfo,
    /// The record at the request's own key whose view it shows, if there is one.
    pub(super) key: Option<DecisionKey>,
    pub(super) scope: LimitScope,
    pub(super) figures: Figures,
    pub(super) tokens: Tokens,
    pub(super) observed: Option<Observed>,
    pub(super) cut_reason: Option<String>,
    pub(super) cache_break: Option<String>,
    pub(super) is_repeat: bool,
    pub(super) is_counted: bool,
    pub(super) baseline: Arc<Mutex<Baseline>>,
    /// Which record was sent, where one was.
    pub(super) sequence: Option<Sequence>,
}
