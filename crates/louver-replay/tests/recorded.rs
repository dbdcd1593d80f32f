//! Sessions that say what was billed: invented ones, billed by a small provider of their own.

#![allow(clippy::unwrap_used, reason = "helpers of tests, where a panic is the message")]

use louver_replay::input::{Source, read_text};
use louver_replay::report::{RunRow, page, session_table};
use louver_replay::{Conversation, Options, Report, Strand, replay, replay_files};
use serde_json::{Value, json};

/// System and tools of the invented client, which no record shows.
const OVERHEAD: u64 = 24_000;

/// A session of Claude Code as it is written, by a provider that counts 30 % more than four characters a token.
struct Session {
    id: &'static str,
    lines: Vec<Value>,
    second: u64,
}

/// One request in the making.
struct Asked<'a> {
    model: &'a str,
    parent: Option<String>,
    /// All that the history holds, in characters, before this request.
    chars: u64,
    /// The tokens of the request before on the same model, if its cache is warm.
    read: u64,
    is_long_lived: bool,
    is_sidechain: bool,
}

impl Asked<'_> {
    fn tokens(&self) -> u64 {
        OVERHEAD + self.chars * 13 / 40
    }
}

impl Session {
    fn new(id: &'static str) -> Self {
        Self { id, lines: Vec::new(), second: 0 }
    }

