//! What a conversation has cost so far, and what a cut would.
//!
//! The books hold sums of tokens, never of money: how many were read from the cache and how many were written. Prices
//! and overhead come in at the decision, as the current request has them, so two machines that met a conversation at
//! different prices agree from the next request on.

use super::config::Timing;
use crate::economy::Economy;
use crate::policy::{Occasion, PolicyInput};
use crate::tokens::{Factor, Millitokens};

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

/// Tokens of messages that went over the wire, by how they were billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flow {
    read: u128,
    written: u128,
    /// Requests that wrote system and tools anew, too.
    cold: u32,
    requests: u32,
    /// The messages of the last request.
    last: Millitokens,
}

impl Flow {
    /// A request of these messages, of which `cached` stood at the start of the last one, too.
    fn add(&mut self, messages: Millitokens, cached: Millitokens, is_cold: bool) {
        let is_cold = is_cold || self.requests == 0;
        let cached = if is_cold { Millitokens::ZERO } else { cached.min(messages) };
        self.read += u128::from(cached.thousandths());
        self.written += u128::from(messages.saturating_sub(cached).thousandths());
        self.cold += u32::from(is_cold);
        self.requests += 1;
        self.last = messages;
    }

    /// The same with one more request that starts with all of the last one.
    fn appended(mut self, messages: Millitokens, is_cold: bool) -> Self {
        self.add(messages, self.last, is_cold);
        self
    }

    fn cost(&self, economy: &Economy, overhead: Millitokens) -> Money {
        let overhead = u128::from(overhead.thousandths());
        let read = self.read + overhead * u128::from(self.requests - self.cold);
        let written = self.written + overhead * u128::from(self.cold);
        price(read, economy.read) + price(written, economy.write)
    }
}

fn price(thousandths: u128, price: Factor) -> Money {
    Money::try_from(thousandths).unwrap_or(Money::MAX / 2).saturating_mul(Money::from(price.millionths()))
}

/// The books of one conversation: what sending everything would have taken, what the view did take, and what could have
/// left since the last cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Books {
    everything: Flow,
    view: Flow,
    /// What could have left, summed over the requests since the last cut.
    removable: u128,
    cuts: u32,
    last_offer: Offer,
    /// The sum at the last decision, which a cut sets to nothing.
    removable_weighed: u128,
    since_cut: u64,
    /// Requests between two cuts, the later ones counting more; nothing before the first cut.
    gap: Option<u64>,
}

/// Requests from the first cut to the next, as far as anybody can tell.
const FIRST_GAP: u64 = 15;

/// A cut that could be made now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// What leaves the view for good.
    pub(super) saved: Millitokens,
    /// What stays behind the first change, was sent before, and has to be written again.
    pub(super) rewritten: Millitokens,
    /// What of that is a ledger, as large as it is expected to be.
    pub(super) ledger: Millitokens,
}

impl Offer {
    /// Whether it is worth the loss of what leaves.
    pub(super) fn is_sizeable(self) -> bool {
        self.saved.thousandths() > 0 && self.saved.thousandths().saturating_mul(4) >= self.rewritten.thousandths()
    }
}

/// How much of the price the rent has to reach, in hundredths: waiting for a moment at which little has to be written
/// again pays for a little more rent.
const PATIENCE_HUNDREDTHS: Money = 120;

impl Books {
    /// Takes note of a request before it is decided what to do about it: sending everything would take this, and this
    /// could leave.
    pub(super) fn request(&mut self, input: &PolicyInput<'_>, offer: Offer) {
        let log = input.logged(0..input.log_len());
        self.everything = self.everything.appended(log, input.is_cold());
        self.since_cut += 1;
        self.removable += u128::from(offer.saved.thousandths());
        self.removable_weighed = self.removable;
        self.last_offer = offer;
    }

    /// Whether the rent has reached the price of rewriting what stays, the rest of the conversation can be expected to
    /// pay it back, and the bill stays within its leeway even if the conversation ends here.
    pub(super) fn is_due(&self, input: &PolicyInput<'_>, timing: Timing) -> bool {
        let economy = input.economy();
        let (offer, price) = (self.last_offer, self.rewrite(economy));
        let rent = self.rent(economy);
        // As long again as it has lasted is the best guess for a length that nobody knows.
        let saved = u128::from(offer.saved.thousandths());
        let expected = self::price(saved, economy.read).saturating_mul(Money::from(self.everything.requests));
        offer.is_sizeable()
            && rent.saturating_mul(100) >= price.saturating_mul(PATIENCE_HUNDREDTHS)
            && expected >= price
            && price <= self.leeway(input, timing)
    }

