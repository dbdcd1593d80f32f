use super::super::{Found, SearchIndex, Sight};
use crate::json::text::encode;
use crate::wire::{Format, Message};

const QUERY: &str = "why does the parser of the grammar fail at every token that the lexer reads there";

fn message(role: &str, text: &str) -> Message {
    Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"{role}","content":{}}}"#, encode(text))).unwrap()
}

fn messages(texts: &[&str]) -> Vec<Message> {
    texts.iter().map(|text| message("user", text)).collect()
}

fn beyond(messages: &[Message], seen: &str, query: &str, limit: usize) -> Found {
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
        assert_eq!(beyond(&said, seen, query, 2), index.among(|_| true).search(query, 2), "{query}");
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
