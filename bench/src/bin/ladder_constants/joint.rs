//! The settable marks, tuned together through the engine itself: what each row saves after recall, and what it keeps.
//!
//! A row starts as it is shipped. One mark after the other is moved to the value that does best while the row keeps what it
//! promises, until none moves. A fifth of the conversations is left out of the choice, five times over, and judges it.

use crate::corpus::{Corpus, FOLDS};
use crate::{mean, median};
use louver::policy::{LadderConfig, PolicyKind};
use louver_replay::report::RunRow;
use louver_replay::{Contender, ReplayError};
use std::fmt;

/// A mark: its name, how it is read and set, and what is tried.
struct Mark {
    name: &'static str,
    get: fn(&LadderConfig) -> u64,
    set: fn(&mut LadderConfig, u64),
    values: &'static [u64],
}

const MARKS: &[Mark] = &[
    Mark {
        name: "keep_recent_turns",
        get: |config| config.keep_recent_turns,
        set: |config, value| config.keep_recent_turns = value,
        values: &[2, 3, 4, 5, 6, 8, 10, 14],
    },
    Mark {
        name: "keep_recent_tokens",
        get: |config| config.keep_recent_tokens,
        set: |config, value| config.keep_recent_tokens = value,
        values: &[1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_500, 13_000],
    },
    Mark {
        name: "ledger_tokens",
        get: |config| config.ledger_tokens,
        set: |config, value| config.ledger_tokens = value,
        values: &[4_000, 6_000, 8_000, 12_000, 16_000],
    },
    Mark {
        name: "prose_tokens",
        get: |config| config.prose_tokens,
        set: |config, value| config.prose_tokens = value,
        values: &[300, 600, 1_200, 2_400],
    },
    Mark {
        name: "worth_percent",
        get: |config| config.worth_percent.into(),
        set: |config, value| config.worth_percent = u32::try_from(value).unwrap_or(u32::MAX),
        values: &[3, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150],
    },
    Mark {
        name: "lines_beside",
        get: |config| config.lines_beside.into(),
        set: |config, value| config.lines_beside = u8::try_from(value).unwrap_or(u8::MAX),
        values: &[0, 2],
    },
    Mark {
        name: "favour_rare",
        get: |config| config.favour_rare.into(),
        set: |config, value| config.favour_rare = u8::try_from(value).unwrap_or(u8::MAX),
        values: &[0, 1, 3],
    },
];

/// What a setting came to over some conversations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score {
    saving: f64,
    /// Saving after recall, by lines and by passages: median and mean.
    lines: (f64, f64),
    passages: (f64, f64),
    /// The same by passages where the search has to find them.
    searched: (f64, f64),
    line: (f64, f64),
    old: f64,
    passage: f64,
    recent_passage: f64,
    mention: f64,
    edit: f64,
    recalls: f64,
    cuts: f64,
    dearest: f64,
    /// Conversations that got more than 1 % dearer.
    dearer: usize,
}

