//! YAML as a tree that knows its lines.

use super::Problem;
use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use std::borrow::Cow;

/// Blocks within blocks; a configuration has four.
const MAX_DEPTH: usize = 32;

/// A value and the line it starts on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

/// What a file may say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Whole(i128),
    Fraction(f64),
    Text(String),
    List(Vec<Node>),
    Block(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) line: usize,
    pub(super) key: String,
    pub(super) node: Node,
}

impl Value {
    /// What it is called in an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "true or false",
            Self::Whole(_) => "a whole number",
            Self::Fraction(_) => "a fraction",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Block(_) => "a block of keys",
        }
    }
}

/// Reads one document. A file that is not YAML has one problem: where it stops being YAML.
pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    let mut reader = Reader { events: Parser::new_from_str(text), depth: 0 };
    let (line, event) = reader.next()?;
    if event == Event::StreamEnd {
        return Ok(Node { line, value: Value::Null });
    }
    let (line, event) = reader.next()?;
    let node = reader.node(line, event)?;
    match reader.next()? {
        (_, Event::StreamEnd) => Ok(node),
        (line, _) => Err(problem(line, "a configuration is one document, but a second one starts here")),
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// The next event that says something.
    fn next(&mut self) -> Result<(usize, Event<'t>), Problem> {
        loop {
            match self.events.next() {
                Some(Ok((Event::StreamStart | Event::DocumentEnd | Event::Nothing, _))) => {}
                Some(Ok((event, span))) => return Ok((span.start.line(), event)),
                Some(Err(error)) => {
                    return Err(problem(error.marker().line(), format!("not YAML: {}", error.info())));
                }
                None => return Ok((1, Event::StreamEnd)),
            }
        }
    }

    fn node(&mut self, line: usize, event: Event<'t>) -> Result<Node, Problem> {
        let value = match event {
            Event::Scalar(text, style, _, tag) => match (style, tag) {
                (ScalarStyle::Plain, None) => plain(&text),
                _ => Value::Text(text.into_owned()),
            },
            Event::SequenceStart(..) => self.list(line)?,
            Event::MappingStart(..) => self.block(line)?,
            Event::Alias(_) => return Err(problem(line, "aliases are not read here: write the value out")),
            _ => return Err(problem(line, "expected a value")),
        };
        Ok(Node { line, value })
    }

    fn list(&mut self, line: usize) -> Result<Value, Problem> {
        self.enter(line)?;
        let mut elements = Vec::new();
        loop {
            let (line, event) = self.next()?;
            if event == Event::SequenceEnd {
                self.depth -= 1;
                return Ok(Value::List(elements));
            }
            elements.push(self.node(line, event)?);
        }
    }

    fn block(&mut self, line: usize) -> Result<Value, Problem> {
        self.enter(line)?;
        let mut entries = Vec::new();
        loop {
            let (line, event) = self.next()?;
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(key, ..) => key.into_owned(),
                _ => return Err(problem(line, "a key must be a word")),
            };
            let (value_line, event) = self.next()?;
            let node = self.node(value_line, event)?;
            entries.push(Entry { line, key, node });
        }
        self.depth -= 1;
        Ok(Value::Block(entries))
    }

    fn enter(&mut self, line: usize) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(problem(line, "nested deeper than any configuration"));
        }
        Ok(())
    }
}

/// A plain scalar by YAML's core rules.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    if let Some(whole) = whole(text) {
        return Value::Whole(whole);
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text.parse() {
        Ok(fraction) if is_number => Value::Fraction(fraction),
        _ => Value::Text(text.to_owned()),
    }
}

fn whole(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return i128::from_str_radix(digits, 8).ok();
    }
    text.parse().ok()
}

fn problem(line: usize, message: impl Into<Cow<'static, str>>) -> Problem {
    Problem { line, path: String::new(), message: message.into().into_owned() }
}
