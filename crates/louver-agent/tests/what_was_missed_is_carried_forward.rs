//! What was evicted but not summarised is in the next summary's input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver::wire::{Format, Message, PartKind};
use louver_agent::provider::{Answer, Provider, ProviderError, Request, StopReason};
use louver_agent::{CondenseHandler, CondenseTiming, Usage};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use world::{Api, World, steps};

/// Says nothing the first time, then something short, and remembers what it was asked.
#[derive(Debug, Default)]
struct Summariser {
    asked: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Provider for Summariser {
    fn format(&self) -> Format {
        Format::OpenAiChat
    }

    async fn send(&self, request: &Request<'_>, _: &CancellationToken) -> Result<Answer, ProviderError> {
        let message = Message::parse(self.format(), request.messages[0]).unwrap();
        let text = message.shape().parts_of(PartKind::Text).map(|part| message.text_of(part).into_owned()).collect();
        let mut asked = self.asked.lock().unwrap();
        asked.push(text);
        let text = if asked.len() == 1 { "" } else { "So far, so good." }.to_owned();
        assert_eq!((request.max_tokens, request.tools.len(), request.messages.len()), (1024, 0, 1));
        Ok(Answer { messages: vec![], text, calls: vec![], stop: StopReason::EndOfTurn, usage: Usage::default() })
    }

    async fn count_tokens(&self, _: &Request<'_>, _: &CancellationToken) -> Result<u64, ProviderError> {
        Ok(0)
    }
}

#[tokio::test]
async fn a_later_summary_covers_what_a_failed_one_left_and_merges_the_one_before() {
    for api in Api::ALL {
        let summariser = Arc::new(Summariser::default());
        let world = World::new(api, steps(40)).await;
        let mut options = world.options();
        options.window.policy = PolicyKind::Messages(MessagesConfig {
            max_messages: 14,
            preserve_last_n: 6,
            summarize_on_trim: true,
            ..MessagesConfig::default()
        });
        options.window.custom_condensing_prompt = Some("Be brief.".to_owned());
        options.condense.timing = CondenseTiming::Immediate;
        options.condense.handler = Some(CondenseHandler { provider: summariser.clone(), model: "any".to_owned() });
        let result = world.execute(&options).await;
        assert!(result.success, "{:?}", result.error);
        assert_eq!(result.condensing.failed, 1, "{api:?}");
        let asked = summariser.asked.lock().unwrap();
        assert!(asked.len() > 2, "{api:?}: {}", asked.len());
        assert!(asked.iter().all(|prompt| prompt.starts_with("Be brief.\n\n")), "{api:?}");
        let missed = asked[0].strip_prefix("Be brief.\n\n").unwrap();
        assert!(asked[1].contains(missed), "{api:?}: what was missed comes again");
        assert!(asked[2].contains("[summary]: So far, so good."), "{api:?}: summaries merge");
        assert!(!asked[2].contains(missed), "{api:?}: and what is covered does not come again");
    }
}
