//! The real conversations, where `LOUVER_CORPUS` says they are.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver_replay::input::find;
use louver_replay::report::{Distribution, RunRow, Totals, page, table};
use louver_replay::{Conversation, DEFAULT_POLICIES, Options, Report, replay};
use std::path::PathBuf;

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LOUVER_CORPUS is not set");
    }
    folder
}

fn conversations(is_wanted: impl Fn(&Conversation) -> bool) -> Option<Vec<Conversation>> {
    let sources = find(&[corpus()?]);
    let all = sources.iter().flat_map(|source| louver_replay::input::read(source).unwrap());
    Some(all.filter(|conversation| is_wanted(conversation)).collect())
}

/// The policies that keep a token bound never overflow and never break a rule; nobody breaks the prefix between cuts.
fn assert_lawful(report: &Report) {
    for row in &report.runs {
        assert_eq!(row.illegal, 0, "{} under {}", row.file, row.policy);
        assert_eq!(row.prefix_stability, 1.0, "{} under {}", row.file, row.policy);
        assert!(row.recall_line <= row.recall_window, "{} under {}", row.file, row.policy);
        if row.policy == "everything" {
            let is_one = |recall: Option<f64>| recall.is_none_or(|recall| recall == 1.0);
            assert!(is_one(row.recall_window) && is_one(row.recall_line), "{}", row.file);
            assert_eq!(row.overflows, row.baseline_overflows);
        }
        if ["tokens", "newest", "full-cut", "ladder", "ladder-lean", "ladder-careful"].contains(&row.policy.as_str()) {
            assert_eq!(row.overflows, 0, "{} under {}", row.file, row.policy);
        }
    }
}

#[test]
fn reports_are_the_same_on_any_number_of_threads_and_lawful() {
    // Short ones of every format: the long ones are in the other test.
    let Some(conversations) = conversations(|conversation| (4..25).contains(&conversation.turns().len())) else {
        return;
    };
    let mut options = Options::of_policies(&DEFAULT_POLICIES).unwrap();
    options.counter = "chars4".parse().unwrap();
    options.context_window = Some(12_000);
    options.max_output = Some(1_000);
    let mut reports = [1, 2, 5].map(|threads| {
        options.threads = Some(threads);
        replay(&conversations, &options, &|_| {}).unwrap()
    });
    let json = reports[0].to_json().unwrap();
    assert!(reports.iter().all(|report| report.to_json().unwrap() == json));
    assert!(reports.iter().all(|report| page(report) == page(&reports[0])));
    // At so small a window a single message may be over it; then no policy can help.
    for row in reports[0].runs.iter_mut().filter(|row| row.baseline_overflows > 0) {
        row.overflows = if row.policy == "everything" { row.baseline_overflows } else { 0 };
    }
    assert_lawful(&reports[0]);
    assert!(table(&reports[0]).lines().all(|line| line.chars().count() <= 80));
}

/// What a rough independent simulation found for a policy, in percent.
struct Figures {
    policy: &'static str,
    saving: f64,
    of_bill: f64,
    dearest: f64,
    kept: f64,
    mention: [f64; 2],
    line: [f64; 2],
}

const FIGURES: [Figures; 3] = [
    Figures {
        policy: "messages",
        saving: -296.0,
        of_bill: -163.0,
        dearest: -476.0,
        kept: 49.0,
        mention: [95.0, 90.0],
        line: [95.0, 90.0],
    },
    Figures {
        policy: "tokens",
        saving: 0.0,
        of_bill: 25.0,
        dearest: 0.0,
        kept: 100.0,
        mention: [100.0, 99.0],
        line: [100.0, 99.0],
    },
    Figures {
        policy: "mask",
        saving: -198.0,
        of_bill: -172.0,
        dearest: -359.0,
        kept: 50.0,
        mention: [93.0, 85.0],
        line: [91.0, 83.0],
    },
];

#[test]
fn the_long_conversations_come_out_as_an_independent_simulation_found() {
    let Some(mut conversations) = conversations(|conversation| conversation.turns().len() >= 100) else {
        return;
    };
    assert_eq!(conversations.len(), 30);
    for conversation in &mut conversations {
        // The simulation left system and tools out.
        conversation.system.clear();
        conversation.tools_json = None;
        let leading = conversation.leading_system();
        conversation.messages.drain(..leading);
        conversation.times = vec![None; conversation.messages.len()];
    }
    let mut options = Options::of_policies(&DEFAULT_POLICIES).unwrap();
    // One model without price tiers for all; its cache has entries, as the simulation had in every format.
    options.model = Some("claude-opus-4-5".to_owned());
    options.counter = "chars4".parse().unwrap();
    options.cache_prices = Some("1.25/0.1".parse().unwrap());
    options.context_window = Some(200_000);
    let report = replay(&conversations, &options, &|_| {}).unwrap();
    assert_lawful(&report);
    println!("{}", table(&report));
    for figures in &FIGURES {
        compare(figures, &report, report.totals.iter().find(|totals| totals.policy == figures.policy).unwrap());
    }
}

