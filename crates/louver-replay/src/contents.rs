//! Messages by their bytes.

use crate::cache::Piece;
use crate::retention::{NamesAndLines, Numbering};
use louver::Message;
use louver::count::count_message;
use louver::tokens::{Counter, Factor, Millitokens};
use std::collections::HashMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// Every message that any policy sends in a conversation, once: counted once, read once, compared as a number.
#[derive(Debug)]
pub(crate) struct Contents {
    counter: Arc<dyn Counter>,
    /// What the counter's figures are multiplied by.
    factor: Factor,
    numbers: HashMap<u128, u32>,
    amounts: Vec<Millitokens>,
    names_and_lines: Vec<NamesAndLines>,
    /// Gives identifiers and lines their numbers.
    pub(crate) numbering: Numbering,
}

impl Contents {
    pub(crate) fn new(counter: Arc<dyn Counter>) -> Self {
        let numbering = Numbering::default();
        let factor = Factor::ONE;
        Self { counter, factor, numbers: HashMap::new(), amounts: Vec::new(), names_and_lines: Vec::new(), numbering }
    }

    /// Multiplies every amount, of those numbered already and of those to come.
    pub(crate) fn scale(&mut self, factor: Factor) {
        self.factor = factor;
        for amount in &mut self.amounts {
            *amount = amount.scaled(factor);
        }
    }

    /// The number of a message; a new one is counted and read. O(its bytes).
    pub(crate) fn number(&mut self, message: &Message) -> u32 {
        let next = u32::try_from(self.amounts.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(xxh3_128(message.raw().as_bytes())).or_insert(next);
        if number == next {
            self.amounts.push(count_message(&*self.counter, message).scaled(self.factor));
            self.names_and_lines.push(self.numbering.read(message));
        }
        number
    }

    pub(crate) fn amount(&self, number: u32) -> Millitokens {
        self.amounts[number as usize]
    }

    pub(crate) fn names_and_lines(&self, number: u32) -> &NamesAndLines {
        &self.names_and_lines[number as usize]
    }

    pub(crate) fn piece(&self, number: u32) -> Piece {
        Piece { content: number, amount: self.amount(number) }
    }
}