impl Score {
    pub(crate) fn of(rows: &[&RunRow]) -> Self {
        let all = |of: fn(&RunRow) -> Option<f64>| -> Vec<f64> { rows.iter().filter_map(|row| of(row)).collect() };
        let middle = |of| median(all(of).into_iter());
        let both = |of| (middle(of), mean(all(of).into_iter()));
        let mut lines = all(|row| row.recall_line);
        lines.sort_by(f64::total_cmp);
        let recent = |row: &RunRow| Some((row.passage_by_age["0-1"]? + row.passage_by_age["2-5"]?) / 2.0);
        Self {
            saving: middle(|row| row.saving),
            lines: both(|row| row.input_saving_after_found_recall),
            passages: both(|row| row.input_saving_after_found_recall_passage),
            searched: both(|row| row.saving_after_recall_passage),
            line: (middle(|row| row.recall_line), lines.get(lines.len() / 10).copied().unwrap_or(0.0)),
            old: middle(|row| row.recall_line_old),
            passage: middle(|row| row.recall_passage),
            recent_passage: median(rows.iter().filter_map(|row| recent(row))),
            mention: middle(|row| row.recall_window),
            edit: middle(|row| row.edit_recall),
            recalls: middle(|row| row.recalls_per_request),
            cuts: rows.iter().map(|row| row.cuts as f64).sum(),
            dearest: all(|row| row.saving).into_iter().fold(1.0, f64::min),
            dearer: all(|row| row.saving).into_iter().filter(|saving| *saving < -0.01).count(),
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = |share: f64| share * 100.0;
        let Self { lines, passages, line, .. } = self;
        write!(
            f,
            "{:>5.1} | {:>5.1}/{:>5.1} | {:>5.1}/{:>5.1} | {:>5.1}/{:>5.1} | {:>5.1} ({:>4.1}) {:>5.1} | {:>5.1} {:>5.1} | {:>5.1} {:>5.1} | {:>4.2} {:>4.0} {:>5.1} {:>3}",
            p(self.saving),
            p(lines.0),
            p(lines.1),
            p(passages.0),
            p(passages.1),
            p(self.searched.0),
            p(self.searched.1),
            p(line.0),
            p(line.1),
            p(self.old),
            p(self.passage),
            p(self.recent_passage),
            p(self.mention),
            p(self.edit),
            self.recalls,
            self.cuts,
            p(self.dearest),
            self.dearer
        )
    }
}

const HEADING: &str = "saving | by lines med/mean | by passages | searched | line (p10) old | passage recent | mention edit | recalls cuts dearest dearer";

/// Prints what some settings come to: `name=value` pairs, apart by commas, on top of the row that comes first.
pub(crate) fn try_out(corpus: &Corpus, settings: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let configs = settings.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    let contenders = settings.iter().zip(&configs);
    let contenders =
        contenders.map(|(name, config)| Contender::new(name, PolicyKind::Ladder(config.clone()))).collect();
    let rows = corpus.replay(contenders)?.runs;
    println!("{HEADING}");
    for (at, name) in settings.iter().enumerate() {
        let own: Vec<&RunRow> = rows.iter().skip(at).step_by(settings.len()).collect();
        println!("{}  {name}", Score::of(&own));
    }
    Ok(())
}

fn parse(text: &str) -> Result<LadderConfig, String> {
    let mut pieces = text.split(',');
    let mut config = match pieces.next() {
        Some("lean") => LadderConfig::lean(),
        Some("careful") => LadderConfig::careful(),
        _ => LadderConfig::default(),
    };
    for piece in pieces {
        let (name, value) = piece.split_once('=').ok_or_else(|| format!("`{piece}` is no name=value"))?;
        let mark = MARKS.iter().find(|mark| mark.name.contains(name)).ok_or_else(|| format!("no mark `{name}`"))?;
        (mark.set)(&mut config, value.parse().map_err(|_| format!("`{value}` is no number"))?);
    }
    Ok(config)
}

/// A figure by its name, how to read it off a score, and the least of it.
type Floor = (&'static str, fn(&Score) -> f64, f64);

/// What a row promises, and by what it is chosen among the settings that keep it.
struct Promise {
    config: fn() -> LadderConfig,
    /// What is to be as large as possible.
    goal: fn(&Score) -> f64,
    /// What has to be kept, and how much of it.
    floors: &'static [Floor],
    /// What the row is, whatever it costs.
    is_allowed: fn(&LadderConfig) -> bool,
}

const PROMISES: [Promise; 3] = [
    Promise {
        config: LadderConfig::lean,
        goal: |score| score.lines.0 + score.lines.1,
        floors: &[("edit", |score| score.edit, 0.94), ("passages", |score| score.passages.0, 0.46)],
        is_allowed: |_| true,
    },
    Promise {
        config: LadderConfig::default,
        goal: |score| score.passages.0 + score.passages.1,
        floors: &[
            ("passage", |score| score.passage, 0.92),
            ("line", |score| score.line.0, 0.955),
            ("line p10", |score| score.line.1, 0.87),
            ("old", |score| score.old, 0.85),
            ("edit", |score| score.edit, 0.98),
            ("recent passages", |score| score.recent_passage, 0.995),
        ],
        is_allowed: |config| config.lines_beside == 2 && config.keep_recent_turns >= 4 && config.prose_tokens >= 1_000,
    },
    Promise {
        config: LadderConfig::careful,
        goal: |score| score.passages.0 + score.passages.1,
        floors: &[
            ("passage", |score| score.passage, 0.95),
            ("line", |score| score.line.0, 0.988),
            ("old", |score| score.old, 0.96),
        ],
        is_allowed: |config| config.lines_beside == 2 && config.keep_recent_turns >= 4 && config.prose_tokens >= 1_000,
    },
];

/// How much a point that is missing of a promise weighs against a point of the goal.
const BROKEN: f64 = 4.0;
/// How often every mark is moved at most.
const ROUNDS: usize = 3;

impl Promise {
    fn value(&self, score: &Score) -> f64 {
        let missing: f64 = self.floors.iter().map(|(_, of, floor)| (floor - of(score)).max(0.0)).sum();
        (self.goal)(score) - BROKEN * missing
    }
}

/// What every setting came to in every conversation, so that none is replayed twice: the parts of the conversations that
/// have a say differ, the settings mostly do not.
struct Tried<'c> {
    corpus: &'c Corpus,
    rows: Vec<(LadderConfig, Vec<RunRow>)>,
}

impl<'c> Tried<'c> {
    fn new(corpus: &'c Corpus) -> Self {
        Self { corpus, rows: Vec::new() }
    }

