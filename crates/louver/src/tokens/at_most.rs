//! A bound that needs no vocabulary.

use super::amount::{Factor, Millitokens};
use super::counter::Counter;
use super::image::Image;
use std::sync::Arc;

/// Counts what another counter counts at most, by the bytes alone.
#[derive(Clone, Debug)]
pub(crate) struct AtMost {
    counter: Arc<dyn Counter>,
    per_byte: Factor,
}

impl AtMost {
    /// `None` where the counter itself costs no more.
    pub(crate) fn of(counter: &Arc<dyn Counter>) -> Option<Self> {
        Some(Self { counter: Arc::clone(counter), per_byte: counter.most_per_byte()? })
    }
}

impl Counter for AtMost {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn stated_error(&self) -> f64 {
        self.counter.stated_error()
    }

    fn text(&self, text: &str) -> Millitokens {
        Millitokens::from_tokens(text.len() as u64).scaled(self.per_byte)
    }

    fn by_length(&self, _chars: u64) -> Option<Millitokens> {
        None
    }

    fn image(&self, image: &Image<'_>) -> Millitokens {
        self.counter.image(image)
    }
}

#[cfg(all(test, feature = "exact-counts"))]
mod tests {

    use super::*;
    use crate::tokens::{Bpe, Chars4, Encoding, Estimate, ImageFormula};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_counts_more(text in "(\\PC|[!-~ \\n]){0,120}") {
            let counters: [Arc<dyn Counter>; 4] = [
                Arc::new(Bpe::new(Encoding::O200k, ImageFormula::DataLength)),
                Arc::new(Bpe::new(Encoding::Cl100k, ImageFormula::DataLength)),
                Arc::new(Estimate::claude_4_7(ImageFormula::DataLength)),
                Arc::new(Estimate::gemini(ImageFormula::DataLength)),
            ];
            for counter in counters {
                let bound = AtMost::of(&counter).unwrap();
                prop_assert!(bound.text(&text) >= counter.text(&text), "{}", counter.name());
            }
        }
    }

    #[test]
    fn what_costs_nothing_needs_no_bound() {
        let counter: Arc<dyn Counter> = Arc::new(Chars4);
        assert!(AtMost::of(&counter).is_none());
    }
}
