//! What is worth keeping of words: what somebody asked, concluded or demanded, and what decides an output.

use super::names::key;
use crate::wire::{Message, PartKind};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::OnceLock;

/// Characters of a line that are kept of a command and of what decides its output.
const FIRST_LINE_CHARS: usize = 120;
const DECISIVE_CHARS: usize = 200;
/// How near to the ends of a result the code stands that a command ended with.
const EXIT_CODE_WITHIN: usize = 400;
/// Of a longer text only so much is looked at.
const LOOKED_AT: usize = 8_192;
/// The shortest and the longest line that says something by itself.
const SAYING: Range<usize> = 24..600;
/// Characters of a line that announces a list, with the list.
const LIST_CHARS: usize = 480;
/// Of a text one conclusion is taken, and one more for each of so many characters.
const CHARS_A_CONCLUSION: usize = 1_000;
/// Requirements that are taken from one text.
const REQUIREMENTS_OF_A_TEXT: usize = 8;

/// What texts begin with that a client puts among the user's words, and nobody asked.
const NOISE: [&str; 16] = [
    "<system-reminder",
    "<command-",
    "<local-command",
    "<environment_context",
    "<user_instructions",
    "<permissions",
    "<INSTRUCTIONS",
    "<skill",
    "<turn_aborted",
    "<subagent",
    "<bash-",
    "# AGENTS.md instructions",
    "Caveat: ",
    "[Request interrupted",
    "Base directory for this skill",
    "Your questions have been answered",
];

/// Signs of a conclusion, and what each counts: a cause or a decision more than an outcome or something open.
const CONCLUDES: [(&str, u32); 41] = [
    ("because", 3),
    ("root cause", 3),
    ("caused by", 3),
    ("the reason", 3),
    ("the issue is", 3),
    ("the problem is", 3),
    ("the bug", 3),
    ("the fix", 2),
    ("turns out", 3),
    ("that's why", 3),
    ("instead of", 2),
    ("rather than", 2),
    ("decided", 3),
    ("we should", 2),
    ("not yet", 3),
    ("remaining", 3),
    ("still ", 2),
    ("blocked", 3),
    ("committed", 3),
    ("pushed", 2),
    ("merged", 2),
    ("confirmed", 2),
    ("found", 1),
    ("means", 1),
    ("does not", 1),
    ("doesn't", 1),
    ("didn't", 1),
    ("cannot", 1),
    ("can't", 1),
    ("no longer", 2),
    ("now ", 1),
    ("fixed", 2),
    ("works", 1),
    ("pass", 1),
    ("fail", 1),
    ("complete", 1),
    ("implemented", 2),
    ("added", 1),
    ("removed", 1),
    ("need", 1),
    ("only ", 1),
];

/// What a sentence begins with that only announces the next step.
const ANNOUNCES: [&str; 12] = [
    "let me ",
    "now let me",
    "now let's",
    "let's ",
    "let us ",
    "i'll ",
    "i\u{2019}ll ",
    "i will ",
    "now i'll",
    "now i need to",
    "next, i",
    "i'm going to",
];

/// Signs of a requirement.
const DEMANDS: [(&str, u32); 8] = [
    (" must ", 1),
    (" should ", 1),
    (" shall ", 1),
    (" never ", 1),
    (" required", 1),
    (" always ", 1),
    (" only if ", 1),
    ("expected", 1),
];

/// Words that make a line of an output decide: trouble, and how something ended.
const TROUBLE: [&str; 6] = ["error", "fail", "panic", "exception", "traceback", "not found"];
const ENDS: [&str; 10] =
    ["passed", "failed", "error", "warning", "success", "finished", "tests", "built", "created", "no issues"];

/// How outputs say with which code a command ended.
const EXIT_CODES: [&str; 5] = ["exited with code ", "exit code: ", "exit code ", "<returncode>", "\"exit_code\":"];

/// Commands that only look: what they showed is quoted where it is worth it.
const LOOKS: [&str; 22] = [
    "ls", "cat", "head", "tail", "grep", "rg", "find", "sed", "wc", "pwd", "echo", "which", "tree", "nl", "awk",
    "less", "file", "stat", "sort", "printf", "type", "sleep",
];
/// What of git only looks.
const GIT_LOOKS: [&str; 8] = ["status", "log", "diff", "show", "branch", "blame", "ls-files", "grep"];

