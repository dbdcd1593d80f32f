use super::{Hit, SearchIndex};
use crate::json::text::encode;
use crate::search::{PASSAGE_CHARS, passages};
use crate::wire::{Format, Message};

fn messages(texts: &[impl AsRef<str>]) -> Vec<Message> {
    let say = |text: &str| {
        Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"user","content":{}}}"#, encode(text))).unwrap()
    };
    texts.iter().map(|text| say(text.as_ref())).collect()
}

fn index(texts: &[impl AsRef<str>]) -> SearchIndex {
    messages(texts).iter().collect()
}

fn found(index: &SearchIndex, query: &str) -> Vec<usize> {
    index.among(|_| true).search(query, 5).hits.into_iter().map(|hit| hit.message).collect()
}

#[test]
fn the_rarest_words_decide_and_case_does_not() {
    let index = index(&["the cat sat", "the dog ran", "the bird sang", "the Dog and the cat"]);
    assert_eq!(found(&index, "where is the DOG")[..2], [3, 1]);
    assert_eq!(found(&index, "a zebra"), [0; 0]);
}

#[test]
fn names_are_found_whole_and_by_their_pieces() {
    let index = index(&["see src/policy/main_loop.rs:40", "the main thing", "call std::io::readLine(x)", "nothing"]);
    for query in ["src/policy/main_loop.rs:40", "MAIN_LOOP", "main_loop.rs", "policy", "'loop'?"] {
        assert_eq!(found(&index, query)[0], 0, "{query}");
    }
    for query in ["std::io::readLine", "readline", "line"] {
        assert_eq!(found(&index, query), [2], "{query}");
    }
}

#[test]
fn operators_and_quotes_mean_nothing() {
    let index = index(&["not and or", "gamma near delta", "alpha beta"]);
    let queries = [
        r#""alpha"#,
        "alpha\"\"",
        "alpha AND",
        "NEAR(alpha",
        "alpha)",
        "{terms}: alpha",
        "terms:alpha",
        "^alpha*",
        "- alpha",
        "alpha + \u{0}",
        "(alpha OR",
        "alpha\\",
    ];
    for query in queries {
        assert_eq!(found(&index, query)[0], 2, "{query}");
    }
    assert_eq!(found(&index, "alpha NOT alpha")[..2], [2, 0]);
    for query in ["", " ", "\"", "* ^ ( ) - + : , . ; ' \\", "\u{0}"] {
        assert_eq!(found(&index, query), [0; 0], "{query:?}");
    }
}

#[test]
fn the_best_five_and_of_equal_ones_the_newest() {
    let index = index(&(0..9).map(|number| format!("needle {number}{number}")).collect::<Vec<_>>());
    assert_eq!(found(&index, "needle"), [8, 7, 6, 5, 4]);
    assert_eq!(found(&index, "needle 33"), [3, 4, 5, 6, 7], "and what was said next");
    let count = |limit| index.among(|_| true).search("needle", limit).hits.len();
    assert_eq!([0, 2, 100].map(count), [0, 2, 9]);
}

#[test]
fn only_what_was_left_out_is_found() {
    let index = index(&["alpha beta", "alpha gamma", "alpha delta", "alpha beta"]);
    let found = |is_left_out: fn(usize) -> bool| {
        let hits = index.among(is_left_out).search("alpha beta", 5).hits;
        hits.into_iter().map(|hit| hit.message).collect::<Vec<_>>()
    };
    assert_eq!(found(|message| message < 3), [0, 1, 2]);
    assert_eq!(found(|message| message == 2), [2]);
    assert_eq!(found(|_| false), [0; 0]);
}

