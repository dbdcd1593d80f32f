//! The only place that prints.
//!
//! Text for people is written with colours in it and loses them here where they are not wanted. Whatever came from a
//! conversation goes through [`safe`], so that no message can move the cursor or fake a line. Results that are data go
//! out as they are.

use crate::input::spoken;
use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use anyhow::Context;
use std::fmt;
use std::io::Write;

/// An error's first word.
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// A warning's first word.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Writes to stdout and stderr.
pub(crate) struct Printer<'w> {
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
    colors: Colors,
    is_quiet: bool,
}

/// Which streams show colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Colors {
    /// Stdout does.
    pub out: bool,
    /// Stderr does.
    pub err: bool,
}

impl fmt::Debug for Printer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Printer").field("colors", &self.colors).field("is_quiet", &self.is_quiet).finish()
    }
}

impl<'w> Printer<'w> {
    pub(crate) fn new(out: &'w mut dyn Write, err: &'w mut dyn Write, colors: Colors) -> Self {
        Self { out, err, colors, is_quiet: false }
    }

    /// Replaces what the terminal says about colours.
    pub(crate) fn set_colors(&mut self, colors: Colors) {
        self.colors = colors;
    }

    /// From now on only errors appear on stderr.
    pub(crate) fn be_quiet(&mut self) {
        self.is_quiet = true;
    }

    /// A result that is data: out as it is.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.out.write_all(bytes).and_then(|()| self.out.flush()).map_err(spoken).context("stdout")
    }

    /// A result for people.
    pub(crate) fn text(&mut self, text: &str) -> anyhow::Result<()> {
        match self.colors.out {
            true => self.data(text.as_bytes()),
            false => self.data(strip_str(text).to_string().as_bytes()),
        }
    }

    /// Something that went well.
    pub(crate) fn note(&mut self, line: &str) {
        if !self.is_quiet {
            self.err_line(line);
        }
    }

    /// How far something is, on a line that the next call writes over; only where a person watches.
    pub(crate) fn progress(&mut self, line: &str) {
        if self.colors.err && !self.is_quiet {
            // Nobody misses a progress bar that cannot be drawn.
            let _ = write!(self.err, "\r\u{1b}[K{line}").and_then(|()| self.err.flush());
        }
    }

    /// Something one should know.
    pub(crate) fn warning(&mut self, line: &str) {
        self.note(&format!("{WARNING}warning:{WARNING:#} {}", safe(line)));
    }

    /// Something that was asked for, quiet or not.
    pub(crate) fn answer(&mut self, text: &str) {
        self.err_line(text);
    }

    /// Why nothing was done.
    pub(crate) fn error(&mut self, line: &str) {
        self.err_line(&format!("{ERROR}error:{ERROR:#} {}", safe(line)));
    }

    /// Nobody can be told that stderr is gone.
    fn err_line(&mut self, line: &str) {
        let _ = match self.colors.err {
            true => writeln!(self.err, "{line}"),
            false => writeln!(self.err, "{}", strip_str(line)),
        };
    }
}

/// Text with its control characters spelled out, so that it stays on its line.
pub(crate) fn safe(text: &str) -> String {
    let is_unsafe = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unsafe(c) {
            true => safe.extend(c.escape_default()),
            false => safe.push(c),
        }
    }
    safe
}

/// A number with its thousands apart: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 message`, `12 messages`.
pub(crate) fn plural(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number as u64))
}

#[cfg(test)]
mod tests {
    use super::{Colors, Printer, grouped, plural, safe};

    #[test]
    fn colours_leave_where_nobody_wants_them() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(&mut out, &mut err, Colors::default());
        printer.text("\u{1b}[31mred\u{1b}[0m").unwrap();
        printer.error("a\nb");
        assert_eq!((out, err), (b"red".to_vec(), b"error: a\\nb\n".to_vec()));
    }

    #[test]
    fn nothing_from_outside_moves_the_cursor() {
        assert_eq!(safe("a\u{1b}[2Jb\n\u{202e}ö"), "a\\u{1b}[2Jb\\n\\u{202e}ö");
    }

    #[test]
    fn numbers_are_readable() {
        let read = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(read, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([plural(1, "message"), plural(2, "message")], ["1 message", "2 messages"]);
    }
}