/// A line of a text that says something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) message: usize,
    pub(super) part: usize,
    /// Where it stands in the decoded text of the part.
    pub(super) start: usize,
    pub(super) len: usize,
    /// What its signs count.
    pub(super) score: u32,
    /// What its words are known by.
    pub(super) key: u64,
}

impl Passage {
    fn new(message: usize, part: usize, start: usize, line: &str, score: u32) -> Self {
        Self { message, part, start, len: line.len(), score, key: key(line) }
    }
}

/// Whether a text among the user's words is a client's own.
pub(super) fn is_noise(text: &str) -> bool {
    let text = text.trim_start();
    NOISE.iter().any(|start| text.starts_with(start))
}

static CONCLUDING: Signs<41> = Signs::new(&CONCLUDES);
static DEMANDING: Signs<8> = Signs::new(&DEMANDS);

/// Calls `each` with the lines of a text that conclude most, if some do: one, and more of a long text.
pub(super) fn conclusions(text: &str, message: usize, part: usize, each: impl FnMut(Passage)) {
    let most = 1 + text.len().min(LOOKED_AT) / CHARS_A_CONCLUSION;
    let told = CONCLUDING.tell(text).into_iter();
    let mut found: Vec<Passage> = told
        .filter_map(|Telling { start, line, score }| {
            let (skipped, kept) = without_announcements(line);
            let score = if kept.len() == line.len() { score } else { CONCLUDING.score_of(kept) };
            let start = start + skipped;
            let kept = if kept.ends_with(':') { with_list(text, start, kept.len()) } else { kept };
            (score > 0 && kept.len() >= SAYING.start).then(|| Passage::new(message, part, start, kept, score))
        })
        .collect();
    found.sort_by_key(|passage| (std::cmp::Reverse(passage.score), passage.start));
    found.truncate(most);
    found.sort_by_key(|passage| passage.start);
    found.into_iter().for_each(each);
}

/// A line that announces a list, and the items below it as far as they are short enough.
fn with_list(text: &str, start: usize, len: usize) -> &str {
    let mut end = start + len;
    for line in text[end..].split_inclusive('\n').skip(1) {
        if !(line.trim().is_empty() || is_listed(line.trim())) || end + 1 + line.len() - start > LIST_CHARS {
            break;
        }
        end += line.len();
    }
    text.get(start..end + 1).unwrap_or(&text[start..end]).trim_end()
}

/// A line without the sentences at its ends that only announce what comes next, and how much of its start that leaves out.
fn without_announcements(line: &str) -> (usize, &str) {
    let (mut start, mut end) = (0, line.len());
    while let Some(next) = sentence_end(&line[start..end]).filter(|_| announces(&line[start..end])) {
        start += next;
    }
    while let Some(last) = last_sentence(&line[start..end]).filter(|last| announces(&line[start + last..end])) {
        end = start + last;
    }
    if announces(&line[start..end]) {
        return (start, "");
    }
    (start, line[start..end].trim_end())
}

fn announces(sentence: &str) -> bool {
    ANNOUNCES.iter().any(|begin| sentence.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin)))
}

/// Where the second sentence begins.
fn sentence_end(text: &str) -> Option<usize> {
    [". ", "! ", "? "].iter().filter_map(|end| text.find(end)).min().map(|at| at + 2)
}

/// Where the last sentence begins that is not the first.
fn last_sentence(text: &str) -> Option<usize> {
    [". ", "! ", "? "].iter().filter_map(|end| text.rfind(end)).max().map(|at| at + 2)
}

/// Calls `each` with the first lines of a text that demand something. Of what a program printed only lists count: its
/// sentences are about itself.
pub(super) fn requirements(text: &str, message: usize, part: usize, is_printed: bool, each: impl FnMut(Passage)) {
    let counts = |line: &str| is_sentence(line) && (!is_printed || is_listed(line));
    let demanding = DEMANDING.tell(text).into_iter().filter(|found| counts(found.line));
    let passages = demanding.map(|Telling { start, line, score }| Passage::new(message, part, start, line, score));
    passages.take(REQUIREMENTS_OF_A_TEXT).for_each(each);
}

