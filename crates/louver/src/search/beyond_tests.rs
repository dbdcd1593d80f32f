use super::super::{Excerpt, Found, PASSAGE_CHARS, SearchIndex, Sight, passages};
use crate::json::text::encode;
use crate::wire::{Format, Message};

const QUERY: &str = "why does the parser of the grammar fail at every token that the lexer reads there";

fn message(role: &str, text: &str) -> Message {
    Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"{role}","content":{}}}"#, encode(text))).unwrap()
}

fn messages(texts: &[&str]) -> Vec<Message> {
    texts.iter().map(|text| message("user", text)).collect()
}

fn beyond(messages: &[Message], seen: &str, query: &str, limit: usize) -> Found<Excerpt> {
    let index: SearchIndex = messages.iter().collect();
    let sight: Sight = messages_of(seen).iter().collect();
    index.among(|_| true).search_beyond(&sight, query, limit, |message| messages.get(message))
}

fn messages_of(seen: &str) -> Vec<Message> {
    if seen.is_empty() { Vec::new() } else { messages(&[seen]) }
}

fn found(messages: &[Message], seen: &str, query: &str, limit: usize) -> Vec<usize> {
    beyond(messages, seen, query, limit).hits.into_iter().map(|hit| hit.message).collect()
}

#[test]
fn what_is_seen_already_is_not_brought_back() {
    let said = messages(&[
        "the parser of the grammar fails at a token in src/parse.rs, says the lexer",
        "the parser fails in src/lex.rs",
    ]);
    assert_eq!(found(&said, "src/lex.rs", QUERY, 1), [0]);
    assert_eq!(found(&said, "src/parse.rs", QUERY, 1), [1], "fewer words, but it says something");
}

#[test]
fn hits_are_chosen_together() {
    let said = messages(&[
        "that reads next_char",
        "the parser of the grammar fails at every token in parse_expr, parse_term, parse_list, parse_body",
        "the parser of the grammar fails at every token in parse_expr, parse_term, parse_list, parse_body there",
    ]);
    let hits = found(&said, "main_loop", QUERY, 2);
    assert_eq!(hits, [2, 0], "the third says what the second says");
}

#[test]
fn what_the_model_used_itself_counts_more() {
    let texts =
        ["the parser of the grammar reads a token: alpha_one", "the lexer of the grammar reads a token: beta_two"];
    for own in [0, 1] {
        let role = |number: usize| if number == own { "assistant" } else { "user" };
        let said: Vec<Message> = texts.iter().zip(0..).map(|(text, number)| message(role(number), text)).collect();
        assert_eq!(found(&said, "main_loop", QUERY, 1), [own]);
    }
}

#[test]
fn a_name_that_is_asked_for_comes_first() {
    let said = messages(&[
        "the parser keeps alpha_one",
        "the parser of the grammar fails at every token that the lexer reads there: beta_two, beta_three, beta_four",
    ]);
    let query = format!("{QUERY}, and what is alpha_one?");
    assert_eq!(found(&said, "main_loop", &query, 1), [0]);
    assert_eq!(found(&said, "main_loop", QUERY, 1), [1]);
}

#[test]
fn a_few_words_or_no_sight_find_what_the_words_find() {
    let said = messages(&[
        "the parser of the grammar fails at a token in src/parse.rs, says the lexer",
        "the parser fails in src/lex.rs and src/tree.rs",
    ]);
    let index: SearchIndex = said.iter().collect();
    for (seen, query) in [("src/parse.rs", "parser token fails"), ("", QUERY), ("nothing of note", QUERY)] {
        let (excerpts, words) = (beyond(&said, seen, query, 2), index.among(|_| true).search(query, 2));
        let text = |message: usize, passage: usize| passages(&said[message]).swap_remove(passage);
        let whole = words.hits.iter().map(|hit| Excerpt { message: hit.message, text: text(hit.message, hit.passage) });
        assert_eq!(excerpts.hits, whole.collect::<Vec<_>>(), "{query}");
        assert_eq!(excerpts.terms().collect::<Vec<_>>(), words.terms().collect::<Vec<_>>(), "{query}");
    }
    assert_eq!(found(&said, "src/parse.rs", QUERY, 2), [1, 0], "otherwise the order changes");
}

