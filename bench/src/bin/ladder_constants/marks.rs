//! What the settable marks do: the recent tail, the ledger, and how much of it is whole lines.

use crate::corpus::{CONTEXT_WINDOW, Corpus, FOLDS};
use crate::{mean, percent};
use louver::policy::{LadderConfig, PolicyKind};
use louver_replay::report::RunRow;
use louver_replay::{Contender, ReplayError};
use std::fmt;

const KEEP_RECENT_TOKENS: [u64; 8] = [1_000, 1_800, 2_700, 4_000, 6_000, 8_500, 13_000, 20_000];
const LEDGER_TOKENS: [u64; 4] = [1_500, 3_000, 6_000, 10_000];
const LINES_PERCENT: [u8; 5] = [20, 33, 52, 60, 80];
const HEADING: &str = "  tail ledger lines   saving     line     p10  mention";
/// What a quick run tries around each shipped row.
const QUICK_KEEP_RECENT_TOKENS: [u64; 3] = [2_700, 8_500, 13_000];
const QUICK_LEDGER_TOKENS: [u64; 2] = [3_000, 6_000];
const QUICK_LINES_PERCENT: [u8; 3] = [33, 52, 60];

/// One setting of the three marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    keep_recent_tokens: u64,
    ledger_tokens: u64,
    lines_percent: u8,
}

impl Marks {
    fn of(config: &LadderConfig) -> Self {
        let LadderConfig { keep_recent_tokens, ledger_tokens, lines_percent, .. } = *config;
        Self { keep_recent_tokens, ledger_tokens, lines_percent }
    }

    fn contender(self) -> Contender {
        let Self { keep_recent_tokens, ledger_tokens, lines_percent } = self;
        let config = LadderConfig { keep_recent_tokens, ledger_tokens, lines_percent, ..LadderConfig::default() };
        Contender::new(&self.to_string(), PolicyKind::Ladder(config))
    }

    /// How many of the marks another setting has differently.
    fn distance(self, other: Self) -> usize {
        let differs = [
            self.keep_recent_tokens != other.keep_recent_tokens,
            self.ledger_tokens != other.ledger_tokens,
            self.lines_percent != other.lines_percent,
        ];
        differs.into_iter().filter(|differs| *differs).count()
    }
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>6} {:>6} {:>3} %", self.keep_recent_tokens, self.ledger_tokens, self.lines_percent)
    }
}

/// What a setting came to, as means over conversations.
#[derive(Clone, Copy, Debug)]
struct Score {
    saving: f64,
    line: f64,
    /// What a tenth of the conversations is below.
    low_line: f64,
    mention: f64,
}

impl Score {
    fn of(rows: &[&RunRow]) -> Self {
        let of = |measure: fn(&RunRow) -> Option<f64>| mean(rows.iter().filter_map(|row| measure(row)));
        let mut lines: Vec<f64> = rows.iter().filter_map(|row| row.recall_line).collect();
        lines.sort_by(f64::total_cmp);
        Self {
            saving: of(|row| row.saving),
            line: of(|row| row.recall_line),
            low_line: lines.get(lines.len() / 10).copied().unwrap_or(0.0),
            mention: of(|row| row.recall_window),
        }
    }

    /// Whether it forgets no more than another.
    fn remembers(self, other: Self) -> bool {
        self.line >= other.line && self.low_line >= other.low_line && self.mention >= other.mention
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { saving, line, low_line, mention } = self;
        write!(f, "{}  {} {}  {}", percent(*saving), percent(*line), percent(*low_line), percent(*mention))
    }
}

/// Every setting over every conversation.
struct Sweep<'a> {
    corpus: &'a Corpus,
    settings: Vec<Marks>,
    /// By conversation, then by setting.
    rows: Vec<RunRow>,
}

/// Prints what the marks do, and where the shipped rows stand.
pub(crate) fn report(corpus: &Corpus, is_quick: bool) -> Result<(), ReplayError> {
    let sweep = Sweep::run(corpus, settings(is_quick))?;
    let all = sweep.results(|_| true);
    println!(
        "{} settings over {} conversations ({} requests), chars4, a window of {CONTEXT_WINDOW}, prices 1.25/0.1; means.",
        sweep.settings.len(),
        corpus.conversations.len(),
        corpus.requests()
    );
    for config in [LadderConfig::lean(), LadderConfig::default(), LadderConfig::careful()] {
        sweep.print_row(&config, &all);
    }
    sweep.print_frontier(&all);
    Ok(())
}

