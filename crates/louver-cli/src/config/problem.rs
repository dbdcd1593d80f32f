//! What is wrong with a configuration, and where.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The key, such as `execution.conversation.max_messages`; empty for the file as a whole.
    pub path: String,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.line)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file's name.
    pub file: String,
    /// What is wrong, by line.
    pub problems: Vec<Problem>,
}

impl Problems {
    /// One line per problem: file, line, key, sentence.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.problems.iter().map(|problem| format!("{}:{problem}", self.file))
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines().collect();
        f.write_str(&lines.join("; "))
    }
}

impl std::error::Error for Problems {}