#[test]
fn where_everything_is_seen_the_words_decide() {
    let said = messages(&["the lexer reads", "a parser of the grammar that fails at every token", "nothing"]);
    assert_eq!(found(&said, "main_loop", QUERY, 5), [1, 0]);
}

#[test]
fn what_was_not_left_out_changes_nothing() {
    let text = |number: usize| {
        format!("the parser of the grammar reads token{} and name_{} of the lexer", number % 5, number % 7)
    };
    let role = |number: usize| if number.is_multiple_of(4) { "assistant" } else { "user" };
    let said: Vec<Message> = (0..40).map(|number| message(role(number), &text(number))).collect();
    let whole: SearchIndex = said.iter().collect();
    let sight: Sight = messages(&["name_3"]).iter().collect();
    for end in [1, 17, 40] {
        let alone: SearchIndex = said[..end].iter().collect();
        let expected = alone.among(|_| true).search_beyond(&sight, QUERY, 5, |message| said.get(message));
        let among = whole.among(|message| message < end);
        assert_eq!(among.search_beyond(&sight, QUERY, 5, |message| said.get(message)), expected, "{end}");
        assert!(expected.hits.len() == 5.min(end));
    }
}

/// A message of many lines of which some have names.
fn long(names: &[(usize, &str)]) -> String {
    let line = |number: usize| {
        let name = names.iter().find(|(at, _)| *at == number).map_or("nothing", |(_, name)| name);
        format!("of line {number} the parser of the grammar says there that at every token is {name}")
    };
    (0..90).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn of_a_long_message_the_lines_are_brought_back_that_say_what_is_not_seen() {
    let said = messages(&[&long(&[(10, "alpha_one"), (45, "main_loop"), (80, "beta_two")])]);
    let [hit] = &beyond(&said, "main_loop", QUERY, 1).hits[..] else { panic!("one is asked for") };
    assert!(hit.text.contains("alpha_one") && hit.text.contains("beta_two"), "{}", hit.text);
    assert!(!hit.text.contains("main_loop"), "it is seen, and there was no room for all");
    assert!(hit.text.contains("\n…\nof line 7"), "what did not stand together stands apart: {}", hit.text);
    assert!((PASSAGE_CHARS - 200..=PASSAGE_CHARS + 1).contains(&hit.text.chars().count()));
    let around = ["of line 9 ", "of line 11 ", "of line 79 ", "of line 81 "];
    assert!(around.iter().all(|line| hit.text.contains(line)), "{}", hit.text);
}

#[test]
fn what_fits_is_brought_back_whole_and_only_once() {
    let text = "the parser of the grammar fails\nat every token\nin alpha_one that the lexer reads\nthere";
    let said = messages(&[text]);
    let hits = beyond(&said, "main_loop", QUERY, 5).hits;
    assert_eq!(hits, [Excerpt { message: 0, text: format!("{text}\n") }]);
    let long = messages(&[&long(&[(10, "alpha_one"), (80, "beta_two")])]);
    let hits = beyond(&long, "main_loop", QUERY, 9).hits;
    let mut lines: Vec<&str> = hits.iter().flat_map(|hit| hit.text.lines()).filter(|line| *line != "…").collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert!(hits.len() > 1 && lines.len() == all, "{} of {all}", lines.len());
}

#[test]
fn a_line_as_long_as_a_passage_is_found() {
    let long = format!(
        "the parser of the grammar fails there, and {}alpha_one",
        "every token that the lexer reads ".repeat(150)
    );
    let said = messages(&[&long]);
    let hits = beyond(&said, "main_loop", QUERY, 1).hits;
    assert!(hits[0].text.ends_with("alpha_one\n"), "it is cut in pieces, and the last has the name");
    let full = format!("token alpha_one {}", "y".repeat(PASSAGE_CHARS - 16));
    let said = messages(&["the parser of the grammar fails at every token that the lexer reads", &full]);
    assert_eq!(beyond(&said, "main_loop", QUERY, 1).hits[0].text, format!("{full}\n"));
}
