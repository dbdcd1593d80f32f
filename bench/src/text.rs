//! What agents and tools say: prose, code, listings and JSON, with the escapes and the few foreign letters of real ones.

use crate::Random;
use louver::json::text::encode;
use std::fmt::Write as _;

const WORDS: &[&str] = &[
    "the",
    "parser",
    "reads",
    "each",
    "request",
    "before",
    "we",
    "check",
    "whether",
    "it",
    "fits",
    "and",
    "then",
    "returns",
    "an",
    "error",
    "with",
    "path",
    "of",
    "value",
    "so",
    "that",
    "tests",
    "can",
    "compare",
    "them",
    "next",
    "step",
    "is",
    "to",
    "look",
    "at",
    "configuration",
    "file",
    "because",
    "default",
    "timeout",
    "seems",
    "too",
    "short",
    "naïve",
    "café",
    "Größe",
    "→",
];

const NAMES: &[&str] = &["index", "buffer", "request", "session", "user_id", "retry", "payload", "offset", "headers"];

const FILES: &[&str] = &["src/main.rs", "src/server/http.rs", "lib/cache.py", "tests/test_api.py", "README.md"];

/// Sentences of about so many characters.
#[must_use]
pub fn prose(random: &mut Random, chars: usize) -> String {
    let mut text = String::with_capacity(chars + 16);
    let mut since_stop = 0;
    while text.len() < chars {
        text.push_str(random.pick(WORDS));
        since_stop += 1;
        if since_stop > 8 && random.below(4) == 0 {
            text.push_str(if random.below(5) == 0 { ".\n\n" } else { ". " });
            since_stop = 0;
        } else {
            text.push(' ');
        }
    }
    text
}

/// The arguments of a tool call, as JSON.
#[must_use]
pub fn arguments(random: &mut Random) -> String {
    let path = random.pick(FILES);
    match random.below(3) {
        0 => format!(r#"{{"path":"{path}","offset":{},"limit":200}}"#, random.below(4000)),
        1 => format!(r#"{{"command":"grep -rn \"{}\" {path} | head -{}"}}"#, random.pick(NAMES), random.below(90) + 10),
        _ => {
            let (old, new) = (code(random, 120), code(random, 160));
            format!(r#"{{"path":"{path}","old":{},"new":{}}}"#, encode(&old), encode(&new))
        }
    }
}

/// What a tool answers, about so many characters.
#[must_use]
pub fn tool_output(random: &mut Random, chars: usize) -> String {
    match random.below(5) {
        0 | 1 => code(random, chars),
        2 => json(random, chars),
        3 => listing(random, chars),
        _ => prose(random, chars),
    }
}

fn code(random: &mut Random, chars: usize) -> String {
    let mut text = String::with_capacity(chars + 80);
    let mut line = random.below(300);
    while text.len() < chars {
        let (a, b) = (random.pick(NAMES), random.pick(NAMES));
        let indent = "    ".repeat(1 + random.below(3));
        let _ = match random.below(5) {
            0 => writeln!(text, "{indent}if {a}.is_empty() {{\n{indent}    return Err(\"no {b}\".into());\n{indent}}}"),
            1 => writeln!(text, "{indent}let {a} = self.{b}.get(\"{a}\").copied().unwrap_or_default();"),
            2 => writeln!(text, "{indent}// {}", prose(random, 50).trim()),
            3 => writeln!(text, "{line:>5}\tfor {a} in &mut {b} {{"),
            _ => writeln!(text, "{indent}self.{a}.insert({b}.len(), '\\n');"),
        };
        line += 1;
    }
    text
}

fn json(random: &mut Random, chars: usize) -> String {
    let mut text = String::from("{\n  \"items\": [\n");
    while text.len() < chars {
        let (name, file) = (random.pick(NAMES), random.pick(FILES));
        let _ = writeln!(
            text,
            "    {{\"name\": \"{name}\", \"file\": \"{file}\", \"line\": {}, \"score\": 0.{}, \"ok\": true}},",
            random.below(2000),
            random.below(100)
        );
    }
    text.push_str("  ]\n}");
    text
}

fn listing(random: &mut Random, chars: usize) -> String {
    let mut text = String::with_capacity(chars + 80);
    while text.len() < chars {
        let (file, name) = (random.pick(FILES), random.pick(NAMES));
        let _ = writeln!(text, "{file}:{}: warning: unused `{name}` {}", random.below(900), prose(random, 30));
    }
    text
}
