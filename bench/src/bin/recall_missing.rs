//! How much of what a window left out, and an answer then refers to, does a search find?
//!
//! `cargo run --release --manifest-path bench/Cargo.toml --bin recall_missing [-- FOLDER] [--policy ladder] [--tune]`
//!
//! The folder is the one that `LOUVER_CORPUS` names, unless one is given. Every conversation is replayed (`chars4`, a window
//! of 200,000 tokens, 1.25/0.1); wherever a request does not mention an identifier that its recorded answer refers to,
//! the five best passages are looked for among what was left out, asking with what the request's last three messages say:
//! by BM25, by words alone as an archive is searched, and by words and by what the request does not show, as `recall` and
//! replay search. The bound asks with the recorded answer itself.
//!
//! `--tune` varies one constant after the other. Then it draws settings at random (fixed seed) and judges what is best in
//! four fifths of the conversations by the fifth that had no say: what constants found this way are worth elsewhere.

use louver::search::{Novelty, Ranking, ReadPassages, SearchIndex, passages};
use louver_bench::Random;
use louver_replay::input::{find, read};
use louver_replay::retention::{Retrieved, Share};
use louver_replay::{Conversation, Options, Search, Searches};
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;

const HITS: usize = 5;
const FOLDS: usize = 5;
const SEED: u64 = 9;
/// Settings drawn at random, and how often the conversations are dealt into fifths anew.
const DRAWN: usize = 200;
const DEALS: u64 = 5;

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
    let beyond = Way::Beyond(Novelty::default());
    let ways =
        [("BM25", Way::Words(Ranking::BM25)), ("words", Way::Words(Ranking::default())), ("beyond sight", beyond)];
    for (name, way) in ways {
        println!("{:<22}{}", format!("{name}, bound"), Rates::of(&found(&mut asked, &way, answer)));
        println!("{name:<22}{}", Rates::of(&found(&mut asked, &way, query)));
    }
    if is_tuned {
        vary(&mut asked);
        judge(&mut asked);
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

/// How passages are found.
#[derive(Clone, Copy)]
enum Way {
    /// By the words of the query alone.
    Words(Ranking),
    /// By these and by what the request does not show.
    Beyond(Novelty),
}

/// A conversation with its searches.
struct Asked<'a> {
    searches: Searches<'a>,
    conversation: &'a Conversation,
    index: SearchIndex,
    passages: RefCell<ReadPassages>,
    /// What was read of each text that was found.
    read: HashMap<Box<str>, Retrieved>,
}

/// What was found of what was missing: identifiers and lines.
type Found = [Share; 2];

/// What a search asks with.
type Text = fn(&Search) -> &str;

fn query(search: &Search) -> &str {
    &search.query
}

fn answer(search: &Search) -> &str {
    &search.answer
}

impl<'a> Asked<'a> {
    fn new(conversation: &'a Conversation, searches: Searches<'a>) -> Self {
        let index = conversation.messages.iter().map(|message| &**message).collect();
        Self { searches, conversation, index, passages: RefCell::default(), read: HashMap::new() }
    }

    /// What is found, as it reads.
    fn hits(&self, way: &Way, search: &Search, text: &str) -> Vec<String> {
        let among = self.index.among(|message| search.left_out.get(message) == Some(&true));
        let message = |index: usize| self.conversation.messages.get(index).map(|message| &**message);
        match way {
            Way::Words(ranking) => {
                let hits = among.search_by(ranking, text, HITS).hits.into_iter();
                hits.map(|hit| passages(&self.conversation.messages[hit.message]).swap_remove(hit.passage)).collect()
            }
            Way::Beyond(novelty) => {
                let read = &mut self.passages.borrow_mut();
                let found = among.search_beyond_by(novelty, &search.sight, text, HITS, message, read);
                found.hits.into_iter().map(|hit| hit.text).collect()
            }
        }
    }

    fn found(&mut self, way: &Way, text: Text) -> Found {
        let mut found = Found::default();
        for at in 0..self.searches.all.len() {
            let search = &self.searches.all[at];
            let hits = self.hits(way, search, text(search));
            for hit in &hits {
                if !self.read.contains_key(hit.as_str()) {
                    self.read.insert(hit.as_str().into(), self.searches.read(hit));
                }
            }
            add(&mut found, &self.searches.all[at], &self.read, &hits);
        }
        found
    }
}

fn add(found: &mut Found, search: &Search, read: &HashMap<Box<str>, Retrieved>, hits: &[String]) {
    let stands = |number: u32, of: fn(&Retrieved) -> &[u32]| {
        hits.iter().any(|hit| of(&read[hit.as_str()]).binary_search(&number).is_ok())
    };
    for one in &search.unmentioned {
        found[0].add(one.weight, stands(one.identifier, |read| &read.identifiers));
    }
    for one in &search.without_line {
        found[1].add(one.weight, stands(one.line, |read| &read.lines));
    }
}

