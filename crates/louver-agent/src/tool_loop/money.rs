//! Stopping before a run costs more than it may.

use super::ToolLoop;
use louver::catalog::{Catalog, Cost, Price};

/// A reply shorter than this is not worth its prompt.
const LEAST_REPLY: u64 = 1024;

impl ToolLoop<'_> {
    /// How long the next reply may be: as long as ever, or what the rest of the money buys; none where that is too little
    /// to go on. Nothing bounds a model whose prices are unknown.
    pub(super) fn affordable_reply(&mut self) -> Option<u64> {
        let usual = self.options.max_tokens.min(self.conversation.reply_limit.unwrap_or(u64::MAX));
        let (Some(left), Some(found)) = (self.money_left(), Catalog::builtin().find(&self.options.model)) else {
            return Some(usual);
        };
        let prompt_tokens = self.most_prompt_tokens();
        let prices = found.model.prices_at(prompt_tokens);
        // Nobody knows what the provider still has in its cache.
        let prompt = prices.input.max(prices.cache_write).of(prompt_tokens);
        let buys = if prompt > left { 0 } else { tokens_for(left.less(prompt), prices.output) };
        if buys < usual.min(LEAST_REPLY) {
            let most = (prompt + prices.output.of(usual)).usd();
            self.warn(format!("the next call may cost up to ${most:.4}, and only ${:.4} is left to spend", left.usd()));
            return None;
        }
        Some(buys.min(usual))
    }

    /// What may still be spent, if that is bounded; a summary on its way is taken for as dear as it can get.
    pub(super) fn money_left(&self) -> Option<Cost> {
        let pending = self.conversation.pending.as_ref().map_or(Cost::ZERO, |pending| pending.most_cost);
        Some(self.options.max_cost?.less(self.conversation.spent + pending))
    }

    /// The prompt's tokens if the count is as far off as it says it may be.
    fn most_prompt_tokens(&self) -> u64 {
        let window = self.conversation.window();
        let error = window.config().counter.stated_error().clamp(0.0, 1.0);
        (window.tokens() as f64 * (1.0 + error)).ceil() as u64
    }
}

fn tokens_for(money: Cost, price: Price) -> u64 {
    let tokens = money.picodollars().checked_div(u128::from(price.picodollars_per_token()));
    tokens.map_or(u64::MAX, |tokens| u64::try_from(tokens).unwrap_or(u64::MAX))
}
