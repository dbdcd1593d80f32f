//! How much of what a window left out, and an answer then refers to, does a search find?
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin recall_missing [-- FOLDER] [--policy ladder] [--tune]`
//!
//! The folder is the one that `LOUVER_CORPUS` names, unless one is given. Every conversation is replayed (`chars4`, a window
//! of 200,000 tokens, 1.25/0.1); wherever a request does not mention an identifier that its recorded answer refers to,
//! the five best passages are looked for among what was left out, asking with what the request's last three messages say.
//! The bound asks with the recorded answer itself. `--tune` varies one constant of the ranking after the other, and judges what is
//! best in four fifths of the conversations by the fifth that had no say (fixed seed).

use louver::search::{Hit, Ranking, SearchIndex, passages};
use louver_bench::Random;
use louver_replay::input::{find, read};
use louver_replay::retention::{Retrieved, Share};
use louver_replay::{Conversation, Options, Search, Searches};
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;

const HITS: usize = 5;
const FOLDS: usize = 5;
const SEED: u64 = 9;
/// What a point of the bound weighs against a point of what is found: who asks with the right words is served, too.
const BOUND_WEIGHT: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut folder, mut policy, mut is_tuned) = (std::env::var_os("LOUVER_CORPUS"), "ladder".to_owned(), false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tune" => is_tuned = true,
            "--policy" => policy = arguments.next().ok_or("--policy takes a name")?,
            unknown if unknown.starts_with("--") => return Err(format!("unknown option {unknown}").into()),
            _ => folder = Some(argument.into()),
        }
    }
    let folder = folder.ok_or("name a folder of recorded conversations, or set LOUVER_CORPUS")?;
    let conversations = conversations(folder.into())?;
    let mut options = Options::of_policies(&[policy.as_str()])?;
    (options.counter, options.context_window) = ("chars4".parse()?, Some(200_000));
    options.cache_prices = Some("1.25/0.1".parse()?);
    let mut asked = Vec::new();
    for conversation in &conversations {
        let searches = Searches::of(conversation, &options.contenders[0], &options)?;
        if !searches.all.is_empty() {
            asked.push(Asked::new(conversation, searches));
        }
    }
    let requests: usize = asked.iter().map(|one| one.searches.all.len()).sum();
    println!("{policy}: {requests} requests of {} conversations lack something\n", asked.len());
    println!("of what is not mentioned, and of the lines that are missing, in percent: of all, mean of conversations");
    let (before, after) = (Ranking::BM25, Ranking::default());
    let runs = [("before", before), ("after", after)].map(|(name, ranking)| {
        let found = found(&mut asked, &ranking);
        println!("{:<18}{}", format!("bound, {name}"), Rates::of(found.iter().map(|one| one.bound)));
        println!("{name:<18}{}", Rates::of(found.iter().map(|one| one.asked)));
        found
    });
    if is_tuned {
        let [_, shipped] = runs;
        tune(&mut asked, shipped);
    }
    Ok(())
}

fn conversations(folder: PathBuf) -> Result<Vec<Conversation>, Box<dyn Error>> {
    let mut all = Vec::new();
    for source in find(&[folder]) {
        all.extend(read(&source).map_err(|error| format!("{}: {error}", source.name()))?);
    }
    Ok(all)
}

/// A conversation with its searches.
struct Asked<'a> {
    searches: Searches<'a>,
    conversation: &'a Conversation,
    index: SearchIndex,
    read: HashMap<Hit, Retrieved>,
}

/// What was found of what was missing: identifiers and lines.
type Found = [Share; 2];

/// The same with the last three messages as the query and with the recorded answer.
#[derive(Clone, Copy, Default)]
struct Both {
    asked: Found,
    bound: Found,
}

impl<'a> Asked<'a> {
    fn new(conversation: &'a Conversation, searches: Searches<'a>) -> Self {
        let index = conversation.messages.iter().map(|message| &**message).collect();
        Self { searches, conversation, index, read: HashMap::new() }
    }

    fn found(&mut self, ranking: &Ranking) -> Both {
        let mut both = Both::default();
        for at in 0..self.searches.all.len() {
            let search = &self.searches.all[at];
            let among = self.index.among(|message| search.left_out.get(message) == Some(&true));
            let [asked, bound] = [&search.query, &search.answer].map(|text| among.search_by(ranking, text, HITS).hits);
            drop(among);
            for hit in asked.iter().chain(&bound) {
                let text = || passages(&self.conversation.messages[hit.message]).swap_remove(hit.passage);
                self.read.entry(*hit).or_insert_with(|| self.searches.read(&text()));
            }
            let search = &self.searches.all[at];
            add(&mut both.asked, search, &self.read, &asked);
            add(&mut both.bound, search, &self.read, &bound);
        }
        both
    }
}

fn add(found: &mut Found, search: &Search, read: &HashMap<Hit, Retrieved>, hits: &[Hit]) {
    let stands = |number: u32, of: fn(&Retrieved) -> &[u32]| {
        hits.iter().any(|hit| of(&read[hit]).binary_search(&number).is_ok())
    };
    for one in &search.unmentioned {
        found[0].add(one.weight, stands(one.identifier, |read| &read.identifiers));
    }
    for one in &search.without_line {
        found[1].add(one.weight, stands(one.line, |read| &read.lines));
    }
}

fn found(asked: &mut [Asked<'_>], ranking: &Ranking) -> Vec<Both> {
    asked.iter_mut().map(|one| one.found(ranking)).collect()
}

/// Shares in percent: of all, and the mean of the conversations'.
#[derive(Clone, Copy)]
struct Rates([[f64; 2]; 2]);

impl Rates {
    fn of(found: impl Iterator<Item = Found>) -> Self {
        let found: Vec<Found> = found.collect();
        Self([0, 1].map(|what| {
            let mut all = Share::default();
            found.iter().for_each(|one| all.join(one[what]));
            let each: Vec<f64> = found.iter().filter_map(|one| one[what].ratio()).collect();
            let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
            [all.ratio().unwrap_or(0.0) * 100.0, mean * 100.0]
        }))
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([[mentions, mean], [lines, lines_mean]]) = self;
        write!(f, "identifiers {mentions:>5.1} {mean:>5.1}   lines {lines:>5.1} {lines_mean:>5.1}")
    }
}

/// What some conversations say for a ranking.
fn value<'f>(found: impl Iterator<Item = &'f Both> + Clone) -> f64 {
    let Rates([asked, _]) = Rates::of(found.clone().map(|one| one.asked));
    let Rates([bound, _]) = Rates::of(found.map(|one| one.bound));
    asked[0] + asked[1] + BOUND_WEIGHT * (bound[0] + bound[1])
}

/// The shipped ranking with one constant changed.
fn varied() -> Vec<(String, Ranking)> {
    let mut all = Vec::new();
    let mut vary = |name: &str, values: &[f64], set: fn(&mut Ranking, f64)| {
        for value in values {
            let mut ranking = Ranking::default();
            set(&mut ranking, *value);
            all.push((format!("{name}: {value}"), ranking));
        }
    };
    vary("length_weight", &[0.25, 0.5], |ranking, value| ranking.length_weight = value);
    vary("length_power", &[0.0, 0.5, 1.5], |ranking, value| ranking.length_power = value);
    vary("least_terms", &[0.0, 100.0, 200.0], |ranking, value| ranking.least_terms = value as u32);
    vary("rarity_power", &[1.0, 1.5, 3.0], |ranking, value| ranking.rarity_power = value);
    vary("identifier", &[1.0, 2.0, 5.0], |ranking, value| ranking.identifier = value);
    vary("deciding", &[8.0, 16.0, 24.0, 32.0], |ranking, value| ranking.deciding = value as usize);
    vary("common_share", &[0.01, 0.03, 0.05, 1.0], |ranking, value| ranking.common_share = value);
    vary("faint", &[0.001, 0.1, 1.0], |ranking, value| ranking.faint = value);
    vary("following", &[0.0, 0.25, 0.5, 1.0], |ranking, value| ranking.following = value);
    all
}

fn tune(asked: &mut [Asked<'_>], shipped: Vec<Both>) {
    println!("\none constant at a time, beside what is shipped; identifiers, then the bound");
    let mut tried = vec![("as shipped".to_owned(), shipped)];
    tried.extend(varied().into_iter().map(|(name, ranking)| (name, found(asked, &ranking))));
    for (name, found) in &tried {
        let (now, bound) = (found.iter().map(|one| one.asked), found.iter().map(|one| one.bound));
        println!("{name:<22}{}   bound {}", Rates::of(now), Rates::of(bound));
    }
    let mut order: Vec<usize> = (0..asked.len()).collect();
    let mut random = Random::new(SEED);
    (1..order.len()).rev().for_each(|left| order.swap(left, random.below(left + 1)));
    println!("\nthe best for four fifths, judged by the fifth");
    for fold in 0..FOLDS {
        let part = |found: &[Both], is_held_out: bool| -> Vec<Both> {
            let all = order.iter().enumerate().filter(|(place, _)| (place % FOLDS == fold) == is_held_out);
            all.map(|(_, at)| found[*at]).collect()
        };
        let best = tried.iter().max_by(|a, b| {
            let of = |found: &[Both]| value(part(found, false).iter());
            of(&a.1).total_cmp(&of(&b.1))
        });
        let Some((name, found)) = best else { continue };
        let rates = |found: &[Both]| Rates::of(part(found, true).into_iter().map(|one| one.asked));
        println!("fold {fold}: {name:<22}{}   shipped {}", rates(found), rates(&tried[0].1));
    }
}
