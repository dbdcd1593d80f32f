//! The policies: units and budget in, plan out.
//!
//! To add one: a file with its [`Policy`] below `kind`, and its row in [`TABLE`]. A policy of one's own needs no row:
//! [`PolicyKind::Custom`] takes any, and everything that those here use is public.

mod builder;
mod input;
mod kind;

pub use builder::PlanBuilder;
pub use input::{Occasion, PolicyInput};
pub use kind::{
    Account, CutWhen, Decision, LadderConfig, LadderRow, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD,
    MessagesConfig, ObservationsConfig, PolicyKind, Row, SettingsError, TABLE, TokensConfig, decide,
    effective_threshold, messages_to_drop,
};

pub(crate) use input::BoundThinking;

pub use crate::economy::Economy;
pub use crate::edit::{Change, Edit};
pub use crate::unit::Unit;

use crate::plan::{Bound, Memory, Overflow, Pins, Plan, Trigger};
use std::fmt::Debug;
use std::ops::Range;

/// Decides what is sent. Pure and deterministic: it looks at its input and makes a plan; what it wants to remember is
/// part of the plan, so a plan that fails or is thrown away leaves no trace.
///
/// ```
/// use louver::plan::{Bound, Overflow, Pins, Plan};
/// use louver::policy::{Policy, PolicyInput, PolicyKind};
/// use louver::window::{Window, WindowConfig};
/// use louver::wire::Format;
/// use std::sync::Arc;
///
/// /// Forgets everything but the last exchange.
/// #[derive(Debug)]
/// struct LastExchange;
///
/// impl Policy for LastExchange {
///     fn name(&self) -> &str {
///         "last-exchange"
///     }
///     fn bound(&self) -> Bound {
///         Bound::None
///     }
///     fn pins(&self, input: &PolicyInput<'_>) -> Pins {
///         Pins { tail_start: input.log_len().saturating_sub(2), ..Pins::none() }
///     }
///     fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
///         let mut builder = input.builder(&self.pins(input));
///         builder.evict_where(|_| true);
///         builder.finish()
///     }
/// }
///
/// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Custom(Arc::new(LastExchange))))?;
/// for text in ["one", "two", "three"] {
///     window.push_raw(&format!(r#"{{"role":"user","content":"{text}"}}"#))?;
/// }
/// window.fit()?;
/// assert_eq!(window.view().len(), 2);
/// # Ok::<(), louver::Error>(())
/// ```
pub trait Policy: Debug + Send + Sync {
    /// The name in reports.
    fn name(&self) -> &str;

    /// What it promises of the view.
    fn bound(&self) -> Bound;

    /// Whether it is switched off, so that nothing may leave, not even where a provider refuses the view as too long.
    fn is_off(&self) -> bool {
        false
    }

    /// The messages that it never lets go.
    fn pins(&self, input: &PolicyInput<'_>) -> Pins;

    /// What is to be done about the present view. O(1) when nothing is.
    ///
    /// # Errors
    ///
    /// The promise cannot be kept.
    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow>;

    /// What it remembers after a decision that was recorded, whoever made it: these messages left, if any did, for this
    /// reason, if there was one. For a policy's own plan it is what the plan says.
    fn remember(&self, _input: &PolicyInput<'_>, _evicted: &[Range<usize>], _trigger: Option<Trigger>) -> Memory {
        Memory::default()
    }

    /// Whether a count can change what it does about a history that has at most the tokens of this input. Where it cannot,
    /// vocabularies need not be loaded to decide.
    fn heeds_counts(&self, _at_most: &PolicyInput<'_>) -> bool {
        true
    }

    /// The cap on messages, if it has one.
    fn max_messages(&self) -> Option<usize> {
        None
    }

    /// What it has spent and weighed, if it decides by price.
    fn account(&self, _input: &PolicyInput<'_>) -> Option<Account> {
        None
    }
}
