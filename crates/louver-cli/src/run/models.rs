//! Who answers: the model of the conversation, and the one for summaries.

use super::keys::Keys;
use crate::config::{Provider as Named, ProviderKind, Wire};
use anyhow::{Context, bail};
use louver_agent::provider::{Connection, HttpProvider, Provider};
use louver_agent::{ApiKey, CondenseHandler};
use louver_sandbox::{Running, Sandbox, Scenario};
use std::sync::Arc;
use std::time::Duration;

/// A model and the API it is asked through.
pub(super) type Model = CondenseHandler;

/// The models of a run, and the sandbox they live in if they do.
#[derive(Debug)]
pub(super) struct Models {
    pub(super) conversation: Model,
    pub(super) condensing: Option<Model>,
    sandbox: Option<Running>,
}

impl Models {
    /// Makes ready to ask them. Nothing is sent yet but a sandbox is started if one of them needs it.
    pub(super) async fn reach(
        conversation: &Named,
        condensing: Option<&Named>,
        keys: &Keys,
        max_silence: Duration,
    ) -> anyhow::Result<Self> {
        let needs_sandbox = |named: &&Named| named.kind == ProviderKind::Sandbox && named.base_url.is_none();
        let sandbox = match [Some(conversation), condensing].into_iter().flatten().find(needs_sandbox) {
            // It stands in for whatever is configured, a model of one's own included.
            Some(_) => {
                let builder = Sandbox::builder().scenario(Scenario::named("demo")?).any_model(true);
                Some(builder.start("127.0.0.1:0").await?)
            }
            None => None,
        };
        let url = sandbox.as_ref().map(Running::url).unwrap_or_default();
        Ok(Self {
            conversation: reach(conversation, &url, keys, max_silence)?,
            condensing: condensing
                .map(|named| reach(named, &url, keys, max_silence).context("context.condensing_provider"))
                .transpose()?,
            sandbox,
        })
    }

    /// Ends the sandbox.
    pub(super) async fn close(self) {
        if let Some(sandbox) = self.sandbox {
            sandbox.shutdown().await;
        }
    }
}

/// Makes ready to ask one of them.
pub(super) fn reach(named: &Named, sandbox_url: &str, keys: &Keys, max_silence: Duration) -> anyhow::Result<Model> {
    let (url, key) = match named.kind {
        ProviderKind::Sandbox => (sandbox_url, ApiKey::sandbox()),
        ProviderKind::AnthropicApi => (HttpProvider::ANTHROPIC_URL, key(named, keys)?),
        ProviderKind::OpenaiApi => (HttpProvider::OPENAI_URL, key(named, keys)?),
    };
    let connection = Connection::to(named.base_url.as_deref().unwrap_or(url)).with_max_silence(max_silence);
    let provider: Arc<dyn Provider> = match named.chosen_wire() {
        Wire::Messages => Arc::new(HttpProvider::anthropic(connection, key)?),
        Wire::Chat => Arc::new(HttpProvider::openai_chat(connection, key)?),
        Wire::Responses => Arc::new(HttpProvider::openai_responses(connection, key)?),
    };
    let model = named.model.clone().unwrap_or_else(|| usual_model(named).to_owned());
    Ok(Model { provider, model })
}

fn key(named: &Named, keys: &Keys) -> anyhow::Result<ApiKey> {
    let variable = named.key_variable().unwrap_or_default();
    let Some(key) = keys.key(variable) else {
        bail!("no key in {variable}: set it, or use --provider sandbox, which needs none");
    };
    Ok(key)
}

/// The model where none is named.
fn usual_model(named: &Named) -> &'static str {
    match (named.kind, named.chosen_wire()) {
        (ProviderKind::Sandbox, Wire::Messages) => "claude-sonnet-4-5",
        (_, Wire::Messages) => "claude-sonnet-5-5",
        (_, Wire::Chat | Wire::Responses) => "gpt-5.5",
    }
}