/// Whether a line is an item of a list.
fn is_listed(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    is_numbered || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
}

/// Whether a text may have [`requirements`], told by the start of it as it is written in JSON: most need not be decoded.
pub(super) fn may_demand(raw: &str) -> bool {
    // A letter or a space is escaped by its number alone, and any other escape takes two bytes for one.
    let looked_at = start_of(raw, 2 * LOOKED_AT);
    memchr::memmem::find(looked_at.as_bytes(), b"\\u").is_some() || DEMANDING.are_in(looked_at)
}

/// A line that is neither too short nor too long to say something, where it starts, and what its signs count.
struct Telling<'t> {
    start: usize,
    line: &'t str,
    score: u32,
}

/// Words that lines are looked through for, whatever their case, and what each counts. At most 64.
struct Signs<const N: usize> {
    words: &'static [(&'static str, u32); N],
    finders: OnceLock<[Finder<'static>; N]>,
}

impl<const N: usize> Signs<N> {
    const fn new(words: &'static [(&'static str, u32); N]) -> Self {
        Self { words, finders: OnceLock::new() }
    }

    fn finders(&self) -> &[Finder<'static>; N] {
        self.finders.get_or_init(|| self.words.map(|(word, _)| Finder::new(word.as_bytes())))
    }

    fn are_in(&self, text: &str) -> bool {
        let lower = text.as_bytes().to_ascii_lowercase();
        self.finders().iter().any(|finder| finder.find(&lower).is_some())
    }

    /// The lines of a text that have any, in order. The text is looked through as a whole: few lines have one.
    fn tell<'t>(&self, text: &'t str) -> Vec<Telling<'t>> {
        let text = start_of(text, LOOKED_AT);
        let lower = text.as_bytes().to_ascii_lowercase();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (sign, finder) in self.finders().iter().enumerate() {
            found.extend(overlapping(finder, &lower).map(|at| (at, sign)));
        }
        found.sort_unstable();
        let (mut telling, mut passed) = (Vec::new(), 0);
        for (at, _) in &found {
            if *at < passed {
                continue;
            }
            let start = memchr::memrchr(b'\n', &lower[..*at]).map_or(0, |before| before + 1);
            let end = memchr::memchr(b'\n', &lower[*at..]).map_or(lower.len(), |behind| at + behind);
            passed = end;
            let line = text[start..end].trim();
            let start = start + (text[start..end].len() - text[start..end].trim_start().len());
            if SAYING.contains(&line.len()) {
                let score = self.score(&found, start..start + line.len());
                telling.extend((score > 0).then_some(Telling { start, line, score }));
            }
        }
        telling
    }

    /// What the signs of a line count.
    fn score_of(&self, line: &str) -> u32 {
        let lower = line.as_bytes().to_ascii_lowercase();
        let counts = self.finders().iter().zip(self.words).filter(|(finder, _)| finder.find(&lower).is_some());
        counts.map(|(_, (_, counts))| counts).sum()
    }

    /// What the signs within a range count.
    fn score(&self, found: &[(usize, usize)], range: Range<usize>) -> u32 {
        let first = found.partition_point(|(at, _)| *at < range.start);
        let within = found[first..].iter().take_while(|(at, _)| *at < range.end);
        let whole = within.filter(|(at, sign)| at + self.words[*sign].0.len() <= range.end);
        let seen = whole.fold(0_u64, |seen, (_, sign)| seen | 1 << sign);
        self.words.iter().enumerate().filter(|(sign, _)| seen >> sign & 1 == 1).map(|(_, (_, counts))| counts).sum()
    }
}

/// Everywhere that a word stands: one that begins with the space that another ends with counts, too.
pub(super) fn overlapping<'h>(finder: &'h Finder<'h>, haystack: &'h [u8]) -> impl Iterator<Item = usize> + 'h {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(&haystack[from..])?;
        from = at + 1;
        Some(at)
    })
}

