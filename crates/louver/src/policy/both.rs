//! The message cap first, the token window on the result.

use super::tokens::{Tokens, TokensConfig};
use super::{MessagesConfig, Policy, Settings, SettingsError, messages};
use crate::plan::{Bound, Overflow, Plan};
use crate::sight::Sight;

/// The policy `both`.
#[derive(Debug)]
struct Both {
    messages: MessagesConfig,
    tokens: Tokens,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    let tokens = Tokens::new(TokensConfig::clone(&settings.tokens), settings)?;
    Ok(Box::new(Both { messages: settings.messages, tokens }))
}

impl Policy for Both {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        let capped = messages::plan(&self.messages, sight);
        self.tokens.plan_after(capped, sight)
    }
}