fn settings(is_quick: bool) -> Vec<Marks> {
    let (recent, ledgers, lines): (&[u64], &[u64], &[u8]) = if is_quick {
        (&QUICK_KEEP_RECENT_TOKENS, &QUICK_LEDGER_TOKENS, &QUICK_LINES_PERCENT)
    } else {
        (&KEEP_RECENT_TOKENS, &LEDGER_TOKENS, &LINES_PERCENT)
    };
    let mut settings = Vec::new();
    for keep_recent_tokens in recent {
        for ledger_tokens in ledgers {
            settings.extend(lines.iter().map(|lines_percent| Marks {
                keep_recent_tokens: *keep_recent_tokens,
                ledger_tokens: *ledger_tokens,
                lines_percent: *lines_percent,
            }));
        }
    }
    // A row that is tuned to other marks than those tried here still has a place to stand.
    for config in [LadderConfig::lean(), LadderConfig::default(), LadderConfig::careful()] {
        if !settings.contains(&Marks::of(&config)) {
            settings.push(Marks::of(&config));
        }
    }
    settings
}

impl<'a> Sweep<'a> {
    fn run(corpus: &'a Corpus, settings: Vec<Marks>) -> Result<Self, ReplayError> {
        let contenders = settings.iter().map(|marks| marks.contender()).collect();
        let rows = corpus.replay(contenders)?.runs;
        Ok(Self { corpus, settings, rows })
    }

    /// Each setting over the conversations of the parts that are wanted.
    fn results(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<Score> {
        (0..self.settings.len()).map(|setting| Score::of(&self.rows_of(setting, &is_wanted))).collect()
    }

    fn rows_of(&self, setting: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<&RunRow> {
        let rows = self.rows.chunks_exact(self.settings.len()).zip(&self.corpus.folds);
        rows.filter(|(_, fold)| is_wanted(**fold)).map(|(rows, _)| &rows[setting]).collect()
    }

    fn position(&self, marks: Marks) -> usize {
        self.settings.iter().position(|known| *known == marks).unwrap_or(0)
    }

    /// A shipped row, what one other mark would make of it, and what would have been better.
    fn print_row(&self, config: &LadderConfig, all: &[Score]) {
        let marks = Marks::of(config);
        let shipped = self.position(marks);
        println!("\n{:<32}{HEADING}", format!("{}, one mark changed", config.name()));
        for (setting, score) in self.settings.iter().zip(all) {
            match setting.distance(marks) {
                0 => println!("{:<32}{setting}  {score}", "  as shipped"),
                1 => println!("{:<32}{setting}  {score}", ""),
                _ => {}
            }
        }
        let better = self.better_than(shipped, all);
        match better {
            Some(best) => println!("{:<32}{}  {}", "  most saving, no less recall", self.settings[best], all[best]),
            None => println!("  no setting saves more and forgets no more"),
        }
        self.print_held_out(shipped);
    }

    /// The setting that saves most of those that forget no more than the shipped one, if that is another.
    fn better_than(&self, shipped: usize, results: &[Score]) -> Option<usize> {
        let candidates = (0..results.len()).filter(|setting| results[*setting].remembers(results[shipped]));
        let best = candidates.max_by(|a, b| results[*a].saving.total_cmp(&results[*b].saving));
        best.filter(|best| results[*best].saving > results[shipped].saving)
    }

    /// Whether what looks better stays better on conversations that it was not chosen by.
    fn print_held_out(&self, shipped: usize) {
        let mut chosen_rows = Vec::new();
        let mut chosen_marks = Vec::new();
        for fold in 0..FOLDS {
            let chosen = self.better_than(shipped, &self.results(|other| other != fold)).unwrap_or(shipped);
            chosen_marks.push(self.settings[chosen].to_string());
            chosen_rows.extend(self.rows_of(chosen, |of| of == fold));
        }
        println!("{:<51}  {}", "  the same, held out", Score::of(&chosen_rows));
        chosen_marks.sort();
        chosen_marks.dedup();
        println!("    chosen: {}", chosen_marks.join("; "));
    }

    /// The settings that no other beats in both saving and line recall.
    fn print_frontier(&self, all: &[Score]) {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|a, b| all[*b].saving.total_cmp(&all[*a].saving));
        println!("\n{:<32}{HEADING}", "most line recall for a saving");
        let mut best_line = 0.0;
        for setting in order.into_iter().filter(|setting| all[*setting].saving > 0.0) {
            if all[setting].line > best_line {
                best_line = all[setting].line;
                println!("{:<32}{}  {}", "", self.settings[setting], all[setting]);
            }
        }
    }
}
