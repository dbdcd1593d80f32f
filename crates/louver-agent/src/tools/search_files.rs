use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

use louver::display::truncate;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::lines::{Line, next_line};
use super::off_thread::off_thread;
use super::refusal::{Refusal, visible};
use super::root::problem;
use super::root_path::RootPath;
use super::walk::{Kind, SKIPPED, Walk};
use super::{Limits, Root, Tool, ToolDefinition, ToolOutput};

/// `search_files`: the lines that have a text in them, or match a regular expression.
#[derive(Debug, Clone)]
pub struct SearchFiles {
    root: Root,
    limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    pattern: String,
    path: Option<String>,
    regex: Option<bool>,
    ignore_case: Option<bool>,
}

const MAX_PATTERN_BYTES: usize = 1_000;
/// A compiled pattern may take this much; matching takes time in proportion to its size, too.
const MAX_PATTERN_MEMORY: usize = 256 << 10;
/// Only this much of a line is searched, so that one line cannot take forever.
const MAX_LINE_BYTES: usize = 64 << 10;
const SHOWN_CHARACTERS: usize = 300;

/// A search under way.
#[derive(Debug)]
struct Search {
    pattern: Regex,
    hits: usize,
    max_hits: usize,
    bytes_left: u64,
    deadline: Instant,
    is_late: bool,
    has_long_lines: bool,
    text: String,
}

impl SearchFiles {
    /// Searches files below `root`.
    pub fn new(root: Root, limits: Limits) -> Self {
        Self { root, limits }
    }

    fn search(&self, request: &Request) -> Result<ToolOutput, Refusal> {
        let path = self.root.parse(request.path.as_deref().unwrap_or("."))?;
        let mut search = Search {
            pattern: compile(request)?,
            hits: 0,
            max_hits: self.limits.hits,
            bytes_left: self.limits.scan_bytes,
            deadline: Instant::now() + self.limits.search_time,
            is_late: false,
            has_long_lines: false,
            text: String::new(),
        };
        let metadata = self.root.dir().metadata(path.as_path()).map_err(|error| problem(&path, &error))?;
        let stop = if metadata.is_dir() {
            let mut walk = Walk::new(&self.root, &path, &self.limits, true)?;
            while !search.is_over()
                && let Some(entry) = walk.next()
            {
                if entry.kind == Kind::File {
                    search.file(&self.root, &entry.path);
                }
            }
            walk.stop()
        } else {
            self.root.open_file(&path)?;
            search.file(&self.root, &path);
            None
        };
        Ok(ToolOutput::text(search.finish(stop)))
    }
}

fn compile(request: &Request) -> Result<Regex, Refusal> {
    let pattern = &request.pattern;
    if pattern.is_empty() {
        return Err(Refusal::new("the pattern is empty; give a text to look for"));
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        let length = pattern.len();
        let reason = format!("the pattern has {length} bytes, more than {MAX_PATTERN_BYTES}; use a shorter one");
        return Err(Refusal::new(reason));
    }
    if pattern.contains(['\n', '\r']) {
        return Err(Refusal::new("files are searched line by line; look for one line of the pattern at a time"));
    }
    let is_regex = request.regex.unwrap_or(false);
    let source = if is_regex { pattern.clone() } else { regex::escape(pattern) };
    RegexBuilder::new(&source)
        .case_insensitive(request.ignore_case.unwrap_or(false))
        .size_limit(MAX_PATTERN_MEMORY)
        .dfa_size_limit(1 << 20)
        .nest_limit(100)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                Refusal::new("the pattern is too big when its repetitions are written out; use smaller ones")
            }
            error => Refusal::new(format!("the pattern is no regular expression: {error}")),
        })
}

impl Search {
    fn is_over(&self) -> bool {
        self.hits >= self.max_hits || self.bytes_left == 0 || self.is_late
    }