/// Whether a line is made of words rather than code.
fn is_sentence(line: &str) -> bool {
    let words =
        line.split(' ').filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')).count();
    let is_code = line.contains(['{', '}', ';']) || line.ends_with(':') && line.contains('(');
    !is_code && words >= 5 && words * 2 > line.split(' ').count()
}

/// As much of a text as fits, ending with a sentence or a line where one ends in its second half, else with a word.
pub(super) fn cut_at_end(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let start = start_of(text, most);
    let ends = ["\n", ". ", "? ", "! ", "; "].iter().filter_map(|end| Some(start.rfind(end)? + end.trim_end().len()));
    let cut = match ends.max().filter(|end| *end >= most / 2).or_else(|| start.rfind(char::is_whitespace)) {
        Some(end) => start[..end].trim_end(),
        None => start,
    };
    without_bare_mark(cut)
}

/// A text without a last line that is nothing but the mark of a list's item.
fn without_bare_mark(text: &str) -> &str {
    match text.rsplit_once('\n') {
        Some((before, last)) if !last.contains(|c: char| c.is_alphabetic()) => before.trim_end(),
        _ => text,
    }
}

/// At most so many bytes of a text.
fn start_of(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The start of the first line of a command.
pub(super) fn first_line(command: &str) -> &str {
    cut_at_end(command.trim().lines().next().unwrap_or_default(), FIRST_LINE_CHARS)
}

/// Whether a command does something, rather than look.
pub(super) fn acts(command: &str) -> bool {
    let mut quote = None;
    let ends_step = |c: char| {
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && matches!(c, '|' | ';' | '&' | '\n')
    };
    let steps = command.split(ends_step).map(str::trim).filter(|step| !step.is_empty());
    steps.map(|step| step.split_whitespace().skip_while(|word| word.contains('='))).any(|mut words| {
        let program = words.next().unwrap_or_default();
        let program = program.rsplit('/').next().unwrap_or_default();
        match program {
            "" | "cd" => false,
            "git" => !words.any(|word| GIT_LOOKS.contains(&word)),
            "sed" => words.any(|word| word.starts_with("-i")),
            "cat" | "echo" | "printf" => step_writes(command),
            _ => !LOOKS.contains(&program),
        }
    })
}

fn step_writes(command: &str) -> bool {
    command.replace("2>", "").replace(">/dev/null", "").replace("> /dev/null", "").contains('>')
}

/// How a command ended, and the line of its result that decides: where it failed the last one that speaks of trouble,
/// else the last that says how it ended, else the last.
pub(super) fn outcome(message: &Message, at: usize) -> (&'static str, Option<String>) {
    let parts = &message.shape().parts;
    let is_text = |part: &&crate::wire::Part| part.nested && part.kind == PartKind::Text;
    let nested = parts[at + 1..].iter().take_while(|part| part.nested).filter(is_text).last();
    let text = message.text_of(nested.unwrap_or(&parts[at]));
    let failed = parts[at].is_error || exit_code(&text).is_some_and(|code| code != 0);
    let mut end = text.len().saturating_sub(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let holds = |words: &'static [&'static str]| {
        move |line: &&str| {
            let lower = line.to_ascii_lowercase();
            words.iter().any(|word| lower.contains(word))
        }
    };
    let says_something = |line: &&str| {
        line.bytes().filter(u8::is_ascii_alphanumeric).count() > 2
            && !line.starts_with('<')
            && !line.ends_with("utput:")
    };
    let lines = || text[end..].lines().rev().map(str::trim).filter(says_something);
    let words: &'static [&'static str] = if failed { &TROUBLE } else { &ENDS };
    let line = lines().find(holds(words)).or_else(|| lines().next());
    (if failed { "failed" } else { "done" }, line.map(|line| cut_at_end(line, DECISIVE_CHARS).to_owned()))
}

