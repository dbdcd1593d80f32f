//! How much may be sent.

/// The reply length that is reserved where nothing else is said.
pub const ANTHROPIC_DEFAULT_MAX_TOKENS: u64 = 8192;

/// The share of the window that stays free because counts are never quite the provider's.
pub const TOKEN_BUFFER_PERCENTAGE: f64 = 0.1;

/// A context window with its reply reserve and buffer.
///
/// It cannot be made with a reserve that leaves nothing, so nobody subtracts below zero later.
///
/// ```
/// use louver::budget::Budget;
///
/// let budget = Budget::new(100_000, Some(30_000)).unwrap();
/// assert_eq!(budget.allowed_tokens(), 60_000);
/// assert!(!budget.is_exceeded_by(60_000));
/// assert!(budget.is_exceeded_by(60_001));
/// assert!(Budget::new(8_000, None).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Budget {
    context_window: u64,
    reserve: u64,
}

/// A reserve that leaves no room for a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a context window of {context_window} tokens less 10 % and a reply reserve of {reserve} leaves nothing: \
     raise the window or lower max_tokens"
)]
/// ```
/// assert!(louver::Budget::new(8_000, Some(8_000)).unwrap_err().to_string().contains("leaves nothing"));
/// ```
pub struct NothingLeft {
    context_window: u64,
    reserve: u64,
}

impl Budget {
    /// A window of so many tokens, and the reply length to reserve; absent or 0 means
    /// [`ANTHROPIC_DEFAULT_MAX_TOKENS`].
    ///
    /// # Errors
    ///
    /// A reserve that leaves nothing.
    pub fn new(context_window: u64, max_tokens: Option<u64>) -> Result<Self, NothingLeft> {
        let reserve = max_tokens.filter(|tokens| *tokens > 0).unwrap_or(ANTHROPIC_DEFAULT_MAX_TOKENS);
        let budget = Self { context_window, reserve };
        if budget.allowed_tenths() == 0 {
            return Err(NothingLeft { context_window, reserve });
        }
        Ok(budget)
    }

    /// The model's whole window.
    ///
    /// ```
    /// assert_eq!(louver::Budget::new(8_000, Some(1_000))?.context_window(), 8_000);
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn context_window(self) -> u64 {
        self.context_window
    }

    /// What is kept free for the reply.
    ///
    /// ```
    /// assert_eq!(louver::Budget::new(100_000, None)?.reserve(), 8_192); // where nothing is said
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn reserve(self) -> u64 {
        self.reserve
    }

    /// `context_window * 0.9 - reserve`, rounded down.
    pub fn allowed_tokens(self) -> u64 {
        self.allowed_tenths() / 10
    }

    /// Whether so many tokens are too many, compared exactly.
    pub fn is_exceeded_by(self, tokens: u64) -> bool {
        tokens.saturating_mul(10) > self.allowed_tenths()
    }

    /// Tenths keep the comparison exact for windows that ten does not divide.
    fn allowed_tenths(self) -> u64 {
        self.context_window.saturating_mul(9).saturating_sub(self.reserve.saturating_mul(10))
    }
}
