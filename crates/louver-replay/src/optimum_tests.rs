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

fn tokens(count: u64) -> Millitokens {
    Millitokens::from_tokens(count)
}

/// Every choice of turns to cut at, tried one after the other.
fn try_all(problem: &Problem<'_>, cuts: &[OwnCut]) -> Option<Cost> {
    fn from(problem: &Problem<'_>, cuts: &[OwnCut], turn: usize, size: Millitokens) -> Option<Cost> {
        if turn == problem.turns.len() {
            return Some(Cost::ZERO);
        }
        let sizes = problem.sizes();
        let grown = grown(&sizes, turn);
        let mut plans = vec![(size + grown, size)];
        if turn > 0 {
            plans.extend(left(cuts, &sizes, turn).map(|left| (left.size, left.read)));
        }
        let priced = plans.into_iter().filter(|(size, _)| size.ceil_tokens() <= problem.limit_tokens);
        let priced = priced
            .filter_map(|(size, known)| Some(problem.price(turn, size, known) + from(problem, cuts, turn + 1, size)?));
        priced.min()
    }
    from(problem, cuts, 0, Millitokens::ZERO)
}

fn turns(count: usize) -> Vec<Turn> {
    (1..count).map(|at| Turn { at, answer_end: at + 1 }).collect()
}

#[test]
fn the_plans_that_are_carried_have_the_best_of_all_among_them() {
    let tariff = tariff();
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut compared = 0;
    for _ in 0..300 {
        let count = 4 + usize::try_from(random(9)).unwrap();
        let amounts: Vec<_> = (0..count).map(|_| tokens(1 + random(60))).collect();
        let turns = turns(count);
        let reach: Vec<_> = turns.iter().map(|_| (random(5) == 0).then(|| tokens(random(2) * random(90)))).collect();
        let mut cuts = Vec::new();
        for turn in (1..turns.len()).filter(|_| random(3) == 0).collect::<Vec<_>>() {
            let tokens = 30 + amounts[turns[turn - 1].at].ceil_tokens() + random(40);
            cuts.push(OwnCut { turn, tokens, read: random(20) });
        }
        let problem = Problem {
            tariffs: &vec![&tariff; turns.len()],
            turns: &turns,
            counted_elsewhere: 0,
            amounts: &amounts,
            overhead: OVERHEAD,
            reach: &reach,
            limit_tokens: 150 + random(300),
        };
        if let Some(expected) = try_all(&problem, &cuts) {
            assert_eq!(problem.best(&cuts), Some(expected), "{problem:?} {cuts:?}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_cut_leaves_what_the_policys_own_cuts_left() {
    let sizes: Vec<_> = (1..=9).map(|turn| tokens(100 * turn)).collect();
    let own = |turn, tokens| OwnCut { turn, tokens, read: turn as u64 };
    let cuts = [own(2, 300), own(6, 500)];
    let left = |number| left(&cuts, &sizes, number).map(|left| (left.size.ceil_tokens(), left.read.ceil_tokens()));
    let found: Vec<_> = (1..9).map(|number| left(number).unwrap()).collect();
    let expected = [(300, 2), (300, 2), (350, 2), (400, 2), (450, 2), (500, 6), (500, 6), (500, 6)];
    assert_eq!(found, expected);
}

#[test]
fn without_a_cut_everything_is_sent_and_must_fit() {
    let tariff = tariff();
    let amounts = [tokens(100); 4];
    let (turns, tariffs) = (turns(4), [&tariff; 3]);
    let problem = |limit_tokens, counted_elsewhere| Problem {
        tariffs: &tariffs,
        turns: &turns,
        counted_elsewhere,
        amounts: &amounts,
        overhead: Millitokens::ZERO,
        reach: &[None; 3],
        limit_tokens,
    };
    let picodollars = |problem: Problem<'_>| problem.best(&[]).map(Cost::picodollars);
    // Three writes of 100 at 1.25, and reads of 100 and 200 at 0.1, in millionths of a dollar.
    assert_eq!(picodollars(problem(1_000, 0)), Some((3 * 125 + 30) * 1_000_000));
    // What somebody else pays for is there: a write of 100, and a read of 200.
    assert_eq!(picodollars(problem(1_000, 2)), Some((125 + 20) * 1_000_000));
    assert_eq!(picodollars(problem(250, 0)), None);
}

#[test]
fn no_plan_reads_more_than_the_cache_had() {
    let tariff = tariff();
    let amounts = [tokens(100); 4];
    let (turns, tariffs) = (turns(4), [&tariff; 3]);
    let picodollars = |reach: [Option<Millitokens>; 3]| {
        let problem = Problem {
            tariffs: &tariffs,
            turns: &turns,
            counted_elsewhere: 0,
            amounts: &amounts,
            overhead: OVERHEAD,
            reach: &reach,
            limit_tokens: 1_000,
        };
        problem.best(&[]).map(Cost::picodollars)
    };
    // Requests of 110, 210 and 310: what is not read at 0.1 is written at 1.25, in hundredths of a millionth of a dollar.
    let hundredths = |read: [u128; 3]| {
        let each = [110, 210, 310].into_iter().zip(read).map(|(size, read)| 125 * (size - read) + 10 * read);
        Some(each.sum::<u128>() * 10_000)
    };
    assert_eq!(picodollars([None; 3]), hundredths([0, 110, 210]));
    assert_eq!(picodollars([Some(OVERHEAD), None, Some(tokens(50))]), hundredths([10, 110, 50]));
    assert_eq!(picodollars([None, Some(OVERHEAD), Some(Millitokens::ZERO)]), hundredths([0, 10, 0]));
}
