//! Lines and names by what they are worth.

use super::texts::Place;
use std::cell::RefCell;
use std::cmp::Ordering;

/// How many are put in order at first, and then as many as there are in order already: a page has room for a few hundred of
/// thousands.
const AT_FIRST: usize = 256;

/// What a line or a name is worth per character, then how new it is, in one number: thousands are compared at every cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) struct Rank(u128);

impl Rank {
    pub(super) fn new(density: u64, message: u32, place: Place) -> Self {
        let density = u32::try_from(density).unwrap_or(u32::MAX);
        Self(u128::from(density) << 96 | u128::from(message) << 64 | u128::from(place.number()))
    }

    pub(super) fn density(self) -> u64 {
        (self.0 >> 96) as u64
    }

    /// Message and place.
    pub(super) fn line(self) -> (u32, Place) {
        ((self.0 >> 64) as u32, Place::of_number(self.0 as u64))
    }
}

/// Values of which those that rank highest are wanted, the highest first: only as many are put in order as are asked for.
#[derive(Debug)]
pub(super) struct Ranked<T> {
    most: usize,
    /// The values, and how many of them are in order.
    all: RefCell<(Vec<T>, usize)>,
}

impl<T: Copy + PartialOrd> Ranked<T> {
    pub(super) fn new(all: Vec<T>, most: usize) -> Self {
        Self { most, all: RefCell::new((all, 0)) }
    }

    /// The highest first, no more than there can be room for.
    pub(super) fn iter(&self) -> impl Iterator<Item = T> {
        (0..self.most).map_while(|position| self.get(position))
    }

    fn get(&self, position: usize) -> Option<T> {
        let (all, sorted) = &mut *self.all.borrow_mut();
        if position >= *sorted {
            let rest = &mut all[*sorted..];
            // Comparing for less takes no branch, unlike comparing for an order.
            let order = |a: &T, b: &T| if b < a { Ordering::Less } else { Ordering::Greater };
            let next = AT_FIRST.max(*sorted).min(rest.len());
            if next < rest.len() {
                rest.select_nth_unstable_by(next, order);
            }
            rest[..next].sort_unstable_by(order);
            *sorted += next;
        }
        all.get(position).copied()
    }
}
