//! The history rules of the `generateContent` API.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};

/// Names every history rule that a `generateContent` body breaks.
pub(super) fn judge(body: &Value) -> Vec<Violation> {
    let contents = items(body, "contents");
    let mut found = Vec::new();
    first_content(contents, &mut found);
    for index in 0..contents.len() {
        shape(contents, index, &mut found);
        call_place(contents, index, &mut found);
        response_place(contents, index, &mut found);
        response_count(contents, index, &mut found);
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

fn first_content(contents: &[Value], found: &mut Vec<Violation>) {
    match contents.first() {
        None => found.push(Violation::new(
            "no-messages",
            "contents",
            "* GenerateContentRequest.contents: contents is not specified\n",
        )),
        Some(first) if role(first) != "user" => found.push(Violation::new(
            "first-not-user",
            "contents.0",
            "Please ensure that multiturn requests begin with a user turn.",
        )),
        Some(_) => {}
    }
}

fn shape(contents: &[Value], index: usize, found: &mut Vec<Violation>) {
    let path = format!("contents.{index}");
    if !matches!(role(&contents[index]), "user" | "model") {
        found.push(Violation::new("bad-role", &path, "Please use a valid role: user, model."));
    }
    if items(&contents[index], "parts").is_empty() {
        let message = format!("* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n");
        found.push(Violation::new("empty-parts", path, message));
    }
}

/// Words of the model before a call are the same turn gone on; a call may not follow another call. A call at the very
/// start breaks the rule about the first content instead.
fn call_place(contents: &[Value], index: usize, found: &mut Vec<Violation>) {
    if count(&contents[index], "functionCall") == 0 {
        return;
    }
    if role(&contents[index]) != "model" || (calls_before(contents, index) > 0 && role(&contents[index - 1]) == "model")
    {
        found.push(Violation::new(
            "call-out-of-place",
            format!("contents.{index}"),
            "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        ));
    }
}

fn calls_before(contents: &[Value], index: usize) -> usize {
    if index == 0 { 0 } else { count(&contents[index - 1], "functionCall") }
}

fn response_place(contents: &[Value], index: usize, found: &mut Vec<Violation>) {
    if count(&contents[index], "functionResponse") == 0 {
        return;
    }
    if role(&contents[index]) == "model" || calls_before(contents, index) == 0 {
        found.push(Violation::new(
            "response-out-of-place",
            format!("contents.{index}"),
            "Please ensure that function response turn comes immediately after a function call turn.",
        ));
    }
}

/// Every call turn is followed by a turn with as many responses; none at all is a wrong number, too.
fn response_count(contents: &[Value], index: usize, found: &mut Vec<Violation>) {
    let calls = count(&contents[index], "functionCall");
    let responses = contents.get(index + 1).map_or(0, |next| count(next, "functionResponse"));
    if role(&contents[index]) == "model" && calls > 0 && calls != responses {
        found.push(Violation::new(
            "response-count",
            format!("contents.{index}"),
            "Please ensure that the number of function response parts is equal to the number of function call parts of \
             the function call turn.",
        ));
    }
}