#[test]
fn what_was_not_left_out_changes_nothing() {
    let texts: Vec<String> = (0..40).map(|number| format!("word{} word{} common", number % 3, number % 7)).collect();
    let messages = messages(&texts);
    let whole: SearchIndex = messages.iter().collect();
    for (end, step) in [(40, 1), (40, 3), (17, 2), (1, 1), (0, 1)] {
        let is_left_out = |message: usize| message < end && message.is_multiple_of(step);
        let left_out: Vec<usize> = (0..messages.len()).filter(|message| is_left_out(*message)).collect();
        let alone: SearchIndex = left_out.iter().map(|message| &messages[*message]).collect();
        for query in ["word1 word5", "common", "word2 word6 common", "absent"] {
            let among = whole.among(is_left_out).search(query, 9).hits;
            let alone = alone.among(|_| true).search(query, 9).hits;
            let numbered: Vec<Hit> = alone.iter().map(|hit| Hit { message: left_out[hit.message], ..*hit }).collect();
            assert_eq!(among, numbered, "{query} among {step} of {end}");
        }
    }
}

#[test]
fn words_that_are_everywhere_still_find_the_newest() {
    let mut texts = vec!["the quick one".to_owned(); 30_000];
    texts[7].push_str(" zebra of the");
    let index = index(&texts);
    assert_eq!(found(&index, "the"), [29_999, 29_998, 29_997, 29_996, 29_995]);
    assert_eq!(found(&index, "the zebra"), [7]);
}

#[test]
fn long_messages_are_found_by_passage_with_the_words_marked() {
    let text = format!("{}\nthe needle, NEEDLE_2\n{}", "hay\n".repeat(2000), "straw\n".repeat(2000));
    let messages = messages(&["hay", &text]);
    let index: SearchIndex = messages.iter().collect();
    assert!(index.passages() > 5);
    let found = index.among(|_| true).search("needle_2 needle", 5);
    let [hit] = found.hits[..] else { panic!("{found:?}") };
    let text = &passages(&messages[hit.message])[hit.passage];
    assert!(text.chars().count() <= PASSAGE_CHARS + 1);
    let marked: Vec<&str> = found.marks(text).into_iter().map(|mark| &text[mark]).collect();
    assert_eq!(marked, ["needle", "NEEDLE_2"]);
}

#[test]
fn what_a_file_holds_is_found_by_its_name() {
    // The result does not say which file it is of; other results have the words of the question, too.
    let texts = ["what holds the path?", "a/needle.rs", "the path holds seven", "b/other.rs", "the path holds nine"];
    let index = index(&texts);
    assert_eq!(found(&index, "what is the path that a/needle.rs holds")[..2], [1, 2]);
}

#[test]
fn arguments_and_results_of_tools_are_searched() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
        "function":{"name":"read","arguments":"{\"path\":\"a/b.rs\"}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c","content":"fn unusual() {}"}"#;
    let messages = [call, result].map(|raw| Message::parse(Format::OpenAiChat, raw).unwrap());
    let index: SearchIndex = messages.iter().collect();
    assert_eq!((found(&index, "b.rs"), found(&index, "unusual")), (vec![0], vec![1]));
}

#[test]
fn an_empty_index_finds_nothing() {
    let index = index(&[""; 0]);
    assert_eq!((index.passages(), found(&index, "anything")), (0, vec![]));
}

#[test]
fn an_index_put_together_from_a_few_terms_finds_the_same() {
    let texts: Vec<String> = (0..60).map(|number| format!("w{} w{} common common", number % 5, number % 11)).collect();
    let whole = index(&texts);
    for query in ["w1 w7 common", "common", "w3", "absent"] {
        let mut known = Vec::new();
        crate::search::terms(query, |term, _| {
            known.extend(whole.postings(term).map(|all| (term.to_owned(), all.to_vec())))
        });
        let parts = SearchIndex::from_parts(whole.lengths(), known);
        let is_left_out = |message: usize| message < 50 && message.is_multiple_of(3);
        let (found, expected) = (parts.among(is_left_out).search(query, 9), whole.among(is_left_out).search(query, 9));
        assert_eq!(found, expected, "{query}");
        assert_eq!(found.terms().count(), expected.terms().count());
    }
}
