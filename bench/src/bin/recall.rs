//! How long does it take to find something again? The index of a long conversation, and queries of rare and of very
//! common words, as JSON lines.

use louver::json::text::encode;
use louver::search::{Among, SearchIndex, Sight};
use louver::wire::{Format, Message};
use louver_bench::{Random, prose, tool_output};
use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

/// Messages that were left out.
const MESSAGES: usize = 100_000;
/// Queries of each kind.
const QUERIES: usize = 200;
/// A query's time is the best of so many, so that whatever else the machine does is not counted.
const TRIES: usize = 3;
const HITS: usize = 5;
/// Messages that whoever asks still sees, where it is asked for what is not seen.
const SEEN: usize = 100;
/// Names that there are to be mentioned.
const NAMES: f64 = 200_000.0;

#[derive(serde::Serialize)]
struct Indexed {
    messages: usize,
    megabytes: f64,
    passages: usize,
    index_ms: f64,
}

#[derive(serde::Serialize)]
struct Searched {
    query: &'static str,
    queries: usize,
    median_us: f64,
    max_us: f64,
    hits: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let messages = messages()?;
    let started = Instant::now();
    let index: SearchIndex = messages.iter().collect();
    let among = index.among(|_| true);
    let indexed = Indexed {
        messages: messages.len(),
        megabytes: messages.iter().map(|message| message.raw().len()).sum::<usize>() as f64 / 1e6,
        passages: index.passages(),
        index_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    println!("{}", serde_json::to_string(&indexed)?);
    let words = words_by_frequency(&messages);
    let (common, rare) = (&words[..words.len().min(20)], &words[words.len() / 2..]);
    let mut random = Random::new(3);
    let mut pick = |from: &[String], count: usize| -> String {
        (0..count).map(|_| from[random.below(from.len())].as_str()).collect::<Vec<_>>().join(" ")
    };
    let nothing = Sight::default();
    let measure = |query, make: &mut dyn FnMut() -> String| -> Result<(), Box<dyn Error>> {
        println!("{}", serde_json::to_string(&searched(&among, &nothing, &messages, query, make))?);
        Ok(())
    };
    measure("one rare word", &mut || pick(rare, 1))?;
    measure("one word of any frequency", &mut || pick(&words, 1))?;
    measure("one of the 20 most common words", &mut || pick(common, 1))?;
    measure("five words of any frequency", &mut || pick(&words, 5))?;
    measure("five of the 20 most common words", &mut || pick(common, 5))?;
    measure("200 words, half of them of the 20 most common", &mut || {
        format!("{} {}", pick(&words, 100), pick(common, 100))
    })?;
    let texts = texts(&messages);
    measure("a whole message of the conversation", &mut || pick(&texts, 1))?;
    let sight: Sight = messages[messages.len() - SEEN..].iter().collect();
    let query = "a whole message, for whoever sees the newest 100";
    let found = searched(&among, &sight, &messages, query, &mut || pick(&texts, 1));
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

/// What people and tools say by turns, each with a few names of its own so that there is something rare to look for.
fn messages() -> Result<Vec<Message>, Box<dyn Error>> {
    let mut random = Random::new(11);
    let mut say = |number: usize| {
        let mut text = match number % 2 {
            0 => prose(&mut random, 300),
            _ if random.below(6) == 0 => tool_output(&mut random, 4_500),
            _ => tool_output(&mut random, 1_000),
        };
        (0..12).for_each(|_| text.push_str(&format!(" name_{}", rank(&mut random))));
        Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"user","content":{}}}"#, encode(&text)))
    };
    Ok((0..MESSAGES).map(&mut say).collect::<Result<_, _>>()?)
}

/// A rank as ranks are in natural text: the n-th most common is seen 1/n as often as the first.
fn rank(random: &mut Random) -> usize {
    NAMES.powf(random.below(1_000_000) as f64 / 1e6) as usize
}

/// All words of a sample, the most common first.
fn words_by_frequency(messages: &[Message]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for message in messages.iter().step_by(20) {
        for word in message.raw().split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut words: Vec<(&str, usize)> = counts.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    words.into_iter().map(|(word, _)| word.to_owned()).collect()
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().step_by(997).map(|message| message.raw().to_owned()).collect()
}

fn searched(
    among: &Among<'_>,
    sight: &Sight,
    messages: &[Message],
    query: &'static str,
    make: &mut dyn FnMut() -> String,
) -> Searched {
    let (mut micros, mut hits) = (Vec::with_capacity(QUERIES), 0);
    for _ in 0..QUERIES {
        let text = make();
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            let started = Instant::now();
            hits += black_box(shown(among, sight, messages, &text)).len();
            best = best.min(started.elapsed().as_secs_f64() * 1e6);
        }
        micros.push(best);
    }
    micros.sort_by(f64::total_cmp);
    let (median_us, max_us) = (micros[micros.len() / 2], micros[micros.len() - 1]);
    Searched { query, queries: QUERIES, median_us, max_us, hits: hits / TRIES }
}

/// The best hits as `louver recall` shows them: their texts, and where the words of the query stand in them.
fn shown(among: &Among<'_>, sight: &Sight, messages: &[Message], query: &str) -> Vec<(String, Vec<Range<usize>>)> {
    let found = among.search_beyond(sight, query, HITS, |message| messages.get(message));
    found.hits.iter().map(|hit| (hit.text.clone(), found.marks(&hit.text))).collect()
}
