//! Names of models: prefixes, dates, versions, families.

use std::iter::successors;

/// Without every known prefix: `openrouter/anthropic/claude-opus-5` is `claude-opus-5`.
pub(super) fn without_prefixes<'a>(name: &'a str, prefixes: &[String]) -> &'a str {
    let shorter = |name: &&'a str| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str()));
    successors(Some(name), shorter).last().unwrap_or(name)
}

/// Without its date or version tag: `-20251101`, `-2025-04-14`, `-0613`, `-latest`, `-v1:0`
/// and anything from an `@`.
pub(super) fn without_date(name: &str) -> &str {
    successors(name.split('@').next(), |&name| without_suffix(name)).last().unwrap_or(name)
}

/// `ft:gpt-4o:someone:name:id` is `ft:gpt-4o`.
pub(super) fn without_owner(name: &str) -> &str {
    let second_colon = name.strip_prefix("ft:").and_then(|rest| rest.find(':'));
    second_colon.map_or(name, |at| &name[.."ft:".len() + at])
}

/// Without one date or tag at its end; `None` when it has none, or would be nothing else.
fn without_suffix(name: &str) -> Option<&str> {
    let (rest, last) = name.rsplit_once('-').filter(|(rest, _)| !rest.is_empty())?;
    let is_short_date = matches!(last.len(), 4 | 8) && all_digits(last);
    if last == "latest" || is_short_date || is_release_tag(last) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    (is_date(year, month, last) && !rest.is_empty()).then_some(rest)
}

fn is_date(year: &str, month: &str, day: &str) -> bool {
    [(year, 4), (month, 2), (day, 2)].iter().all(|(part, length)| part.len() == *length && all_digits(part))
}

/// `v1:0`, as some clouds append.
fn is_release_tag(part: &str) -> bool {
    let numbers = part.strip_prefix('v').and_then(|rest| rest.split_once(':'));
    numbers.is_some_and(|(major, minor)| all_digits(major) && all_digits(minor))
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// As patterns spell it: dots as dashes, no mark of a fine-tuned model.
pub(super) fn plain(name: &str) -> String {
    name.strip_prefix("ft:").unwrap_or(name).replace('.', "-")
}

/// Whether `name` matches `pattern`, in which `*` stands for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Words that name a variant of a model, not another family.
const VARIANTS: [&str; 11] =
    ["preview", "latest", "beta", "exp", "experimental", "thinking", "fast", "free", "high", "low", "1m"];

/// A name taken apart: the words that make its family, and the numbers between them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Words in order: `claude`, `sonnet`.
    pub(super) family: Vec<String>,
    /// Versions in millionths, in order: `4-5` is 4 and 5, `2.5` is 2.5.
    pub(super) version: Vec<u64>,
}

impl Parts {
    /// Takes apart a name without prefix.
    pub(super) fn of(bare_name: &str) -> Self {
        let mut parts = Self { family: Vec::new(), version: Vec::new() };
        for part in without_date(bare_name).split(['-', '_', ':', '/', ' ', '[', ']']) {
            parts.add(part);
        }
        parts
    }

    fn add(&mut self, part: &str) {
        // A zero in front is left over from a date.
        if part.is_empty() || VARIANTS.contains(&part) || (part.len() > 1 && part.starts_with('0')) {
            return;
        }
        let (word, number) = split_version(part);
        if !word.is_empty() {
            self.family.push(word.to_owned());
        }
        self.version.extend(number);
    }
}

/// `4.5` is a version, `v4` and `o4` a letter with one, everything else a word.
fn split_version(part: &str) -> (&str, Option<u64>) {
    if let Some(number) = version(part) {
        return ("", Some(number));
    }
    match part.strip_prefix(['v', 'o']).and_then(version) {
        Some(number) if part.starts_with('o') => ("o", Some(number)),
        Some(number) => ("", Some(number)),
        None => (part, None),
    }
}

/// A decimal in millionths: vendors count 4.1, 4.20, 4.3.
fn version(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !all_digits(whole) || !all_digits(fraction) || whole.len() > 6 || fraction.len() > 6 {
        return None;
    }
    let digits = format!("{whole}{fraction:0<6}");
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_come_off_one_after_another() {
        let prefixes = ["openrouter/".to_owned(), "anthropic/".to_owned()];
        assert_eq!(without_prefixes("openrouter/anthropic/claude-opus-5", &prefixes), "claude-opus-5");
        assert_eq!(without_prefixes("human/gpt-4", &prefixes), "human/gpt-4");
    }

    #[test]
    fn dates_and_tags_come_off() {
        for (dated, plain) in [
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("gpt-4.1-2025-04-14", "gpt-4.1"),
            ("gpt-4-0613", "gpt-4"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
            ("claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("claude-opus-4-5", "claude-opus-4-5"),
            ("deepseek-v3", "deepseek-v3"),
            ("20251101", "20251101"),
            ("-0613", "-0613"),
            ("", ""),
        ] {
            assert_eq!(without_date(dated), plain);
        }
    }

    #[test]
    fn a_fine_tuned_model_is_known_by_its_base() {
        assert_eq!(without_owner("ft:gpt-4o:someone::id7"), "ft:gpt-4o");
        assert_eq!(without_owner("ft:gpt-4o"), "ft:gpt-4o");
        assert_eq!(without_owner("claude-sonnet-4-5-v1:0"), "claude-sonnet-4-5-v1:0");
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("gpt-4", "gpt-4", true),
            ("gpt-4", "gpt-4o", false),
            ("gpt-4*", "gpt-4", true),
            ("claude-*-4-5*", "claude-opus-4-5-20251101", true),
            ("claude-*-4-5*", "claude-opus-4-6", false),
            ("claude-*-4", "claude-sonnet-4", true),
            ("claude-*-4", "claude-sonnet-4-5", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn names_come_apart_into_family_and_version() {
        let parts = |name| {
            let Parts { family, version } = Parts::of(name);
            (family.join(" "), version.iter().map(|number| *number as f64 / 1e6).collect::<Vec<_>>())
        };
        assert_eq!(parts("claude-3-5-sonnet-20241022"), ("claude sonnet".to_owned(), vec![3.0, 5.0]));
        assert_eq!(parts("gemini-2.5-pro-preview-06-05"), ("gemini pro".to_owned(), vec![2.5]));
        assert_eq!(parts("gpt-4o-mini"), ("gpt 4o mini".to_owned(), vec![]));
        assert_eq!(parts("o4-mini"), ("o mini".to_owned(), vec![4.0]));
        assert_eq!(parts("deepseek-v3.2"), ("deepseek".to_owned(), vec![3.2]));
        assert_eq!(parts("gpt-oss-120b"), ("gpt oss 120b".to_owned(), vec![]));
        assert!(Parts::of("grok-4.3").version > Parts::of("grok-4.20").version);
    }
}
