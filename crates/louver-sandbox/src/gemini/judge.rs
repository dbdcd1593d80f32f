//! The history rules of the `generateContent` API.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};

/// A rule about one content: its name, the API's wording, and whether the content at an index breaks it.
type Rule = (&'static str, &'static str, fn(&[Value], usize) -> bool);

const RULES: [Rule; 5] = [
    ("bad-role", "Please use a valid role: user, model.", |contents, index| {
        !matches!(role(&contents[index]), "user" | "model")
    }),
    (
        "empty-parts",
        "* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n",
        |contents, index| items(&contents[index], "parts").is_empty(),
    ),
    (
        "call-out-of-place",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        is_call_out_of_place,
    ),
    (
        "response-out-of-place",
        "Please ensure that function response turn comes immediately after a function call turn.",
        is_response_out_of_place,
    ),
    (
        "response-count",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the \
         function call turn.",
        has_wrong_response_count,
    ),
];

/// Names every history rule that a `generateContent` body breaks.
pub(super) fn judge(body: &Value) -> Vec<Violation> {
    let contents = items(body, "contents");
    let mut found: Vec<Violation> = first_content(contents).into_iter().collect();
    for index in 0..contents.len() {
        let said = |wording: &str| wording.replace("{index}", &index.to_string());
        let broken = RULES.iter().filter(|(_, _, is_broken)| is_broken(contents, index));
        found.extend(broken.map(|(rule, wording, _)| Violation::new(rule, format!("contents.{index}"), said(wording))));
    }
    found
}

/// A content without a role is the user's.
pub(super) fn role(content: &Value) -> &str {
    if is_missing(content, "role") { "user" } else { text(content, "role") }
}

/// How many parts of a content have a field.
pub(super) fn count(content: &Value, field: &str) -> usize {
    items(content, "parts").iter().filter(|part| !is_missing(part, field)).count()
}

fn first_content(contents: &[Value]) -> Option<Violation> {
    let (rule, path, wording) = match contents.first() {
        None => ("no-messages", "contents", "* GenerateContentRequest.contents: contents is not specified\n"),
        Some(first) if role(first) != "user" => {
            ("first-not-user", "contents.0", "Please ensure that multiturn requests begin with a user turn.")
        }
        Some(_) => return None,
    };
    Some(Violation::new(rule, path, wording))
}

/// Words of the model before a call are the same turn gone on; a call may not follow another call. A call at the very
/// start breaks the rule about the first content instead.
fn is_call_out_of_place(contents: &[Value], index: usize) -> bool {
    let follows_call = calls_before(contents, index) > 0 && role(&contents[index - 1]) == "model";
    count(&contents[index], "functionCall") > 0 && (role(&contents[index]) != "model" || follows_call)
}

fn calls_before(contents: &[Value], index: usize) -> usize {
    if index == 0 { 0 } else { count(&contents[index - 1], "functionCall") }
}

fn is_response_out_of_place(contents: &[Value], index: usize) -> bool {
    let is_stray = role(&contents[index]) == "model" || calls_before(contents, index) == 0;
    is_stray && count(&contents[index], "functionResponse") > 0
}

/// Every call turn is followed by a turn with as many responses; none at all is a wrong number, too.
fn has_wrong_response_count(contents: &[Value], index: usize) -> bool {
    let calls = count(&contents[index], "functionCall");
    let responses = contents.get(index + 1).map_or(0, |next| count(next, "functionResponse"));
    role(&contents[index]) == "model" && calls > 0 && calls != responses
}