/// What a row of the ladder reaches at least, in percent: saving, mention and line recall, and the dearest conversation.
struct Reached {
    policy: &'static str,
    saving: f64,
    of_bill: f64,
    dearest: f64,
    mention: f64,
    line: f64,
    line_p10: f64,
    kept_at_most: f64,
    regret_at_most: f64,
}

const REACHED: [Reached; 3] = [
    // Regret is of cut times alone; most of it is what waiting for the first cut costs, so that no conversation gets dearer.
    Reached {
        policy: "ladder-lean",
        // The head reaches to the model's first answer, so that no task is left out: 0.7 points.
        saving: 59.0,
        of_bill: 80.0,
        dearest: -5.0,
        mention: 93.0,
        line: 92.5,
        line_p10: 82.0,
        kept_at_most: 26.0,
        regret_at_most: 1.16,
    },
    Reached {
        policy: "ladder",
        saving: 50.0,
        of_bill: 68.0,
        dearest: -1.0,
        mention: 96.0,
        line: 95.5,
        line_p10: 88.0,
        kept_at_most: 34.0,
        regret_at_most: 1.18,
    },
    Reached {
        policy: "ladder-careful",
        saving: 37.0,
        of_bill: 60.0,
        dearest: -5.0,
        mention: 98.8,
        line: 98.6,
        line_p10: 93.5,
        kept_at_most: 49.0,
        regret_at_most: 1.12,
    },
];

#[test]
fn the_ladder_reaches_its_figures_on_long_conversations() {
    let Some(conversations) = conversations(|conversation| conversation.turns().len() >= 100) else {
        return;
    };
    let mut options = Options::of_policies(&REACHED.map(|reached| reached.policy)).unwrap();
    options.counter = "chars4".parse().unwrap();
    options.cache_prices = Some("1.25/0.1".parse().unwrap());
    options.context_window = Some(200_000);
    let report = replay(&conversations, &options, &|_| {}).unwrap();
    assert_lawful(&report);
    println!("{}", table(&report));
    // Where reading is dear it cuts often: nothing may change between the cuts all the same.
    options.cache_prices = Some("1.0/0.5".parse().unwrap());
    options.context_window = Some(60_000);
    assert_lawful(&replay(&conversations, &options, &|_| {}).unwrap());
    for reached in &REACHED {
        let group = &report.totals.iter().find(|totals| totals.policy == reached.policy).unwrap().all;
        let [saving, of_bill, dearest] = against_everything(&report, reached.policy);
        let percent = |value: Option<f64>| value.unwrap() * 100.0;
        let at_least = [
            ("saving", percent(saving), reached.saving),
            ("of the bill", percent(of_bill), reached.of_bill),
            ("dearest", percent(dearest), reached.dearest),
            ("mention", percent(group.median_of("recall_window")), reached.mention),
            ("line", percent(group.median_of("recall_line")), reached.line),
            ("line p10", percent(group.p10_of("recall_line")), reached.line_p10),
            ("room for tokens", -percent(group.median_of("tokens_kept")), -reached.kept_at_most),
            ("room for regret", -group.mean["regret"].unwrap(), -reached.regret_at_most),
        ];
        for (name, ours, least) in at_least {
            assert!(ours >= least, "{} {name}: {ours} instead of at least {least}", reached.policy);
        }
    }
}

/// Savings as the simulation counted them: against sending everything, whether it fits or not. The median, of the bill,
/// and the dearest.
fn against_everything(report: &Report, policy: &str) -> [Option<f64>; 3] {
    let rows = || report.runs.iter().filter(|row| row.policy == policy);
    let saving = |row: &RunRow| 1.0 - row.input_usd / row.everything_input_usd;
    let sum = |of: fn(&RunRow) -> f64| rows().map(of).sum::<f64>();
    let of_bill = 1.0 - sum(|row| row.input_usd) / sum(|row| row.everything_input_usd);
    let savings = Distribution::of(rows().map(|row| Some(saving(row))));
    [savings.quantile(0.5), Some(of_bill), savings.quantile(0.0)]
}

fn compare(figures: &Figures, report: &Report, totals: &Totals) {
    let group = &totals.all;
    let [saving, of_bill, dearest] = against_everything(report, figures.policy);
    let percent = |value: Option<f64>| value.unwrap() * 100.0;
    let recall = |name| [percent(group.median_of(name)), percent(group.p10_of(name))];
    let (mention, line) = (recall("recall_window"), recall("recall_line"));
    let found = [
        ("saving", percent(saving), figures.saving),
        ("of the bill", percent(of_bill), figures.of_bill),
        ("dearest", percent(dearest), figures.dearest),
        ("kept", percent(group.median_of("tokens_kept")), figures.kept),
        ("mention", mention[0], figures.mention[0]),
        ("mention p10", mention[1], figures.mention[1]),
        ("line", line[0], figures.line[0]),
        ("line p10", line[1], figures.line[1]),
    ];
    for (name, ours, theirs) in found {
        println!("{:<10} {name:<12} {ours:>8.1} {theirs:>8.1}", figures.policy);
        let allowed = (theirs.abs() * 0.12).max(5.0);
        assert!((ours - theirs).abs() <= allowed, "{} {name}: {ours} instead of {theirs}", figures.policy);
    }
}
