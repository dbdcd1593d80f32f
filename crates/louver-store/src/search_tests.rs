use super::SearchIndex;
use louver::json::text::encode;
use louver::passage::PASSAGE_CHARS;
use louver::wire::{Format, Message};

fn messages(texts: &[impl AsRef<str>]) -> Vec<Message> {
    let say = |text: &str| {
        Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"user","content":{}}}"#, encode(text))).unwrap()
    };
    texts.iter().map(|text| say(text.as_ref())).collect()
}

fn index(texts: &[impl AsRef<str>]) -> SearchIndex {
    SearchIndex::of(messages(texts).iter().enumerate()).unwrap()
}

fn found(index: &SearchIndex, query: &str) -> Vec<usize> {
    index.search(query, 5).unwrap().into_iter().map(|hit| hit.message).collect()
}

#[test]
fn the_rarest_words_decide_and_case_does_not() {
    let index = index(&["the cat sat", "the dog ran", "the bird sang", "the Dog and the cat"]);
    assert_eq!(found(&index, "where is the DOG")[..2], [1, 3]);
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
    let index = index(&["alpha beta", "gamma near delta", "not and or"]);
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
        "alpha'); DROP TABLE term; --",
        "alpha + \u{0}",
        "(alpha OR",
        "alpha\\",
    ];
    for query in queries {
        assert_eq!(found(&index, query)[0], 0, "{query}");
    }
    assert_eq!(found(&index, "alpha NOT alpha")[..2], [0, 2]);
    for query in ["", " ", "\"", "* ^ ( ) - + : , . ; ' \\", "\u{0}"] {
        assert_eq!(found(&index, query), [0; 0], "{query:?}");
    }
}

#[test]
fn the_best_five_and_of_equal_ones_the_newest() {
    let index = index(&(0..9).map(|number| format!("needle {number}{number}")).collect::<Vec<_>>());
    assert_eq!(found(&index, "needle"), [8, 7, 6, 5, 4]);
    assert_eq!(found(&index, "needle 33"), [3, 8, 7, 6, 5]);
    assert_eq!(index.search("needle", 2).unwrap().len(), 2);
    assert_eq!(index.search("needle", 0).unwrap(), []);
    assert_eq!(index.search("needle", 100).unwrap().len(), 9);
}

#[test]
fn words_that_are_everywhere_still_find_the_newest() {
    let mut texts = vec!["the quick one".to_owned(); 20_000];
    texts[7].push_str(" zebra");
    texts[19_990].push_str(" of the");
    let index = index(&texts);
    assert_eq!(found(&index, "the"), [19_999, 19_998, 19_997, 19_996, 19_995]);
    assert_eq!(found(&index, "the zebra"), [7]);
}

#[test]
fn long_messages_are_found_by_passage_with_the_words_marked() {
    let text = format!("{}\nthe needle, NEEDLE_2\n{}", "hay\n".repeat(2000), "straw\n".repeat(2000));
    let index = index(&[text]);
    assert!(index.passages() > 5);
    let hits = index.search("needle_2 needle", 5).unwrap();
    let [hit] = &hits[..] else { panic!("{hits:?}") };
    assert!(hit.text.chars().count() <= PASSAGE_CHARS + 1);
    let marked: Vec<&str> = hit.marks.iter().map(|mark| &hit.text[mark.clone()]).collect();
    assert_eq!(marked, ["needle", "NEEDLE_2"]);
}

#[test]
fn arguments_and_results_of_tools_are_searched_and_indices_kept() {
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",
        "function":{"name":"read","arguments":"{\"path\":\"a/b.rs\"}"}}]}"#;
    let result = r#"{"role":"tool","tool_call_id":"c","content":"fn unusual() {}"}"#;
    let messages = [call, result].map(|raw| Message::parse(Format::OpenAiChat, raw).unwrap());
    let index = SearchIndex::of([(40, &messages[0]), (41, &messages[1])]).unwrap();
    assert_eq!((found(&index, "b.rs"), found(&index, "unusual")), (vec![40], vec![41]));
}

#[test]
fn an_empty_index_finds_nothing() {
    let index = index(&[""; 0]);
    assert_eq!((index.passages(), found(&index, "anything")), (0, vec![]));
}
