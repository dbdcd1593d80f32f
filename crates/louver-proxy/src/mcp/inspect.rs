//! The tool `inspect`.

use super::McpServer;
use crate::left_out::{decided_on, latest};
use louver::address::Address;
use louver_store::{ChainPoint, ConversationAccount, ConversationId};
use serde_json::Value;
use std::fmt::Write;

impl McpServer {
    pub(super) async fn inspect(&self, arguments: &Value) -> Result<String, String> {
        // What this process has seen is to be in the account.
        self.store.flush().await.map_err(|error| error.to_string())?;
        let id = match arguments.get("conversation").and_then(Value::as_str).filter(|id| !id.is_empty()) {
            Some(id) => ConversationId::from(id),
            None => self.latest().await?,
        };
        let found = self.store.conversation(id.clone()).await.map_err(|error| error.to_string())?;
        // What is another's is not there.
        let account = found.filter(|found| found.info.reader == self.reader);
        let account = account.ok_or_else(|| format!("{id}: no such conversation of yours"))?;
        let mut text = told(&account);
        if let Some(left_out) = self.left_out(&account).await.map_err(|error| error.to_string())? {
            let _ = writeln!(text, "left out now: {left_out} (recall gives it back)");
        }
        Ok(text)
    }

    /// What the latest decision on the conversation's chain leaves out, as far as its messages are kept.
    async fn left_out(&self, account: &ConversationAccount) -> Result<Option<Address>, louver_store::Error> {
        let id = &account.info.id;
        let places = self.store.chain_places(self.reader.clone(), ChainPoint::Newest(id.clone())).await?;
        let decisions = decided_on(&*self.store, id, &places).await?;
        // A record counts messages without thinking, an address as the client has them.
        let counted = latest(&decisions, &places).into_iter().flat_map(|record| record.left_out().collect::<Vec<_>>());
        let left_out = counted.flatten().filter_map(|number| Some(places.get(number)?.index as usize));
        Ok(Address::of_ranges(left_out.map(|index| index..index + 1)))
    }
}

fn told(account: &ConversationAccount) -> String {
    let last = account.last_tokens.unwrap_or_default();
    let usage = account.usage;
    let prompt = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
    let saved = (account.baseline.usd() - account.cost.usd()).max(0.0);
    format!(
        "conversation {}: {}\nrequests {}, cuts {}, of them rescued {}\nlast request: {} of {} tokens sent\nall requests: \
         {} of {} tokens sent; {prompt} prompt tokens, {} of them from the cache; {} tokens of answers\ncost about \
         ${:.4} at list prices, ${saved:.4} less than uncut\n",
        account.info.id,
        account.info.model,
        account.requests,
        account.cuts,
        account.rescued,
        last.sent,
        last.held,
        account.tokens.sent,
        account.tokens.held,
        usage.cache_read,
        usage.output,
        account.cost.usd(),
    )
}
