//! A count that stays with what was counted.

use super::amount::Millitokens;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells the counters of Louver's own apart, so that a count can be kept with what was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterId(NonZeroU16);

impl CounterId {
    pub(crate) const fn new(number: u16) -> Option<Self> {
        match NonZeroU16::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

/// The bits of an amount; the counter's number stands above them.
const AMOUNT_BITS: u32 = 48;

/// What the last counter found that has an id. Says nothing about whether two things are equal.
#[derive(Debug, Default)]
pub(crate) struct LastCount(AtomicU64);

impl LastCount {
    pub(crate) fn get(&self, id: CounterId) -> Option<Millitokens> {
        let packed = self.0.load(Ordering::Relaxed);
        let amount = Millitokens::new(packed & ((1 << AMOUNT_BITS) - 1));
        (packed >> AMOUNT_BITS == u64::from(id.0.get())).then_some(amount)
    }

    pub(crate) fn set(&self, id: CounterId, amount: Millitokens) {
        let thousandths = amount.thousandths();
        if thousandths >> AMOUNT_BITS == 0 {
            self.0.store(u64::from(id.0.get()) << AMOUNT_BITS | thousandths, Ordering::Relaxed);
        }
    }
}

impl Clone for LastCount {
    fn clone(&self) -> Self {
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }
}

impl PartialEq for LastCount {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for LastCount {}

#[cfg(test)]
mod tests {
    use super::{CounterId, LastCount};
    use crate::tokens::Millitokens;

    #[test]
    fn a_count_is_known_to_its_counter_alone() {
        let ids = [1, 2, u16::MAX].map(|number| CounterId::new(number).unwrap());
        let (count, most) = (LastCount::default(), Millitokens::new((1 << 48) - 1));
        assert_eq!(count.get(ids[0]), None);
        for (id, amount) in [(ids[0], Millitokens::ZERO), (ids[1], Millitokens::from_tokens(7)), (ids[2], most)] {
            count.set(id, amount);
            let known = ids.map(|other| count.get(other));
            assert_eq!(known, ids.map(|other| (other == id).then_some(amount)));
            assert_eq!(count.clone().get(id), Some(amount));
        }
        count.set(ids[0], Millitokens::new(1 << 48));
        assert_eq!((count.get(ids[0]), count.get(ids[2])), (None, Some(most)));
    }
}
