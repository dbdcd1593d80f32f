//! The page's own files, in the binary.

use super::answer;
use crate::brain::PageBody;
use http::{HeaderValue, Response, StatusCode, header};

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file: its path, its kind and what is in it.
const FILES: &[(&str, &str, &str)] = &[
    ("/louver/", HTML, include_str!("files/index.html")),
    ("/louver/page.css", STYLE, include_str!("files/page.css")),
    ("/louver/main.js", SCRIPT, include_str!("files/main.js")),
    ("/louver/api.js", SCRIPT, include_str!("files/api.js")),
    ("/louver/dom.js", SCRIPT, include_str!("files/dom.js")),
    ("/louver/chart.js", SCRIPT, include_str!("files/chart.js")),
    ("/louver/conversations.js", SCRIPT, include_str!("files/conversations.js")),
    ("/louver/conversation.js", SCRIPT, include_str!("files/conversation.js")),
    ("/louver/cut.js", SCRIPT, include_str!("files/cut.js")),
    ("/louver/money.js", SCRIPT, include_str!("files/money.js")),
    ("/louver/search.js", SCRIPT, include_str!("files/search.js")),
];

/// A file of the page; nothing where there is none of this path.
pub(super) fn file(path: &str) -> Option<Response<PageBody>> {
    if path == "/louver" {
        let mut response = answer(StatusCode::PERMANENT_REDIRECT, "text/plain", "");
        response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/louver/"));
        return Some(response);
    }
    let (_, kind, text) = FILES.iter().find(|(known, ..)| *known == path)?;
    Some(answer(StatusCode::OK, kind, *text))
}

#[cfg(test)]
mod tests {
    use super::FILES;

    /// Nothing inline, nothing from elsewhere, no markup made of text: the policy forbids the first two, and nothing forbids
    /// the last.
    #[test]
    fn files_ask_for_each_other_and_for_nothing_else() {
        for (path, _, text) in FILES {
            for word in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https:"]
            {
                assert!(!text.contains(word), "{path} has {word}");
            }
            let is_own = |address: &str| address.starts_with("http://www.w3.org/");
            assert!(text.match_indices("http:").all(|(at, _)| is_own(&text[at..])), "{path} names another host");
            let imported = text.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next());
            for name in imported {
                let wanted = format!("/louver/{name}");
                assert!(FILES.iter().any(|(known, ..)| *known == wanted), "{path} imports {name}");
            }
        }
        let page = FILES[0].2;
        for word in ["<style", " style=", "onclick", "onload"] {
            assert!(!page.contains(word), "{word}");
        }
        assert_eq!(page.matches("<script").count(), page.matches("<script type=\"module\" src=\"").count());
    }
}
