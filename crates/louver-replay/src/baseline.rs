//! What a policy is compared with.

use crate::assumptions::{AssumptionsError, recorded_bill};
use crate::billed::ratio;
use crate::contender::Contender;
use crate::error::ReplayError;
use crate::fitted::find;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::run::Run;
use louver::catalog::Cost;
use louver::policy::PolicyKind;
use louver::tokens::Millitokens;

/// What is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// Everything was sent, and it fitted.
    Everything,
    /// Everything, cut in half whenever it did not fit: what anybody could have done.
    FullCut,
}

impl Rival {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::FullCut => "full-cut",
        }
    }
}

/// What the practical baseline costs, and what sending everything would.
#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    pub(crate) rival: Rival,
    pub(crate) input: Cost,
    pub(crate) output: Cost,
    pub(crate) everything: Everything,
    /// What was really paid, where that is recorded.
    pub(crate) recorded: Option<Cost>,
    /// What everything comes to over what was paid for the same requests.
    pub(crate) quotient: Option<f64>,
}

/// What sending everything costs, whether the window would take it or not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Everything {
    pub(crate) input: Cost,
    pub(crate) output: Cost,
    /// The input tokens of everything, whether it fits or not.
    pub(crate) tokens: u64,
    /// Requests at which everything does not fit.
    pub(crate) overflows: u64,
    /// Input and output of the requests that have a recorded bill.
    pub(crate) billed: Cost,
    /// What the cache had of each request, where it had not all of the request before.
    pub(crate) reach: Vec<Option<Millitokens>>,
}

impl Prepared<'_> {
    /// What is compared with: everything where it fits, and else what anybody could have done about it.
    pub(crate) fn baseline(&mut self, options: &Options) -> Result<Baseline, ReplayError> {
        let everything = self.everything();
        let recorded = recorded_bill(self.conversation, &self.turns);
        let (rival, input, output) = match everything.overflows {
            0 => (Rival::Everything, everything.input, everything.output),
            _ => {
                let (input, output) = self.full_cut()?;
                (Rival::FullCut, input, output)
            }
        };
        let compared = recorded.filter(|_| !options.is_hypothetical());
        let quotient = compared.and_then(|recorded| ratio(everything.billed, recorded));
        Ok(Baseline { rival, input, output, everything, recorded, quotient })
    }

    fn everything(&self) -> Everything {
        let mut books = self.books();
        let pieces: Vec<_> = self.log.iter().map(|number| self.contents.piece(*number)).collect();
        let mut sum = Everything::default();
        for (number, turn) in self.turns.iter().enumerate() {
            let settled = self.settle(&mut books, number, &pieces[..turn.at], self.leading_system);
            sum.reach.push((!self.is_warm(number)).then(|| Millitokens::from_tokens(settled.read)));
            if !self.counts(number) {
                continue;
            }
            let (tokens, tariff) = (settled.total(), &self.assumptions.at(number).tariff);
            let (input, output) = (tariff.input_cost(settled), tariff.output_cost(tokens, self.output_tokens(turn)));
            sum.input += input;
            sum.output += output;
            sum.tokens += tokens;
            sum.overflows += u64::from(self.overflows(number, tokens));
            if find(&self.conversation.billed, turn).is_some() {
                sum.billed += input + output;
            }
        }
        sum
    }

    /// Input and output cost of cutting in half when full, without any margin.
    fn full_cut(&mut self) -> Result<(Cost, Cost), ReplayError> {
        let mut run = Run::new(self, &Contender::new("full-cut", PolicyKind::FullCut))?;
        run.use_whole_window().map_err(AssumptionsError::from)?;
        let (mut input, mut output) = (Cost::ZERO, Cost::ZERO);
        while let Some(sent) = run.send(self) {
            if self.counts(sent.number) {
                let tariff = &self.assumptions.at(sent.number).tariff;
                input += tariff.input_cost(sent.settled);
                output += tariff.output_cost(sent.settled.total(), self.output_tokens(&sent.turn));
            }
        }
        Ok((input, output))
    }
}