/// The code that a command ended with, where its result's first or last words say it.
fn exit_code(text: &str) -> Option<u32> {
    let mut last = text.len().saturating_sub(EXIT_CODE_WITHIN);
    while !text.is_char_boundary(last) {
        last += 1;
    }
    [start_of(text, EXIT_CODE_WITHIN), &text[last..]].into_iter().find_map(|place| {
        let lower = place.to_ascii_lowercase();
        EXIT_CODES.iter().find_map(|sign| {
            let code = lower[lower.find(sign)? + sign.len()..].trim_start();
            let digits = code.find(|c: char| !c.is_ascii_digit()).unwrap_or(code.len());
            code[..digits].parse().ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_sentence_ends() {
        assert_eq!(cut_at_end("One thing. Another thing follows here.", 20), "One thing.");
        assert_eq!(cut_at_end("no end anywhere in sight", 14), "no end");
        assert_eq!(cut_at_end("short", 14), "short");
        assert_eq!(cut_at_end("How it works:\n1. Watch the file.", 16), "How it works:");
        assert_eq!(cut_at_end("ééééééé", 5), "éé");
    }

    #[test]
    fn the_line_that_concludes_most_is_found_where_it_stands() {
        let text = "Let me look at it.\n  The root cause is that the parser fails, because it reads twice.\nOk.";
        let mut found = Vec::new();
        conclusions(text, 3, 1, |passage| found.push(passage));
        let [passage] = found[..] else { panic!("{found:?}") };
        let quoted = &text[passage.start..passage.start + passage.len];
        assert_eq!(quoted, "The root cause is that the parser fails, because it reads twice.");
    }

    #[test]
    fn demands_are_sentences_and_no_code() {
        let text = "The parser must keep every comment of the file.\nif (x should y) { return must_have; }\nshould be";
        let mut found = Vec::new();
        requirements(text, 0, 0, false, |passage| found.push(passage.start));
        assert_eq!(found, [0]);
    }

    #[test]
    fn what_only_announces_the_next_step_concludes_nothing() {
        let kept = |line| without_announcements(line).1;
        assert_eq!(kept("That is the bug: it reads twice. Let me fix that now."), "That is the bug: it reads twice.");
        assert_eq!(kept("Let me see. The cache is still cold. I'll warm it."), "The cache is still cold.");
        assert_eq!(kept("Now let me check whether it works now"), "");
        let text = "I'll look. It fails because the lock is taken twice. Let me mend it.";
        let mut found = Vec::new();
        conclusions(text, 0, 0, |passage| found.push(&text[passage.start..passage.start + passage.len]));
        assert_eq!(found, ["It fails because the lock is taken twice."]);
    }

    #[test]
    fn a_conclusion_that_announces_a_list_has_the_list() {
        let text = "Done.\n\nThe remaining tasks are:\n- write the page\n- test it\n\nBye.";
        let mut found = Vec::new();
        conclusions(text, 0, 0, |passage| found.push(&text[passage.start..passage.start + passage.len]));
        assert_eq!(found, ["The remaining tasks are:\n- write the page\n- test it"]);
    }

    #[test]
    fn what_a_program_prints_demands_only_in_lists() {
        let text = "The pattern can never match the type here.\n- The helper must never raise an error here.";
        let found = |is_printed| {
            let mut found = Vec::new();
            requirements(text, 0, 0, is_printed, |passage| found.push(passage.start));
            found
        };
        assert_eq!((found(false).len(), found(true)), (2, vec![43]));
    }

    #[test]
    fn commands_that_only_look_are_told_from_those_that_act() {
        let looks =
            ["ls -la", "cd x && grep -n 'y\\|z' w | head", "sed -n '1,2p' f", "git log", "A=1 cat a 2>/dev/null"];
        let does =
            ["cargo test", "cd x && npm run build 2>&1 | tail -3", "sed -i s/a/b/ f", "git commit -m x", "cat > f"];
        assert_eq!(looks.map(acts), [false; 5]);
        assert_eq!(does.map(acts), [true; 5]);
    }

    #[test]
    fn a_command_failed_where_its_output_says_so() {
        assert_eq!(exit_code("Exit code: 101\nOutput:\nx"), Some(101));
        assert_eq!(exit_code("<returncode>0</returncode>"), Some(0));
        assert_eq!(exit_code("Process exited with code 2"), Some(2));
        assert_eq!(exit_code("nothing of the kind"), None);
    }

    #[test]
    fn what_a_client_puts_in_is_no_request() {
        assert!(is_noise("<system-reminder>\nx") && is_noise(" Caveat: The messages below") && !is_noise("Fix it."));
    }
}
