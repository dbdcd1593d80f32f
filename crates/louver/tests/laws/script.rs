//! What happens around the requests of a conversation.

use louver::budget::Budget;
use louver::condense::{CondenseJob, Summary};
use louver::plan::Bound;
use louver::policy::TABLE;
use louver::window::{Usage, Window, WindowConfig};
use proptest::prelude::*;

/// When summaries arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summaries {
    AtOnce,
    /// So many requests later.
    Late(usize),
    /// At once, and larger than most of what they replace.
    TooLarge,
    Failing,
    Never,
}

/// What a provider says about its requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    /// It counts so many hundredths of what we count.
    pub(crate) hundredths: u64,
    /// It says so at every such request.
    pub(crate) every: usize,
    /// Whether the model's answer is pushed first.
    pub(crate) are_late: bool,
    /// A fit follows with no message between.
    pub(crate) fits_again: bool,
}

/// What happens around the requests of a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) summaries: Summaries,
    pub(crate) usage: Option<Reports>,
    /// The caller has a figure of so many hundredths of what we count, before this request.
    pub(crate) total: Option<(u64, usize)>,
    /// The provider turns out to take so many hundredths of what was known, before this request.
    pub(crate) limit: Option<(u64, usize)>,
    /// The cache has expired before every such request.
    pub(crate) cold_every: usize,
    /// The window is cloned before this request, and both live on.
    pub(crate) cloned_at: Option<usize>,
    /// The window is opened from its records before this request, and both live on.
    pub(crate) opened_at: Option<usize>,
    /// The same under other settings: before this request, a row of the table, a context window.
    pub(crate) moved_at: Option<(usize, usize, u64)>,
}

impl Script {
    /// Nothing happens.
    pub(crate) const PLAIN: Self = Self {
        summaries: Summaries::Never,
        usage: None,
        total: None,
        limit: None,
        cold_every: 0,
        cloned_at: None,
        opened_at: None,
        moved_at: None,
    };

    /// Whether the messages alone decide.
    pub(crate) fn is_plain(&self) -> bool {
        let has_figures = self.usage.is_some() || self.total.is_some() || self.limit.is_some();
        !has_figures && self.cold_every == 0 && matches!(self.summaries, Summaries::Never)
    }

    /// Says whether the view may have changed.
    pub(crate) fn before_request(&self, number: usize, window: &mut Window) -> bool {
        if self.cold_every > 0 && number % self.cold_every == self.cold_every - 1 {
            window.cache_expired();
        }
        if let Some((hundredths, _)) = self.total.filter(|(_, at)| *at == number) {
            window.report_total(window.log_tokens() * hundredths / 100);
        }
        if let Some((hundredths, _)) = self.limit.filter(|(_, at)| *at == number)
            && let Some(budget) = window.budget()
            && let Ok(less) = Budget::new(budget.context_window() * hundredths / 100, Some(budget.reserve()))
        {
            window.limit_to(less);
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

    /// What the provider says the request had, if it says anything.
    pub(crate) fn usage_of(&self, number: usize, window: &Window) -> Option<Usage> {
        let reports = self.usage.filter(|reports| number.is_multiple_of(reports.every))?;
        Some(Usage::of_input(window.tokens() * reports.hundredths / 100))
    }

    /// Whether usage is reported once the next message is there.
    pub(crate) fn is_usage_late(&self) -> bool {
        self.usage.is_some_and(|reports| reports.are_late)
    }

    pub(crate) fn after_request(&self, number: usize, window: &mut Window, job: Option<CondenseJob>) {
        if let Some(usage) = self.usage_of(number, window).filter(|_| !self.is_usage_late()) {
            window.report_usage(usage);
            if self.usage.is_some_and(|reports| reports.fits_again) {
                // What it says is looked at at the next request; that it may be called is looked at here.
                let fit = window.fit();
                fit.is_ok_and(|fit| fit.warnings.is_empty()).then(|| assert_fits(window));
            }
        }
        match (self.summaries, job) {
            (Summaries::AtOnce, Some(job)) => answer(window, &job, number),
            (Summaries::TooLarge, Some(job)) => drop(window.answer(job.id, Ok(Summary::new("word ".repeat(9_000))))),
            (Summaries::Failing, Some(job)) => drop(window.answer(job.id, Err("no".to_owned()))),
            _ => {}
        }
    }

    /// Other settings, before the request at which the window is opened under them.
    pub(crate) fn moves_to(&self, number: usize, config: &WindowConfig) -> Option<WindowConfig> {
        let (_, row, context_window) = self.moved_at.filter(|(at, ..)| *at == number)?;
        let mut other = config.clone().with_budget(Budget::new(context_window, Some(40)).unwrap());
        other.policy = TABLE[row % TABLE.len()].kind();
        Some(other)
    }
}

/// After a report of usage the same view may be over the limit.
fn assert_fits(window: &Window) {
    if window.bound() == Bound::Tokens {
        let budget = window.budget().unwrap();
        assert!(!budget.is_exceeded_by(window.tokens()), "law 5: over the limit after a report of usage");
    }
}

fn answer(window: &mut Window, job: &CondenseJob, number: usize) {
    let text = format!("Summary {number} of src/a_{number}.rs.");
    window.answer(job.id, Ok(Summary::new(text)));
}

fn summaries() -> impl Strategy<Value = Summaries> {
    prop_oneof![
        3 => Just(Summaries::Never),
        3 => Just(Summaries::AtOnce),
        3 => (0..5usize).prop_map(Summaries::Late),
        1 => Just(Summaries::TooLarge),
        1 => Just(Summaries::Failing),
    ]
}

fn reports() -> impl Strategy<Value = Reports> {
    (60..200u64, 1..4usize, any::<bool>(), any::<bool>())
        .prop_map(|(hundredths, every, are_late, fits_again)| Reports { hundredths, every, are_late, fits_again })
}

/// Scripts of every kind.
pub(crate) fn scripts() -> impl Strategy<Value = Script> {
    let figures = (
        prop::option::weighted(0.4, reports()),
        prop::option::weighted(0.15, (prop_oneof![3 => 50..150u64, 1 => 150..2_000u64], 0..16usize)),
        prop::option::weighted(0.15, (20..100u64, 0..16usize)),
    );
    let others = (
        prop::option::weighted(0.15, 0..12usize),
        prop::option::weighted(0.25, 0..12usize),
        prop::option::weighted(0.15, (0..12usize, 0..TABLE.len(), 300..6_000u64)),
    );
    (summaries(), figures, prop_oneof![3 => Just(0), 1 => 1..6usize], others).prop_map(
        |(summaries, (usage, total, limit), cold_every, (cloned_at, opened_at, moved_at))| Script {
            summaries,
            usage,
            total,
            limit,
            cold_every,
            cloned_at,
            opened_at,
            moved_at,
        },
    )
}
