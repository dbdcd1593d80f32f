//! What keeping and rewriting cost.

use crate::catalog::{Model, Price, Prices};
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

impl Economy {
    /// A model's own.
    ///
    /// ```
    /// use louver::catalog::Catalog;
    /// use louver::policy::Economy;
    ///
    /// let model = Catalog::builtin().find("claude-haiku-5-5").expect("a known model").model;
    /// assert_eq!(Economy::of_model(&model).cliffs, [100_000]);
    /// ```
    #[must_use]
    pub fn of_model(model: &Model) -> Self {
        Self::of_prices(&model.prices, model.tiers.iter().map(|tier| tier.above_input_tokens))
    }

    /// The same from prices and the sizes at which they rise; the default where input is free.
    #[must_use]
    pub fn of_prices(prices: &Prices, cliffs: impl IntoIterator<Item = u64>) -> Self {
        let input = prices.input.picodollars_per_token();
        let multiple = |price: Price| Factor::ratio(price.picodollars_per_token(), input);
        match (multiple(prices.cache_write), multiple(prices.cache_read)) {
            (Some(write), Some(read)) => Self { write, read, cliffs: cliffs.into_iter().collect() },
            _ => Self::default(),
        }
    }

    fn of(amount: Millitokens, price: Factor) -> Money {
        Money::from(amount.thousandths()) * Money::from(price.millionths())
    }

    /// What the next request costs that starts with all of the last one.
    fn appended(&self, before: Millitokens, now: Millitokens) -> Money {
        let new = now.saturating_sub(before);
        Self::of(before.min(now), self.read) + Self::of(new, self.write)
    }
}

/// Money in millionths of what a thousandth of an input token costs.
type Money = i128;

/// What a policy that decides by price has spent and weighed. Amounts are input tokens' worth: times the model's input
/// price they are money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests so far.
    pub requests: u32,
    /// How many of them were cuts.
    pub cuts: u32,
    /// The input of all requests if everything had been sent each time.
    pub everything: Millitokens,
    /// The input of the requests that were made.
    pub spent: Millitokens,
    /// What could leave the view now.
    pub removable: Millitokens,
    /// What reading it again has cost since the last cut, or had at the last cut if that was now.
    pub rent: Millitokens,
    /// What a cut costs now: everything that stays behind it is written again.
    pub rewrite: Millitokens,
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
    cuts: u32,
    last_offer: Offer,
    rent_weighed: Money,
    price_weighed: Money,
}

/// A cut that could be made now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offer {
    /// What leaves the view for good.
    pub(super) saved: Millitokens,
    /// What stays behind the first change, was sent before, and has to be written again.
    pub(super) rewritten: Millitokens,
}

impl Offer {
    /// Whether it is worth the loss of what leaves.
    fn is_sizeable(self) -> bool {
        self.saved.thousandths() > 0 && self.saved.thousandths().saturating_mul(4) >= self.rewritten.thousandths()
    }
}

/// How much more than sending everything the view may have cost at any time, in thousandths of it. The more, the
/// sooner the first cut; at 70 none of 269 real conversations got more than 1 % dearer, at 100 three got more than 5 %.
const LEEWAY_THOUSANDTHS: Money = 70;
/// How much of the price the rent has to reach, in hundredths: waiting for a moment at which little has to be written
/// again pays for a little more rent.
const PATIENCE_HUNDREDTHS: Money = 120;

impl Books {
    /// Takes note of a request before it is decided what to do about it.
    pub(super) fn request(&mut self, economy: &Economy, everything: Millitokens, is_cold: bool) {
        let known = if is_cold { Millitokens::ZERO } else { self.everything_before };
        self.everything += economy.appended(known, everything);
        self.everything_before = everything;
        self.requests += 1;
        if is_cold {
            self.view_before = Millitokens::ZERO;
        }
    }

    /// Lets rent come together for what could leave, and weighs it against the price.
    pub(super) fn weigh(&mut self, economy: &Economy, offer: Offer) {
        self.rent += Economy::of(offer.saved, economy.read);
        self.last_offer = offer;
        self.rent_weighed = self.rent;
        self.price_weighed = Economy::of(offer.rewritten, economy.write) - Economy::of(offer.rewritten, economy.read);
    }