    /// Replays those of the settings that are new.
    fn replay(&mut self, configs: &[LadderConfig]) -> Result<(), ReplayError> {
        let mut new: Vec<LadderConfig> = Vec::new();
        for config in configs {
            if !new.contains(config) && self.find(config).is_none() {
                new.push(config.clone());
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let contender = |config: &LadderConfig| Contender::new("tried", PolicyKind::Ladder(config.clone()));
        let mut own: Vec<Vec<RunRow>> = new.iter().map(|_| Vec::new()).collect();
        for (at, row) in self.corpus.replay(new.iter().map(contender).collect())?.runs.into_iter().enumerate() {
            own[at % new.len()].push(row);
        }
        self.rows.extend(new.into_iter().zip(own));
        Ok(())
    }

    fn find(&self, config: &LadderConfig) -> Option<&[RunRow]> {
        self.rows.iter().find(|(tried, _)| tried == config).map(|(_, rows)| &rows[..])
    }

    /// What settings come to over the conversations of some parts.
    fn scores(
        &mut self,
        configs: &[LadderConfig],
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Vec<Score>, ReplayError> {
        self.replay(configs)?;
        let score = |config: &LadderConfig| {
            let rows = self.find(config).unwrap_or_default().iter().zip(&self.corpus.folds);
            Score::of(&rows.filter(|(_, fold)| is_wanted(**fold)).map(|(row, _)| row).collect::<Vec<_>>())
        };
        Ok(configs.iter().map(score).collect())
    }

    fn score(&mut self, config: &LadderConfig, is_wanted: impl Fn(usize) -> bool) -> Result<Score, ReplayError> {
        Ok(self.scores(std::slice::from_ref(config), is_wanted)?[0])
    }
}

/// Prints each row as shipped, as tuned, and how what was tuned without a fifth of the conversations does on that fifth;
/// quickly: one row and one fifth, to see that it runs. Of all rows, or of one.
pub(crate) fn report(corpus: &Corpus, is_quick: bool, wanted: Option<&str>) -> Result<(), ReplayError> {
    let (rows, folds) = if is_quick { (1, 1) } else { (PROMISES.len(), FOLDS) };
    println!("{HEADING}");
    for promise in PROMISES[..rows].iter().filter(|promise| wanted.is_none_or(|row| (promise.config)().name() == row)) {
        let mut tried = Tried::new(corpus);
        let shipped = (promise.config)();
        let everywhere = |_: usize| true;
        println!("\n{}  {} as shipped: {}", tried.score(&shipped, everywhere)?, shipped.name(), written(&shipped));
        let tuned = tune(&mut tried, promise, everywhere)?;
        println!("{}  tuned: {}", tried.score(&tuned, everywhere)?, written(&tuned));
        for fold in 0..folds {
            let tuned = tune(&mut tried, promise, |other| other != fold)?;
            let held_out = |other: usize| other == fold;
            println!("{}  fold {fold}, held out: {}", tried.score(&tuned, held_out)?, written(&tuned));
            println!("{}  fold {fold}, as shipped", tried.score(&shipped, held_out)?);
        }
    }
    Ok(())
}

/// The marks of a setting, as the code has them.
fn written(config: &LadderConfig) -> String {
    MARKS.iter().map(|mark| format!("{}: {}", mark.name, (mark.get)(config))).collect::<Vec<_>>().join(", ")
}

/// Moves one mark after the other to where the row does best, until none moves.
fn tune(
    all: &mut Tried<'_>,
    promise: &Promise,
    is_wanted: impl Fn(usize) -> bool,
) -> Result<LadderConfig, ReplayError> {
    let mut best = (promise.config)();
    for _ in 0..ROUNDS {
        let before = best.clone();
        for mark in MARKS {
            let with = |value: &u64| {
                let mut config = best.clone();
                (mark.set)(&mut config, *value);
                config
            };
            let mut tried = vec![best.clone()];
            tried.extend(mark.values.iter().map(with).filter(|config| (promise.is_allowed)(config)));
            let scores = all.scores(&tried, &is_wanted)?;
            let values = scores.iter().map(|score| promise.value(score));
            // The first of equal ones: a mark moves only where it gains.
            let winner = values.enumerate().fold((0, f64::MIN), |best, one| if one.1 > best.1 { one } else { best });
            best = tried.swap_remove(winner.0);
        }
        if best == before {
            break;
        }
    }
    Ok(best)
}