    /// Searches a file. One that cannot be read, or is binary, has no hits.
    fn file(&mut self, root: &Root, path: &RootPath) {
        let Ok(file) = root.open_file(path) else { return };
        let mut reader = BufReader::new(file.take(self.bytes_left));
        if reader.fill_buf().map_or(true, |start| start.contains(&0)) {
            return;
        }
        let mut line = Vec::new();
        let mut number = 0u64;
        let mut unchecked_bytes = 0;
        while !self.is_over() {
            line.clear();
            match next_line(&mut reader, &mut line, MAX_LINE_BYTES) {
                Ok(Line::Whole) => {}
                Ok(Line::Cut) => self.has_long_lines = true,
                Ok(Line::End) | Err(_) => break,
            }
            number += 1;
            self.line(path, number, &line);
            unchecked_bytes += line.len();
            if unchecked_bytes >= MAX_LINE_BYTES {
                unchecked_bytes = 0;
                self.is_late = Instant::now() >= self.deadline;
            }
        }
        self.bytes_left = reader.get_ref().limit();
    }

    fn line(&mut self, path: &RootPath, number: u64, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(found) = self.pattern.find(line) else { return };
        self.hits += 1;
        self.text.push_str(&format!("{path}:{number}: {}\n", shown(line, found.start())));
    }

    fn finish(mut self, stop: Option<&str>) -> String {
        if self.hits == 0 {
            self.text.push_str("[nothing was found]\n");
        }
        if self.hits >= self.max_hits {
            let hits = self.hits;
            self.text.push_str(&format!("[the search ended after {hits} lines; use a narrower pattern or path]\n"));
        } else if self.is_late && stop.is_none() {
            self.text.push_str("[not everything was searched: it took too long; use a simpler pattern or path]\n");
        } else if self.bytes_left == 0 {
            self.text.push_str("[not everything was searched: there is too much text; give a narrower path]\n");
        }
        if let Some(reason) = stop {
            self.text.push_str(&format!("[not everything was searched: {reason}; give a narrower path]\n"));
        }
        if self.has_long_lines {
            self.text.push_str(&format!("[only the first {MAX_LINE_BYTES} bytes of longer lines were searched]\n"));
        }
        self.text
    }
}

/// The line, or the part of a long one around what was found.
fn shown(line: &[u8], found: usize) -> String {
    let is_long = line.len() > SHOWN_CHARACTERS;
    let start = if is_long { found.saturating_sub(SHOWN_CHARACTERS / 3) } else { 0 };
    let text = String::from_utf8_lossy(&line[start..]);
    let shown = truncate(&text, SHOWN_CHARACTERS);
    let part: String = shown.chars().flat_map(printable).collect();
    let (before, after) = (if start > 0 { "..." } else { "" }, if shown.len() < text.len() { "..." } else { "" });
    format!("{before}{part}{after}")
}

/// Code is indented with tabs; other control characters are escaped.
fn printable(character: char) -> impl Iterator<Item = char> {
    let tab = (character == '\t').then_some('\t');
    let other = (character != '\t').then(|| visible(character));
    tab.into_iter().chain(other.into_iter().flatten())
}

#[async_trait::async_trait]
impl Tool for SearchFiles {
    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Finds lines in text files, shown as path:line: text, in the order of the paths. The pattern is plain text \
             unless regex is true. Folders named {} are left out unless the path is inside one. At most {} lines.",
            SKIPPED.join(", "),
            self.limits.hits
        );
        let properties = json!({
            "pattern": {"type": "string", "description": "What to look for, within one line."},
            "path": {"type": "string", "description": "A file or folder, relative to the root; all of it if left out."},
            "regex": {"type": "boolean", "description": "Whether the pattern is a regular expression (Rust syntax)."},
            "ignore_case": {"type": "boolean", "description": "Whether upper and lower case are the same."},
        });
        ToolDefinition::new("search_files", &description, &properties, &["pattern"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        off_thread(self, arguments, Self::search).await
    }
}