    /// Whether the rent has reached the price of rewriting what stays, the rest of the conversation can be expected to
    /// pay it back, earlier cuts have paid off, and the bill stays within its leeway even if the conversation ends
    /// here.
    pub(super) fn is_due(&self, economy: &Economy, view_now: Millitokens) -> bool {
        let (offer, price) = (self.last_offer, self.price_weighed);
        // As long again as it has lasted is the best guess for a length that nobody knows.
        let expected = Economy::of(offer.saved, economy.read) * Money::from(self.requests);
        let uncut = self.view + economy.appended(self.view_before, view_now);
        let leeway = self.everything * LEEWAY_THOUSANDTHS / 1_000 + (self.everything - uncut);
        offer.is_sizeable()
            && self.rent * 100 >= price * PATIENCE_HUNDREDTHS
            && expected >= price
            && uncut <= self.everything
            && price <= leeway
    }

    /// Whether a cut that costs nothing, because all is written anyway, is worth it.
    pub(super) fn is_worth_a_free_cut(&self) -> bool {
        self.last_offer.is_sizeable()
    }

    /// Takes note of what was sent: `cached` of it had been sent before.
    pub(super) fn sent(&mut self, economy: &Economy, cached: Millitokens, view: Millitokens) {
        self.view += economy.appended(cached, view);
        self.view_before = view;
    }

    /// Starts the rent anew.
    pub(super) fn cut(&mut self) {
        self.rent = 0;
        self.cuts += 1;
    }

    /// Waits for more rent where a cut turned out to find nothing.
    pub(super) fn put_off(&mut self) {
        self.rent = 0;
    }

    /// What the last request had in the cache if nothing changes.
    pub(super) fn view_before(&self) -> Millitokens {
        self.view_before
    }

    pub(super) fn account(&self) -> Account {
        Account {
            requests: self.requests,
            cuts: self.cuts,
            everything: worth(self.everything),
            spent: worth(self.view),
            removable: self.last_offer.saved,
            rent: worth(self.rent_weighed),
            rewrite: worth(self.price_weighed),
        }
    }
}

/// Money as so many input tokens.
fn worth(money: Money) -> Millitokens {
    Millitokens::new(u64::try_from(money.max(0) / 1_000_000).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(count: u64) -> Millitokens {
        Millitokens::from_tokens(count)
    }

    /// Grows by 500 tokens a request until a cut is due; everything but 10,000 tokens could leave.
    fn requests_until_due(economy: &Economy) -> u32 {
        let mut books = Books::default();
        for total in (500..).step_by(500) {
            let view = tokens(total);
            books.request(economy, view, false);
            books.weigh(economy, Offer { saved: tokens(total.saturating_sub(10_000)), rewritten: tokens(9_500) });
            if books.is_due(economy, view) {
                return books.requests;
            }
            books.sent(economy, books.view_before(), view);
        }
        0
    }

    #[test]
    fn dearer_reads_bring_the_cut_forward() {
        let of = |read| Economy { read: Factor::from_thousandths(read), ..Economy::default() };
        let requests = [50, 100, 500].map(|read| requests_until_due(&of(read)));
        assert!(requests[0] > requests[1] && requests[1] > requests[2], "{requests:?}");
    }

    #[test]
    fn what_was_never_sent_is_not_part_of_the_price() {
        let economy = Economy::default();
        let mut books = Books::default();
        books.request(&economy, tokens(10_000), false);
        books.weigh(&economy, Offer { saved: tokens(5_000), rewritten: Millitokens::ZERO });
        assert_eq!(books.account().rewrite, Millitokens::ZERO);
        assert_eq!(books.account().rent, tokens(500));
    }

    #[test]
    fn a_small_saving_is_not_worth_a_free_cut() {
        let economy = Economy::default();
        let mut books = Books::default();
        books.weigh(&economy, Offer { saved: tokens(100), rewritten: tokens(8_000) });
        assert!(!books.is_worth_a_free_cut());
        books.weigh(&economy, Offer { saved: tokens(2_000), rewritten: tokens(8_000) });
        assert!(books.is_worth_a_free_cut());
    }
}
