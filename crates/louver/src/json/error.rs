//! What is wrong with a JSON text, and where.

use std::fmt;

/// How deep arrays and objects may be nested. Real tool arguments stay far below; recursion stays bounded.
pub const MAX_DEPTH: usize = 512;

/// A JSON text that cannot be read, with the place of the first fault.
///
/// The message is one sentence with the path of the value (where one was reached) and the byte offset:
///
/// ```
/// use louver::wire::{Body, Format};
///
/// let error = Body::parse(r#"[{"role": 7}]"#, Some(Format::OpenAiChat)).unwrap_err();
/// assert_eq!(error.to_string(), "$[0].role: expected a string, found a number (byte 10)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    problem: Problem,
    offset: usize,
    /// Innermost segment first: the error collects them on its way out.
    path: Vec<String>,
}

/// The kind of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not JSON; says what was expected.
    Syntax(&'static str),
    /// The text ends inside a value.
    UnexpectedEnd,
    /// Arrays and objects are nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// JSON, but not the shape that the wire format has here.
    Shape(String),
}

impl JsonError {
    pub(crate) fn new(problem: Problem, offset: usize) -> Self {
        Self { problem, offset, path: Vec::new() }
    }

    pub(crate) fn shape(message: impl Into<String>, offset: usize) -> Self {
        Self::new(Problem::Shape(message.into()), offset)
    }

    pub(crate) fn not_utf8(error: &std::str::Utf8Error) -> Self {
        Self::new(Problem::NotUtf8, error.valid_up_to())
    }

    pub(crate) fn inside_key(mut self, key: &str) -> Self {
        self.path.push(format!(".{key}"));
        self
    }

    pub(crate) fn inside_index(mut self, index: usize) -> Self {
        self.path.push(format!("[{index}]"));
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Where it is wrong, in bytes from the start of the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The JSON path of the innermost value that was being read, such as `$.messages[3].content`.
    #[must_use]
    pub fn path(&self) -> String {
        std::iter::once("$").chain(self.path.iter().rev().map(String::as_str)).collect()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        match &self.problem {
            Problem::Syntax(expected) => write!(f, "not JSON, expected {expected}")?,
            Problem::UnexpectedEnd => write!(f, "not JSON, the text ends inside a value")?,
            Problem::TooDeep => write!(f, "nested deeper than {} levels", MAX_DEPTH)?,
            Problem::NotUtf8 => write!(f, "not UTF-8 text")?,
            Problem::Shape(message) => write!(f, "{message}")?,
        }
        write!(f, " (byte {})", self.offset)
    }
}

impl std::error::Error for JsonError {}