fn found(asked: &mut [Asked<'_>], way: &Way, text: Text) -> Vec<Found> {
    asked.iter_mut().map(|one| one.found(way, text)).collect()
}

/// Shares in percent: of all, and the mean of the conversations'.
#[derive(Clone, Copy)]
struct Rates([[f64; 2]; 2]);

impl Rates {
    fn of<'f>(found: impl IntoIterator<Item = &'f Found>) -> Self {
        let found: Vec<&Found> = found.into_iter().collect();
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

/// A constant of the choice, and what it might be.
type Constant = (&'static str, &'static [f64], fn(&mut Novelty, f64));

const CONSTANTS: [Constant; 16] = [
    ("candidates", &[32.0, 64.0, 96.0, 192.0], |novelty, value| novelty.candidates = value as usize),
    ("least_score", &[0.01, 0.03, 0.1], |novelty, value| novelty.least_score = value),
    ("seen_power", &[0.0, 0.2, 0.4, 0.7], |novelty, value| novelty.seen_power = value),
    ("least_seen", &[0.02, 0.05, 0.1, 0.2], |novelty, value| novelty.least_seen = value),
    ("own", &[1.0, 4.0, 8.0, 12.0, 18.0], |novelty, value| novelty.own = value),
    ("age_power", &[0.0, 0.4, 0.6, 0.8], |novelty, value| novelty.age_power = value),
    ("least_age", &[10.0, 20.0, 30.0, 50.0], |novelty, value| novelty.least_age = value as usize),
    ("resemblance", &[0.0, 1.5, 2.5, 3.5], |novelty, value| novelty.resemblance = value),
    ("asked", &[1.0, 10.0, 100.0], |novelty, value| novelty.asked = value),
    ("number", &[0.1, 0.2, 0.4, 1.0], |novelty, value| novelty.number = value),
    ("line_cost", &[5.0, 10.0, 20.0, 40.0], |novelty, value| novelty.line_cost = value as usize),
    ("deciding", &[12.0, 16.0, 24.0, 32.0], |novelty, value| novelty.ranking.deciding = value as usize),
    ("common_share", &[0.03, 0.06, 0.1, 0.15], |novelty, value| novelty.ranking.common_share = value),
    ("rarity_power", &[1.0, 1.5, 2.0, 3.0], |novelty, value| novelty.ranking.rarity_power = value),
    ("identifier", &[1.0, 2.0, 3.0, 5.0], |novelty, value| novelty.ranking.identifier = value),
    ("following", &[0.0, 0.5, 0.75, 1.0], |novelty, value| novelty.ranking.following = value),
];

/// One constant at a time, the others as shipped.
fn vary(asked: &mut [Asked<'_>]) {
    println!("\none constant at a time; identifiers and lines, then the bound");
    for (name, values, set) in CONSTANTS {
        for value in values {
            let mut novelty = Novelty::default();
            set(&mut novelty, *value);
            let is_shipped = if novelty == Novelty::default() { " (shipped)" } else { "" };
            let [now, bound] = [query, answer].map(|text: Text| Rates::of(&found(asked, &Way::Beyond(novelty), text)));
            println!("{:<28}{now}   bound {bound}", format!("{name}: {value}{is_shipped}"));
        }
    }
}

/// What some conversations say for a setting.
fn value<'f>(found: impl IntoIterator<Item = &'f Found>) -> f64 {
    let Rates([[mentions, mean], _]) = Rates::of(found);
    mentions + mean
}

/// The best of some settings for some conversations.
fn best<'t>(tried: &'t [Vec<Found>], conversations: &[usize]) -> Option<&'t Vec<Found>> {
    let value = |found: &[Found]| value(conversations.iter().map(|at| &found[*at]));
    tried.iter().max_by(|a, b| value(a).total_cmp(&value(b)))
}

/// Settings drawn at random: the best for four fifths of the conversations, judged by the fifth.
fn judge(asked: &mut [Asked<'_>]) {
    let mut random = Random::new(SEED);
    let draw = |_| {
        let mut novelty = Novelty::default();
        CONSTANTS.iter().for_each(|(_, values, set)| set(&mut novelty, values[random.below(values.len())]));
        found(asked, &Way::Beyond(novelty), query)
    };
    let tried: Vec<Vec<Found>> = (0..DRAWN).map(draw).collect();
    let mut order: Vec<usize> = (0..asked.len()).collect();
    println!("\n{DRAWN} settings drawn at random");
    println!("the best for all                 {}", Rates::of(best(&tried, &order).into_iter().flatten()));
    for seed in SEED..SEED + DEALS {
        let mut random = Random::new(seed);
        (1..order.len()).rev().for_each(|left| order.swap(left, random.below(left + 1)));
        let mut unseen = Vec::with_capacity(order.len());
        for fold in 0..FOLDS {
            let (held_out, others): (Vec<usize>, Vec<usize>) = (0..order.len()).partition(|at| at % FOLDS == fold);
            let [held_out, others] =
                [held_out, others].map(|some| some.iter().map(|at| order[*at]).collect::<Vec<_>>());
            unseen.extend(best(&tried, &others).into_iter().flat_map(|found| held_out.iter().map(|at| found[*at])));
        }
        println!("best for 4/5, judged by the 5th  {}", Rates::of(&unseen));
    }
}
