//! Models whose open tool turn has to start with thinking.

use super::ToolLoop;
use louver::catalog::ThinkingBinding;
use louver::wire::{Format, History, Thinking};
use serde_json::{Map, Value};
use std::borrow::Cow;

impl<'a> ToolLoop<'a> {
    /// The further fields of a request. A model that thinks once, at the start of a turn, refuses the rest of that turn
    /// once the window has left its start out, unless thinking is off: so it is, until the next prompt starts another one.
    pub(super) fn extra(&mut self) -> Cow<'a, Map<String, Value>> {
        let extra = &self.options.extra;
        let is_manual = extra.get("thinking").is_some_and(|thinking| thinking["type"] == "enabled");
        if !(is_manual && self.has_lost_its_thinking()) {
            return Cow::Borrowed(extra);
        }
        self.warn("thinking is off until the next prompt: the turn began with some that is left out".to_owned());
        Cow::Owned(extra.iter().filter(|(key, _)| *key != "thinking").map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    fn has_lost_its_thinking(&self) -> bool {
        let config = self.conversation.window().config();
        if config.format != Format::Anthropic || config.thinking != ThinkingBinding::OpenTurn {
            return false;
        }
        let messages = self.conversation.window().view().iter().map(|sent| sent.message);
        let history = History { thinking: Thinking::Enabled, ..History::of(messages) };
        config.format.wire().check(&history).iter().any(|violation| violation.rule == "thinking-misplaced")
    }
}
