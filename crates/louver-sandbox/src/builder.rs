use std::sync::Arc;

use crate::{Clock, Counter, Limits, Scenario};

/// A sandbox being described.
#[derive(Debug)]
#[must_use = "a builder serves nothing until `start`"]
pub struct Builder {
    pub(crate) scenario: Scenario,
    pub(crate) context_window: Option<u64>,
    pub(crate) overflow_in_stream: bool,
    pub(crate) any_model: bool,
    pub(crate) counter: Counter,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
}

impl Builder {
    /// What the model says.
    pub fn scenario(mut self, scenario: Scenario) -> Self {
        self.scenario = scenario;
        self
    }

    /// One context window for all models, in tokens, instead of each model's own.
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Whether a request that does not fit and asks for events is refused by an event: 200, what leads every stream, then
    /// the error. Otherwise, and by default, it is refused by its status.
    pub fn overflow_in_stream(mut self, is_in_stream: bool) -> Self {
        self.overflow_in_stream = is_in_stream;
        self
    }

    /// Whether it answers as a model that no API has, too: where it stands in for a server of one's own. By default such a
    /// request is refused.
    pub fn any_model(mut self, is_any: bool) -> Self {
        self.any_model = is_any;
        self
    }

    /// How tokens are counted.
    pub fn counter(mut self, counter: Counter) -> Self {
        self.counter = counter;
        self
    }

    /// Where the time comes from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The bounds of everything.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
