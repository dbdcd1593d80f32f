//! The only place that prints.
//!
//! Text for people is written with colours in it and loses them here where they are not wanted. Whatever came from a
//! conversation goes through [`safe`], so that no message can move the cursor or fake a line. Results that are data go
//! out as they are.

use crate::input::spoken;
use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use anyhow::Context;
pub(crate) use louver::display::{dollars, grouped, percent, truncate};
use std::io::Write;

/// An error's first word.
const ERROR: Style = AnsiColor::Red.on_default().bold();
/// A warning's first word.
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Writes to stdout and stderr.
pub(crate) struct Printer<'w> {
    out: &'w mut dyn Write,
    err: &'w mut dyn Write,
    /// Which streams show colours.
    pub(crate) colors: Colors,
    /// Whether a person watches stderr.
    is_watched: bool,
    /// Whether only errors appear on stderr.
    pub(crate) is_quiet: bool,
    /// The line at the bottom that is written over.
    progress: Option<String>,
}

/// Takes the cursor to the start of its line and empties it.
const ERASE: &str = "\r\u{1b}[K";

/// Which streams show colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct Colors {
    /// Stdout does.
    pub out: bool,
    /// Stderr does.
    pub err: bool,
}

impl<'w> Printer<'w> {
    pub(crate) fn new(out: &'w mut dyn Write, err: &'w mut dyn Write, colors: Colors, is_watched: bool) -> Self {
        Self { out, err, colors, is_watched, is_quiet: false, progress: None }
    }

    /// A result that is data: out as it is.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.erase_progress();
        let written = self.out.write_all(bytes).and_then(|()| self.out.flush());
        self.draw_progress();
        written.map_err(spoken).context("stdout")
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

    /// Whether [`progress`](Self::progress) is seen by anybody.
    pub(crate) fn shows_progress(&self) -> bool {
        self.is_watched && !self.is_quiet
    }

    /// How far something is, on a line that the next call writes over and that stays below whatever else is printed; only
    /// where a person watches.
    pub(crate) fn progress(&mut self, line: &str) {
        if self.shows_progress() {
            self.erase_progress();
            self.progress = Some(line.to_owned());
            self.draw_progress();
        }
    }

    /// Takes the progress line away.
    pub(crate) fn end_progress(&mut self) {
        self.erase_progress();
        self.progress = None;
    }

    fn erase_progress(&mut self) {
        if self.progress.is_some() {
            self.draw(ERASE);
        }
    }

    fn draw_progress(&mut self) {
        if let Some(line) = self.progress.take() {
            self.draw(&line);
            self.progress = Some(line);
        }
    }

    /// Nobody misses a progress line that cannot be drawn.
    fn draw(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes()).and_then(|()| self.err.flush());
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
        self.erase_progress();
        let _ = match self.colors.err {
            true => writeln!(self.err, "{line}"),
            false => writeln!(self.err, "{}", strip_str(line)),
        };
        self.draw_progress();
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

/// How many percent of the whole a part is, rounded down; 0 of nothing.
pub(crate) fn percent_of(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or_default()
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
        let mut printer = Printer::new(&mut out, &mut err, Colors::default(), false);
        printer.text("\u{1b}[31mred\u{1b}[0m").unwrap();
        printer.error("a\nb");
        assert_eq!((out, err), (b"red".to_vec(), b"error: a\\nb\n".to_vec()));
    }

    #[test]
    fn the_progress_line_stays_below_what_is_printed_and_leaves_nothing_behind() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(&mut out, &mut err, Colors::default(), true);
        printer.progress("1 of 2");
        printer.note("half");
        printer.progress("2 of 2");
        printer.end_progress();
        printer.note("whole");
        let expected = "1 of 2\r\u{1b}[Khalf\n1 of 2\r\u{1b}[K2 of 2\r\u{1b}[Kwhole\n";
        assert_eq!(String::from_utf8(err).unwrap(), expected);
    }

    #[test]
    fn nobody_sees_progress_on_a_pipe() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let colors = Colors { out: true, err: true };
        Printer::new(&mut out, &mut err, colors, false).progress("1 of 2");
        assert_eq!((out, err), (Vec::new(), Vec::new()));
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
