//! Pages where an answer should be: of a proxy, of a network that wants a login, of a wrong address.

use louver::display::truncate;

/// Characters of a title that are shown.
const SHOWN_CHARS: usize = 100;

/// The title of a web page, empty where it has none; nothing where it is no page.
pub(super) fn title(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('<') {
        return None;
    }
    // Lower case of ASCII alone keeps every byte where it is.
    let lower = text.to_ascii_lowercase();
    let inner = lower.find("<title").and_then(|at| Some(at + lower[at..].find('>')? + 1));
    let title = inner.and_then(|start| Some(&text[start..start + lower[start..].find("</title")?]));
    let words: Vec<&str> = title.unwrap_or_default().split_whitespace().collect();
    Some(truncate(&words.join(" "), SHOWN_CHARS).to_owned())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_page_is_known_by_its_start_and_called_by_its_title() {
        for (text, expected) in [
            ("<!DOCTYPE html><TITLE lang='de'>Bitte\n  anmelden \u{e4}</TITLE>", Some("Bitte anmelden \u{e4}")),
            ("\n<html><body>no title</body>", Some("")),
            ("<title>never ends", Some("")),
            ("<title", Some("")),
            ("{\"a\":\"<title>x</title>\"}", None),
            ("data: {}", None),
            ("", None),
        ] {
            assert_eq!(title(text).as_deref(), expected, "{text}");
        }
    }
}