    /// What a cut may cost now.
    fn leeway(&self, input: &PolicyInput<'_>, timing: Timing) -> Money {
        let economy = input.economy();
        let everything = self.everything.cost(economy, input.overhead());
        let uncut = self.view.appended(messages(input), input.is_cold()).cost(economy, input.overhead());
        everything.saturating_mul(Money::from(timing.leeway_thousandths)) / 1_000 + (everything - uncut)
    }

    /// The largest ledger with which a cut stays within its leeway.
    pub(super) fn affordable_ledger(&self, input: &PolicyInput<'_>, timing: Timing) -> Millitokens {
        let economy = input.economy();
        let extra = Money::from(economy.write.millionths().saturating_sub(economy.read.millionths())).max(1);
        let rewritten = u64::try_from(self.leeway(input, timing) / extra).unwrap_or(0);
        let besides = self.last_offer.rewritten.saturating_sub(self.last_offer.ledger);
        Millitokens::new(rewritten).saturating_sub(besides)
    }

    fn rent(&self, economy: &Economy) -> Money {
        price(self.removable_weighed, economy.read)
    }

    fn rewrite(&self, economy: &Economy) -> Money {
        let rewritten = u128::from(self.last_offer.rewritten.thousandths());
        price(rewritten, economy.write) - price(rewritten, economy.read)
    }

    /// Takes note that the view was sent as it stood, with what was appended.
    pub(super) fn sent_uncut(&mut self, input: &PolicyInput<'_>) {
        self.view = self.view.appended(messages(input), input.is_cold());
    }

    /// Takes note of a cut: the head alone was in the cache.
    pub(super) fn sent_cut(&mut self, input: &PolicyInput<'_>, head: Millitokens) {
        if input.occasion() == Occasion::Request {
            self.view.add(messages(input).saturating_sub(self.last_offer.saved), head, input.is_cold());
        }
        self.removable = 0;
        self.cuts += 1;
        self.gap = Some(self.gap.map_or(FIRST_GAP, |gap| gap.midpoint(self.since_cut)));
        self.since_cut = 0;
    }

    /// What a token of the ledger costs until the next cut, in millionths of an input token: it is written once and read
    /// at every request.
    pub(super) fn keep_price(&self, economy: &Economy) -> u64 {
        let reads = self.gap.unwrap_or(FIRST_GAP);
        let (write, read) = (economy.write.millionths(), economy.read.millionths());
        write.saturating_sub(read).saturating_add(read.saturating_mul(reads)).max(1)
    }

    /// Waits for more rent where a cut turned out to be of no use.
    pub(super) fn put_off(&mut self) {
        self.removable = 0;
    }

    pub(super) fn account(&self, input: &PolicyInput<'_>) -> Account {
        let economy = input.economy();
        Account {
            requests: self.everything.requests,
            cuts: self.cuts,
            everything: worth(self.everything.cost(economy, input.overhead())),
            spent: worth(self.view.cost(economy, input.overhead())),
            removable: self.last_offer.saved,
            rent: worth(self.rent(economy)),
            rewrite: worth(self.rewrite(economy)),
        }
    }
}

/// What is sent now besides system and tools.
fn messages(input: &PolicyInput<'_>) -> Millitokens {
    input.total().saturating_sub(input.overhead())
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

    #[test]
    fn what_was_sent_before_is_read_and_the_rest_is_written() {
        let mut flow = Flow::default();
        flow.add(tokens(1_000), tokens(400), false);
        assert_eq!((flow.read, flow.written, flow.cold), (0, 1_000_000, 1), "nothing is cached before the first");
        flow.add(tokens(1_500), tokens(1_000), false);
        flow.add(tokens(600), tokens(600), true);
        assert_eq!((flow.read, flow.written, flow.cold), (1_000_000, 2_100_000, 2));
        let economy = Economy { read: Factor::from_thousandths(100), write: Factor::ONE, ..Economy::default() };
        assert_eq!(worth(flow.cost(&economy, tokens(50))), tokens(100 + 2_100 + 2 * 50 + 5));
    }

    #[test]
    fn prices_come_in_at_the_end() {
        let mut flow = Flow::default();
        flow.add(tokens(1_000), Millitokens::ZERO, false);
        flow.add(tokens(1_000), tokens(1_000), false);
        let of = |read| Economy { read: Factor::from_thousandths(read), ..Economy::default() };
        assert_eq!(worth(flow.cost(&of(100), Millitokens::ZERO)), tokens(1_350));
        assert_eq!(worth(flow.cost(&of(500), Millitokens::ZERO)), tokens(1_750));
    }

    #[test]
    fn a_small_saving_is_not_worth_a_free_cut() {
        assert!(!Offer { saved: tokens(100), rewritten: tokens(8_000), ..Offer::default() }.is_sizeable());
        assert!(Offer { saved: tokens(2_000), rewritten: tokens(8_000), ..Offer::default() }.is_sizeable());
    }
}