    fn line(&mut self, kind: &str, uuid: &str, parent: Option<&str>, is_sidechain: bool, message: &Value) {
        self.second += 1;
        let time = format!("2026-03-01T10:{:02}:{:02}.000Z", self.second / 60, self.second % 60);
        self.lines
            .push(json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": self.id, "cwd": "/work/shop",
            "isSidechain": is_sidechain, "timestamp": time, "requestId": format!("req_{uuid}"), "message": message}));
    }

    /// A question and its answer; returns the answer's uuid and how many characters the history has then.
    fn turn(&mut self, name: &str, asked: &Asked<'_>, text: &str) -> (String, u64) {
        let question = format!("q-{name}");
        let asked_text = format!("{name}: {text}");
        self.line(
            "user",
            &question,
            asked.parent.as_deref(),
            asked.is_sidechain,
            &json!({"role": "user", "content": asked_text}),
        );
        let answer = format!("a-{name}");
        let said = format!("Done with {name}.");
        let tokens = Asked { chars: asked.chars + asked_text.len() as u64, parent: None, ..*asked }.tokens();
        let written = tokens - asked.read;
        let (short, long) = if asked.is_long_lived { (0, written) } else { (written, 0) };
        // The first line of an answer is written before all of its output is known.
        for (part, output) in [(1, 1), (2, 40)] {
            let usage = json!({"input_tokens": 0, "cache_read_input_tokens": asked.read,
                "cache_creation_input_tokens": written, "output_tokens": output,
                "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long}});
            let block = json!({"type": "text", "text": if part == 1 { said.as_str() } else { "Next?" }});
            let message = json!({"id": format!("msg_{name}"), "role": "assistant", "model": asked.model,
                "content": [block], "usage": usage});
            let (uuid, parent) = match part {
                1 => (format!("{answer}-1"), question.clone()),
                _ => (answer.clone(), format!("{answer}-1")),
            };
            self.line("assistant", &uuid, Some(&parent), asked.is_sidechain, &message);
        }
        (answer, asked.chars + asked_text.len() as u64 + said.len() as u64 + 5)
    }

    /// A run of turns, each reading what the one before sent; returns where it ends.
    fn turns(
        &mut self,
        names: &[&str],
        model: &str,
        start: (Option<String>, u64, u64),
        text: &str,
    ) -> (String, u64, u64) {
        let (mut parent, mut chars, mut read) = start;
        for name in names {
            let asked = Asked { model, parent: parent.clone(), chars, read, is_long_lived: true, is_sidechain: false };
            let asked_chars = chars + (name.len() + 2 + text.len()) as u64;
            read = OVERHEAD + asked_chars * 13 / 40;
            let (answer, after) = self.turn(name, &asked, text);
            (parent, chars) = (Some(answer), after);
        }
        (parent.unwrap(), chars, read)
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

fn padding() -> String {
    "const LIMIT: usize = 4_096; // of src/limits.rs\n".repeat(300)
}

fn options(policies: &[&str]) -> Options {
    let mut options = Options::of_policies(policies).unwrap();
    options.counter = "chars4".parse().unwrap();
    options
}

fn of_texts(texts: &[(&str, String)]) -> Report {
    let sources: Vec<Source> =
        texts.iter().map(|(name, text)| Source::Text { name: (*name).to_owned(), text: text.clone() }).collect();
    replay_files(&sources, &options(&["everything", "ladder"]), &|_| {}).unwrap()
}

fn rows<'r>(report: &'r Report, policy: &str) -> Vec<&'r RunRow> {
    report.runs.iter().filter(|row| row.policy == policy).collect()
}

#[test]
fn overhead_counter_life_and_bill_are_the_recorded_ones() {
    let mut session = Session::new("one");
    session.turns(&["a", "b", "c", "d", "e", "f"], "claude-opus-4-5", (None, 0, 0), &padding());
    let report = of_texts(&[("one.jsonl", session.text())]);
    let row = rows(&report, "everything")[0];
    assert_eq!(row.requests, 6);
    assert!(row.conditions.overhead_tokens.abs_diff(OVERHEAD) < 100, "{}", row.conditions.overhead_tokens);
    assert!((row.conditions.counter_factor.unwrap() - 1.3).abs() < 0.01, "{:?}", row.conditions.counter_factor);
    assert_eq!(row.conditions.cache_life_seconds, [3_600]);
    assert_eq!(row.tokens.output, 6 * 40);
    let quotient = row.simulated_over_recorded.unwrap();
    assert!((quotient - 1.0).abs() < 0.01, "{quotient}");
    // Writes at twice the input price, since they live for an hour: 5 dollars a million input, 0.5 read, 25 output.
    let billed = billed_by_hand(&session, 5.0, 10.0, 0.5, 25.0);
    assert!((row.recorded_usd.unwrap() - billed).abs() < 1e-9, "{:?} {billed}", row.recorded_usd);
    assert!(row.warnings.is_empty(), "{:?}", row.warnings);
    assert!(report.assumed.contains("as billed") && report.assumed.contains("cache life 1 h"), "{}", report.assumed);
}

/// The sum over the last line of each answer.
fn billed_by_hand(session: &Session, input: f64, write_1h: f64, read: f64, output: f64) -> f64 {
    let answers = session.lines.iter().filter(|line| line["message"]["usage"]["output_tokens"] == 40);
    let usd = answers.map(|line| {
        let usage = &line["message"]["usage"];
        let tokens = |name: &str| usage[name].as_f64().unwrap();
        tokens("input_tokens") * input
            + tokens("cache_creation_input_tokens") * write_1h
            + tokens("cache_read_input_tokens") * read
            + tokens("output_tokens") * output
    });
    usd.sum::<f64>() / 1e6
}

/// The history goes on from `b`; what was asked before that is a branch, and a sub-agent worked beside both.
fn branched() -> Session {
    let mut session = Session::new("two");
    let fork = session.turns(&["a", "b"], "claude-opus-4-5", (None, 0, 0), &padding());
    let at_fork = || (Some(fork.0.clone()), fork.1, fork.2);
    session.turns(&["wrong1", "wrong2"], "claude-opus-4-5", at_fork(), &padding());
    let agent =
        Asked { model: "claude-haiku-4-5", parent: None, chars: 0, read: 0, is_long_lived: false, is_sidechain: true };
    session.turn("agent", &agent, &padding());
    session.turns(&["c", "d", "e"], "claude-opus-4-5", at_fork(), &padding());
    session
}

#[test]
fn branches_and_sub_agents_are_conversations_and_every_request_counts_once() {
    let session = branched();
    let found = read_text("two.jsonl", &session.text()).unwrap();
    let strands: Vec<(Strand, &str, usize)> =
        found.iter().map(|one| (one.strand, one.file.as_str(), one.turns().len())).collect();
    assert_eq!(
        strands,
        [
            (Strand::Main, "two.jsonl", 5),
            (Strand::Branch, "two.jsonl#branch-1", 4),
            (Strand::SubAgent, "two.jsonl#agent-1", 1)
        ]
    );
    let report = of_texts(&[("two.jsonl", session.text())]);
    let counted: Vec<u64> = rows(&report, "everything").iter().map(|row| row.requests).collect();
    assert_eq!(counted, [5, 2, 1]);
    for row in rows(&report, "everything") {
        let quotient = row.simulated_over_recorded.unwrap();
        assert!((quotient - 1.0).abs() < 0.03, "{}: {quotient}", row.file);
    }
    let (session, by_hand) = (&report.sessions[0], report.bill().unwrap());
    assert_eq!((report.sessions.len(), session.conversations, session.requests), (1, 3, 8));
    assert_eq!((session.name.as_str(), session.project.as_deref()), ("two", Some("/work/shop")));
    assert!((session.recorded_usd.unwrap() - by_hand.recorded_usd).abs() < 1e-9);
}

#[test]
fn a_session_given_twice_or_resumed_in_another_file_counts_once() {
    let mut session = Session::new("three");
    let end = session.turns(&["a", "b", "c"], "claude-opus-4-5", (None, 0, 0), &padding());
    let once = of_texts(&[("x.jsonl", session.text())]);
    let twice = of_texts(&[("x.jsonl", session.text()), ("y.jsonl", session.text())]);
    assert_eq!((twice.copies, twice.runs.len()), (1, once.runs.len()));
    assert_eq!(twice.bill(), once.bill());
    // A resumed session starts with a copy of the old one, under another name.
    let old = session.text();
    session.turns(&["d", "e"], "claude-opus-4-5", (Some(end.0), end.1, end.2), &padding());
    let resumed = session.text().replace("\"sessionId\":\"three\"", "\"sessionId\":\"four\"");
    let both = of_texts(&[("x.jsonl", old), ("y.jsonl", resumed.clone())]);
    let counted: Vec<u64> = rows(&both, "everything").iter().map(|row| row.requests).collect();
    assert_eq!(counted, [3, 2]);
    let alone = of_texts(&[("y.jsonl", resumed)]);
    let (sum, whole) = (both.bill().unwrap().recorded_usd, alone.bill().unwrap().recorded_usd);
    assert!((sum - whole).abs() < 1e-9, "{sum} {whole}");
    let cost = |report: &Report| rows(report, "everything").iter().map(|row| row.cost_usd).sum::<f64>();
    assert!((cost(&both) / cost(&alone) - 1.0).abs() < 0.01, "{} {}", cost(&both), cost(&alone));
}

#[test]
fn another_model_has_another_cache_and_other_prices() {
    let mut session = Session::new("five");
    let (parent, chars, _) = session.turns(&["a", "b", "c"], "claude-opus-4-5", (None, 0, 0), &padding());
    session.turns(&["d", "e", "f"], "claude-haiku-4-5", (Some(parent), chars, 0), &padding());
    let report = of_texts(&[("five.jsonl", session.text())]);
    let row = rows(&report, "everything")[0];
    let quotient = row.simulated_over_recorded.unwrap();
    assert!((quotient - 1.0).abs() < 0.02, "{quotient}");
}

#[test]
fn a_cache_that_was_cold_is_cold_in_replay() {
    let mut session = Session::new("six");
    let (parent, chars, _) = session.turns(&["a", "b", "c"], "claude-opus-4-5", (None, 0, 0), &padding());
    // Only system and tools were still warm, which others use, too.
    session.turns(&["d", "e"], "claude-opus-4-5", (Some(parent), chars, OVERHEAD), &padding());
    let report = of_texts(&[("six.jsonl", session.text())]);
    let quotient = rows(&report, "everything")[0].simulated_over_recorded.unwrap();
    assert!((quotient - 1.0).abs() < 0.02, "{quotient}");
}

#[test]
fn a_history_that_was_changed_is_warm_up_to_the_change() {
    let mut session = Session::new("nine");
    let (parent, chars, _) = session.turns(&["a", "b", "c", "d", "e"], "claude-opus-4-5", (None, 0, 0), &padding());
    // A client that is started anew may put other notes into an early message: the first request is still read, no more.
    let first = OVERHEAD + (3 + padding().len() as u64) * 13 / 40;
    session.turns(&["f"], "claude-opus-4-5", (Some(parent), chars, first), &padding());
    let report = of_texts(&[("nine.jsonl", session.text())]);
    let quotient = rows(&report, "everything")[0].simulated_over_recorded.unwrap();
    assert!((quotient - 1.0).abs() < 0.02, "{quotient}");
}

#[test]
fn a_bill_that_replay_does_not_reproduce_is_a_warning() {
    let mut session = Session::new("seven");
    session.turns(&["a", "b", "c", "d"], "claude-opus-4-5", (None, 0, 0), &padding());
    for line in &mut session.lines {
        // Ten times the output that is there, but for one answer: no factor explains that.
        if line["uuid"] == "a-d" {
            line["message"]["usage"]["input_tokens"] = json!(900_000);
        }
    }
    let report = of_texts(&[("seven.jsonl", session.text())]);
    let row = rows(&report, "everything")[0];
    assert!(
        row.simulated_over_recorded.is_some_and(|quotient| (quotient - 1.0).abs() > 0.1),
        "{:?}",
        row.simulated_over_recorded
    );
    assert!(row.warnings.iter().any(|warning| warning.contains("more than 10 % off")), "{:?}", row.warnings);
}

#[test]
fn prices_that_are_assumed_are_not_compared_with_a_bill() {
    let mut session = Session::new("eight");
    session.turns(&["a", "b"], "claude-opus-4-5", (None, 0, 0), &padding());
    let found = read_text("eight.jsonl", &session.text()).unwrap();
    let mut options = options(&["everything"]);
    options.model = Some("gpt-5.2".to_owned());
    let report = replay(&found, &options, &|_| {}).unwrap();
    assert!(report.runs[0].recorded_usd.is_some() && report.runs[0].simulated_over_recorded.is_none());
}

fn codex(kind: &str, payload: &Value) -> Value {
    json!({"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload})
}

fn said(role: &str, text: &str) -> Value {
    let kind = if role == "user" { "input_text" } else { "output_text" };
    codex("response_item", &json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

fn counted(last: [u64; 3], total: [u64; 3]) -> Value {
    let usage = |[input, cached, output]: [u64; 3]| {
        json!({"input_tokens": input, "cached_input_tokens": cached,
        "output_tokens": output, "reasoning_output_tokens": 5, "total_tokens": input + output})
    };
    codex(
        "event_msg",
        &json!({"type": "token_count", "info": {"last_token_usage": usage(last), "total_token_usage": usage(total)}}),
    )
}

#[test]
fn codex_says_what_each_answer_was_billed_as_and_says_it_twice() {
    let lines = [
        codex("session_meta", &json!({"id": "s", "cwd": "/work/shop", "base_instructions": {"text": "Be careful."}})),
        codex("turn_context", &json!({"model": "gpt-5.2"})),
        said("user", "List the files."),
        said("assistant", "One file."),
        counted([9_000, 0, 40], [9_000, 0, 40]),
        counted([9_000, 0, 40], [9_000, 0, 40]),
        said("user", "Never mind."),
        said("assistant", "Fine."),
        counted([9_100, 8_960, 30], [18_100, 8_960, 70]),
        codex("event_msg", &json!({"type": "thread_rolled_back", "num_turns": 1})),
        codex("turn_context", &json!({"model": "gpt-5.2-mini"})),
        said("user", "Read it."),
        said("assistant", "Read."),
        counted([9_200, 0, 20], [27_300, 8_960, 90]),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let found = read_text("rollout.jsonl", &text).unwrap();
    let billed =
        |one: &Conversation| one.billed.iter().map(|b| (b.at, b.uncached, b.read, b.output)).collect::<Vec<_>>();
    assert_eq!(billed(&found[0]), [(1, 9_000, 0, 40), (3, 9_200, 0, 20)]);
    assert_eq!(found[0].billed[1].model.as_deref(), Some("gpt-5.2-mini"));
    assert_eq!((found[1].strand, found[1].counted_elsewhere), (Strand::Branch, 1));
    assert_eq!(billed(&found[1])[1], (3, 140, 8_960, 30));
    let report = replay(&found, &options(&["everything"]), &|_| {}).unwrap();
    assert_eq!(report.runs.iter().map(|row| row.requests).sum::<u64>(), 3);
}

#[test]
fn gemini_cli_says_what_each_answer_was_billed_as() {
    let session = json!({"sessionId": "g", "projectHash": "h", "startTime": "2026-03-01T10:00:00.000Z", "messages": [
        {"id": "1", "type": "user", "timestamp": "2026-03-01T10:00:01.000Z", "content": "Read it."},
        {"id": "2", "type": "gemini", "timestamp": "2026-03-01T10:00:02.000Z", "content": "Read.", "model": "gemini-2.5-pro",
         "tokens": {"input": 12_000, "output": 20, "cached": 4_000, "thoughts": 100, "tool": 0, "total": 12_120}}]});
    let found = read_text("g.json", &session.to_string()).unwrap();
    let one = &found[0].billed[0];
    assert_eq!((one.at, one.uncached, one.read, one.output), (1, 8_000, 4_000, 120));
    assert_eq!(found[0].session.as_deref(), Some("g"));
}

#[test]
fn what_codex_bills_after_an_interrupted_answer_is_the_next_answers() {
    let lines = [
        codex("turn_context", &json!({"model": "gpt-5.2"})),
        said("user", "List the files."),
        said("assistant", "One"),
        said("user", "Only those in src."),
        codex("response_item", &json!({"type": "function_call", "name": "ls", "arguments": "{}", "call_id": "c"})),
        codex("response_item", &json!({"type": "function_call_output", "call_id": "c", "output": "lib.rs"})),
        counted([9_000, 0, 40], [9_000, 0, 40]),
        said("assistant", "One file."),
        counted([9_100, 8_960, 30], [18_100, 8_960, 70]),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let found = read_text("rollout.jsonl", &text).unwrap();
    let billed: Vec<_> = found[0].billed.iter().map(|one| (one.at, one.output)).collect();
    assert_eq!(billed, [(3, 40), (5, 30)]);
}

#[test]
fn what_codex_says_for_the_user_is_no_turn_that_is_rolled_back() {
    let rolled_back = |turns: usize| {
        let lines = [
            said("user", "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"),
            said("user", "<environment_context>\n<cwd>/work</cwd>\n</environment_context>"),
            said("user", "List the files."),
            said("assistant", "One file."),
            said("user", "Read it."),
            said("assistant", "It says"),
            said("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"),
            codex("event_msg", &json!({"type": "thread_rolled_back", "num_turns": turns})),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        read_text("rollout.jsonl", &text).unwrap()[0].messages.len()
    };
    // More turns than there are leave what stood before the first.
    assert_eq!([0, 1, 2, 3].map(rolled_back), [7, 4, 2, 2]);
}

#[test]
fn what_stands_in_a_conversation_that_nobody_asked_for_counts_where_it_is_asked_for() {
    let mut session = Session::new("twelve");
    let end = session.turns(&["a", "b", "c"], "claude-opus-4-5", (None, 0, 0), &padding());
    let old = session.text();
    session.turns(&["d", "e"], "claude-opus-4-5", (Some(end.0), end.1, end.2), &padding());
    let resumed = session.text().replace("/work/shop", "/work/bakery");
    let sources =
        [("x.jsonl", old), ("y.jsonl", resumed)].map(|(name, text)| Source::Text { name: name.to_owned(), text });
    let mut options = options(&["everything"]);
    options.selection.project = Some("/work/bakery".to_owned());
    let report = replay_files(&sources, &options, &|_| {}).unwrap();
    assert_eq!((report.runs.len(), report.runs[0].requests, report.copies), (1, 5, 0));
}

/// Takes the bills of some answers away.
fn unbilled(mut session: Session, answers: &[&str]) -> Session {
    for line in &mut session.lines {
        if answers.iter().any(|name| line["message"]["id"] == format!("msg_{name}")) {
            line["message"]["usage"] = Value::Null;
        }
    }
    session
}

#[test]
fn a_session_was_paid_only_where_all_of_its_requests_were_billed() {
    let mut session = Session::new("ten");
    session.turns(&["a", "b", "c"], "claude-opus-4-5", (None, 0, 0), &padding());
    let partly = unbilled(session, &["b"]);
    let mut whole = Session::new("eleven");
    whole.turns(&["d", "e"], "claude-opus-4-5", (None, 0, 0), &padding());
    let alone = of_texts(&[("ten.jsonl", partly.text())]);
    assert!(rows(&alone, "everything")[0].recorded_usd.is_some());
    assert_eq!(alone.sessions[0].recorded_usd, None);
    assert!(page(&alone).contains("is the usual bill") && !page(&alone).contains("were paid"));
    assert!(session_table(&alone, 5).contains("usual") && !session_table(&alone, 5).contains('~'));
    let both = of_texts(&[("ten.jsonl", partly.text()), ("eleven.jsonl", whole.text())]);
    assert!(!page(&both).contains("were paid"));
    let text = session_table(&both, 5);
    let line = |start: &str| text.lines().find(|line| line.contains(start)).unwrap_or_default().to_owned();
    assert!(text.lines().next().unwrap().contains(" paid"), "{text}");
    assert!(line("shop ten").contains(" ~$") && !line("shop eleven").contains('~'), "{text}");
    assert!(text.lines().any(|line| line.starts_with('~')) && text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn the_first_bill_of_a_model_says_how_far_the_cache_reaches() {
    let mut session = Session::new("thirteen");
    session.turns(&["a", "b", "c", "d", "e"], "claude-opus-4-5", (None, 0, 0), &padding());
    let report = of_texts(&[("thirteen.jsonl", unbilled(session, &["a", "b"]).text())]);
    let quotient = rows(&report, "everything")[0].simulated_over_recorded.unwrap();
    assert!((quotient - 1.0).abs() < 0.02, "{quotient}");
    // Where nothing stands before it, system and tools are all that can be read.
    let mut session = Session::new("fourteen");
    session.turns(&["f", "g"], "claude-opus-4-5", (None, 0, OVERHEAD + 2_000), &padding());
    let report = of_texts(&[("fourteen.jsonl", session.text())]);
    let row = rows(&report, "everything")[0];
    assert!(row.detail.series[0].read >= row.conditions.overhead_tokens, "{:?}", row.detail.series);
}

#[test]
fn everything_is_its_own_best_plan_however_far_the_cache_reached() {
    for (name, kept) in [("fifteen", OVERHEAD), ("sixteen", OVERHEAD + (3 + padding().len() as u64) * 13 / 40)] {
        let mut session = Session::new(name);
        let (parent, chars, _) = session.turns(&["a", "b", "c", "d"], "claude-opus-4-5", (None, 0, 0), &padding());
        session.turns(&["e", "f"], "claude-opus-4-5", (Some(parent), chars, kept), &padding());
        let report = of_texts(&[("record.jsonl", session.text())]);
        let regret = rows(&report, "everything")[0].regret.unwrap();
        assert!((regret - 1.0).abs() < 1e-9, "{name}: {regret}");
    }
}
