use super::ToolOutput;
use louver::display::truncate;

/// Why a call was not carried out, in a sentence that the model can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal(String);

/// A reason may quote what the model sent, which may be huge.
const MAX_CHARACTERS: usize = 2_000;

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(shorten(&reason.into(), MAX_CHARACTERS))
    }

    /// The same reason, behind the name of the tool that it comes from.
    pub(crate) fn of(self, tool: &str) -> ToolOutput {
        ToolOutput::error(format!("{tool}: {}", self.0))
    }

    #[cfg(test)]
    pub(crate) fn reason(&self) -> &str {
        &self.0
    }
}

/// The start of a text, on one line and in backquotes.
pub(crate) fn quote(text: &str) -> String {
    let line: String = text.chars().take(201).flat_map(visible).collect();
    format!("`{}`", shorten(&line, 200))
}

/// Control characters as escapes, everything else as it is.
pub(crate) fn visible(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let plain = (!character.is_control()).then_some(character);
    escaped.into_iter().flatten().chain(plain)
}

fn shorten(text: &str, max_characters: usize) -> String {
    match truncate(text, max_characters) {
        start if start.len() < text.len() => format!("{start}... ({} bytes)", text.len()),
        whole => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_of_a_huge_text_is_short_and_on_one_line() {
        let quoted = quote(&"a\n\u{1b}[31m".repeat(100_000));
        assert!(quoted.len() < 400, "{}", quoted.len());
        assert!(quoted.starts_with("`a\\n\\u{1b}[31m"), "{quoted}");
        assert!(!quoted.chars().any(char::is_control));
    }

    #[test]
    fn a_reason_is_bounded_without_splitting_a_character() {
        let reason = Refusal::new("é".repeat(1_000_000)).of("tool");
        assert!(reason.is_error);
        assert!(reason.text.len() < 5_000);
    }
}
