//! What keeping and rewriting cost.

use crate::tokens::{Factor, Millitokens};

/// A model's cache prices as multiples of its input price, and the sizes at which it gets dearer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Economy {
    /// Writing a token to the cache.
    pub write: Factor,
    /// Reading a token from it.
    pub read: Factor,
    /// Input sizes above which every token of a request costs more, ascending.
    pub cliffs: Vec<u64>,
}

impl Default for Economy {
    /// Write 1.25, read 0.1, no cliffs.
    fn default() -> Self {
        Self { write: Factor::from_thousandths(1_250), read: Factor::from_thousandths(100), cliffs: Vec::new() }
    }
}

/// Money in millionths of what a thousandth of an input token costs.
type Money = i128;

impl Economy {
    fn of(amount: Millitokens, price: Factor) -> Money {
        Money::from(amount.thousandths()) * Money::from(price.millionths())
    }

    /// What the next request costs that starts with all of the last one.
    fn appended(&self, before: Millitokens, now: Millitokens) -> Money {
        let new = now.saturating_sub(before);
        Self::of(before, self.read) + Self::of(new, self.write)
    }
}

/// The books of one conversation: what sending everything would have cost, what the view did cost, and the rent that
/// has come together since the last cut.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    everything: Money,
    everything_before: Millitokens,
    view: Money,
    view_before: Millitokens,
    rent: Money,
    requests: u32,
}

/// A cut that could be made now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// What leaves the view for good.
    pub(super) saved: Millitokens,
    /// What stays behind the first change and has to be written again.
    pub(super) rewritten: Millitokens,
}

/// How much more than sending everything the view may have cost at any time, in thousandths of it.
const LEEWAY_THOUSANDTHS: Money = 60;

impl Books {
    /// Takes note of a request before it is decided what to do about it.
    pub(super) fn request(&mut self, economy: &Economy, everything: Millitokens) {
        self.everything += economy.appended(self.everything_before, everything);
        self.everything_before = everything;
        self.requests += 1;
    }

    /// Lets rent come together for what could leave.
    pub(super) fn accrue(&mut self, economy: &Economy, offer: Offer) {
        self.rent += Economy::of(offer.saved, economy.read);
    }

    /// Whether the rent has reached the price of rewriting what stays, the rest of the conversation can be expected to
    /// pay it back, and the bill stays within its leeway even if the conversation ends here.
    pub(super) fn is_due(&self, economy: &Economy, offer: Offer, view_now: Millitokens) -> bool {
        let price = self.price(economy, offer);
        // As long again as it has lasted is the best guess for a length that nobody knows.
        let expected = Economy::of(offer.saved, economy.read) * Money::from(self.requests);
        let uncut = self.view + economy.appended(self.view_before, view_now);
        let leeway = self.everything * LEEWAY_THOUSANDTHS / 1_000 + (self.everything - uncut);
        self.rent >= price && expected >= price && price <= leeway
    }

    fn price(&self, economy: &Economy, offer: Offer) -> Money {
        Economy::of(offer.rewritten, economy.write) - Economy::of(offer.rewritten, economy.read)
    }

    /// Takes note of what was sent: `cached` of it had been sent before.
    pub(super) fn sent(&mut self, economy: &Economy, cached: Millitokens, view: Millitokens) {
        self.view += economy.appended(cached, view);
        self.view_before = view;
    }

    /// Starts the rent anew.
    pub(super) fn cut(&mut self) {
        self.rent = 0;
    }

    /// What the last request had in the cache if nothing changes.
    pub(super) fn view_before(&self) -> Millitokens {
        self.view_before
    }
}
