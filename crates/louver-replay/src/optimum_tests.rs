use super::*;
use crate::cache::CacheRules;
use louver::catalog::{CacheKind, Price, Prices};

const OVERHEAD: Millitokens = Millitokens::from_tokens(10);

fn tariff() -> Tariff {
    let usd = |price| Price::from_usd_per_million(price).unwrap();
    let prices = Prices {
        input: usd(1.0),
        output: usd(5.0),
        cache_read: usd(0.1),
        cache_write: usd(1.25),
        cache_write_1h: usd(2.0),
    };
    let cache = CacheRules { kind: CacheKind::Explicit, ttl_millis: 1, step_tokens: 1, min_tokens: 0 };
    Tariff { cache, prices, tiers: Vec::new() }
}

/// Every plan there is, tried one after the other.
fn try_all(problem: &Problem<'_>, floor_tokens: u64) -> Option<Cost> {
    fn size(problem: &Problem<'_>, turn: usize, start: usize) -> Millitokens {
        OVERHEAD + problem.amounts[start..problem.turns[turn].at].iter().sum()
    }
    fn from(problem: &Problem<'_>, floor: u64, turn: usize, previous: Option<usize>) -> Option<Cost> {
        if turn == problem.turns.len() {
            return Some(Cost::ZERO);
        }
        let starts = problem.units.iter().map(|unit| unit.start).filter(|start| *start < problem.turns[turn].at);
        let plans = starts.filter(|start| *start >= previous.unwrap_or(0)).filter_map(|start| {
            let total = size(problem, turn, start);
            let is_cut = start > previous.unwrap_or(0);
            if total.ceil_tokens() > problem.limit_tokens || (is_cut && total.ceil_tokens() < floor) {
                return None;
            }
            let known = match previous {
                None => Millitokens::ZERO,
                _ if problem.is_cold[turn] => Millitokens::ZERO,
                Some(_) if is_cut => OVERHEAD,
                Some(_) => size(problem, turn - 1, start),
            };
            let now = problem.tariff.input_cost(problem.tariff.cache.settle(total, known));
            Some(now + from(problem, floor, turn + 1, Some(start))?)
        });
        plans.min()
    }
    from(problem, floor_tokens, 0, None)
}

#[test]
fn the_table_finds_the_same_as_trying_every_plan() {
    let tariff = tariff();
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..300 {
        let count = 4 + usize::try_from(random(6)).unwrap();
        let amounts: Vec<_> = (0..count).map(|_| Millitokens::from_tokens(1 + random(60))).collect();
        let units: Vec<_> = (0..count).map(|index| index..index + 1).collect();
        let turns: Vec<_> = (1..count).map(|at| Turn { at, answer_end: at + 1 }).collect();
        let is_cold: Vec<_> = turns.iter().map(|_| random(5) == 0).collect();
        let (limit_tokens, floor) = (90 + random(300), 20 + random(50));
        let problem = Problem {
            tariff: &tariff,
            turns: &turns,
            amounts: &amounts,
            overhead: OVERHEAD,
            leading_system: 0,
            units: &units,
            is_cold: &is_cold,
            limit_tokens,
        };
        if let Some(expected) = try_all(&problem, floor) {
            // A cut that is forced may go below the floor, so the table may do better, never worse.
            assert!(problem.best(floor) <= expected);
            if turns
                .iter()
                .all(|turn| OVERHEAD + amounts[..turn.at].iter().sum() <= Millitokens::from_tokens(limit_tokens))
            {
                assert_eq!(problem.best(floor), expected);
            }
        }
    }
}

#[test]
fn without_room_for_a_cut_everything_is_sent() {
    let tariff = tariff();
    let amounts = [Millitokens::from_tokens(100); 4];
    let units: Vec<_> = (0..4).map(|index| index..index + 1).collect();
    let turns: Vec<_> = (1..4).map(|at| Turn { at, answer_end: at + 1 }).collect();
    let problem = Problem {
        tariff: &tariff,
        turns: &turns,
        amounts: &amounts,
        overhead: Millitokens::ZERO,
        leading_system: 0,
        units: &units,
        is_cold: &[false; 3],
        limit_tokens: 1000,
    };
    // Three writes of 100 at 1.25, and reads of 100 and 200 at 0.1, in millionths of a dollar.
    assert_eq!(problem.best(1000).picodollars(), (3 * 125 + 30) * 1_000_000);
}
