//! What happens around the requests of a conversation.

use louver::condense::{CondenseJob, Summary};
use louver::window::{Usage, Window};
use proptest::prelude::*;

/// When summaries arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summaries {
    AtOnce,
    /// So many requests later.
    Late(usize),
    Failing,
    Never,
}

/// What happens around the requests of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) summaries: Summaries,
    /// The provider counts so many hundredths of what we count, and says so at every such request.
    pub(crate) usage: Option<(u64, usize)>,
    /// The cache has expired before every such request.
    pub(crate) cold_every: usize,
    /// A usage report comes between two fits without a message between them.
    pub(crate) fits_twice: bool,
}

impl Script {
    /// Nothing happens.
    pub(crate) const PLAIN: Self = Self { summaries: Summaries::Never, usage: None, cold_every: 0, fits_twice: false };

    /// Whether the messages alone decide.
    pub(crate) fn is_plain(&self) -> bool {
        self.usage.is_none() && self.cold_every == 0 && matches!(self.summaries, Summaries::Never)
    }

    /// Says whether the view may have changed.
    pub(crate) fn before_request(&self, number: usize, window: &mut Window) -> bool {
        if self.cold_every > 0 && number % self.cold_every == self.cold_every - 1 {
            window.cache_expired();
        }
        let Summaries::Late(delay) = self.summaries else {
            return false;
        };
        let Some(job) = window.open_job().filter(|_| number % (delay + 1) == delay).cloned() else {
            return false;
        };
        answer(window, &job, number);
        true
    }

    pub(crate) fn after_request(&self, number: usize, window: &mut Window, job: Option<CondenseJob>) {
        if let Some((hundredths, every)) = self.usage
            && number.is_multiple_of(every)
        {
            window.report_usage(Usage::of_input(window.tokens() * hundredths / 100));
            if self.fits_twice {
                // What it says is looked at at the next request; that it may be called is looked at here.
                let _ = window.fit().map(|_| assert_fits(window));
            }
        }
        match (self.summaries, job) {
            (Summaries::AtOnce, Some(job)) => answer(window, &job, number),
            (Summaries::Failing, Some(job)) => drop(window.answer(job.id, Err("no".to_owned()))),
            _ => {}
        }
    }
}

/// After a report of usage the same view may be over the limit.
fn assert_fits(window: &Window) {
    if window.bound() == louver::plan::Bound::Tokens {
        let budget = window.budget().unwrap();
        assert!(!budget.is_exceeded_by(window.tokens()), "law 5: over the limit after a report of usage");
    }
}

fn answer(window: &mut Window, job: &CondenseJob, number: usize) {
    let text = format!("Summary {number} of src/a_{number}.rs.");
    window.answer(job.id, Ok(Summary::new(text)));
}

/// Scripts of every kind.
pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let summaries = prop_oneof![
        2 => Just(Summaries::Never),
        2 => Just(Summaries::AtOnce),
        2 => (0..5usize).prop_map(Summaries::Late),
        1 => Just(Summaries::Failing),
    ];
    let usage = prop::option::weighted(0.4, (60..200u64, 1..4usize));
    (summaries, usage, prop_oneof![3 => Just(0), 1 => 1..6usize], any::<bool>())
        .prop_map(|(summaries, usage, cold_every, fits_twice)| Script { summaries, usage, cold_every, fits_twice })
}
