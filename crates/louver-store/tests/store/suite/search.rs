use super::{Random, Tested, content, conversation, end, said, texts};
use louver::address::Address;
use louver::search::{PASSAGE_CHARS, QUERY_POSTINGS, SearchIndex, passages};
use louver::wire::Body;
use louver::{Format, Message};
use louver_store::{
    ArchiveHit, ChainTag, ConversationInfo, NewContent, NewMessage, SearchAnswer, SearchRequest, SearchScope,
};
use std::path::PathBuf;
use std::sync::Arc;

fn request(reader: &str, scope: SearchScope, query: &str, limit: usize) -> SearchRequest {
    SearchRequest { reader: reader.into(), scope, query: query.to_owned(), limit }
}

async fn hits(store: Tested<'_>, request: SearchRequest) -> Vec<ArchiveHit> {
    match store.search(request).await.unwrap() {
        SearchAnswer::Hits(hits) => hits,
        other => panic!("{other:?}"),
    }
}

fn on_chain(content: &NewContent) -> SearchScope {
    SearchScope::Chain { tag: end(content).into(), within: None }
}

fn indices(hits: &[ArchiveHit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.place.index).collect()
}

/// The store's hits beside those of the engine's own index, for everything and for some messages.
async fn compare(store: Tested<'_>, kept: &NewContent, queries: &[String], random: &mut Random) {
    let format = kept.conversation.format;
    let messages: Vec<Message> =
        kept.messages.iter().map(|message| Message::parse(format, &message.raw).unwrap()).collect();
    let index: SearchIndex = messages.iter().collect();
    for query in queries {
        let start = random.below(messages.len());
        let some = start..start + 1 + random.below(messages.len() - start);
        for within in [None, Address::of_ranges([some.clone()])] {
            let is_searched = |message: usize| within.is_none() || some.contains(&message);
            let limit = 1 + random.below(12);
            let expected = index.among(is_searched).search(query, limit);
            let tag = ChainTag::from(end(kept));
            let scope = SearchScope::Chain { tag, within: within.clone() };
            let found = hits(store, request(kept.conversation.reader.as_str(), scope, query, limit)).await;
            let places: Vec<(usize, usize)> = found.iter().map(|hit| (hit.place.index as usize, hit.passage)).collect();
            let wanted: Vec<(usize, usize)> = expected.hits.iter().map(|hit| (hit.message, hit.passage)).collect();
            assert_eq!(places, wanted, "{query:?} within {within:?}");
            for hit in &found {
                let text = &passages(&messages[hit.place.index as usize])[hit.passage];
                assert_eq!((&hit.text, &hit.marks), (text, &expected.marks(text)));
            }
        }
    }
}

/// Words as people and tools use them: few of them often, some whole and in pieces, some without spaces.
fn word(random: &mut Random) -> String {
    let rank = 1 << random.below(8);
    let number = random.below(rank);
    match random.below(9) {
        0 => format!("src/mod_{number}/file{number}.rs:{}", random.below(90)),
        1 => format!("camelCase{number}Name"),
        2 => format!("日本語{}", char::from_u32(0x4e00 + number as u32).unwrap()),
        3 => format!("ÄRGER{number} \"quoted\" (a+b=c)"),
        _ => format!("word{number}"),
    }
}

pub(crate) async fn hits_are_the_engines(store: Tested<'_>) {
    let mut random = Random::new(7);
    for round in 0..12 {
        let info = conversation(&format!("c{round}"), if round % 2 == 0 { "ann" } else { "bob" });
        let text = |random: &mut Random| {
            let length = [1, 5, 60, 900][random.below(4)];
            (0..length).map(|_| word(random)).collect::<Vec<_>>().join(if random.below(3) == 0 { "\n" } else { " " })
        };
        let words: Vec<String> = (0..1 + random.below(60)).map(|_| text(&mut random)).collect();
        let kept = content(&info, words.iter().map(|text| said(text)));
        store.put_content(kept.clone()).await.unwrap();
        let mut queries: Vec<String> =
            (1..10).map(|length| (0..length).map(|_| word(&mut random)).collect::<Vec<_>>().join(" ")).collect();
        queries.extend([
            "".to_owned(),
            "absent".to_owned(),
            words[0].clone(),
            "a! b!0 word1!0 \"word1\" OR".to_owned(),
        ]);
        compare(store, &kept, &queries, &mut random).await;
    }
}

pub(crate) async fn hits_of_real_conversations_are_the_engines(store: Tested<'_>) {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from) else {
        println!("skipped: LOUVER_CORPUS is not set");
        return;
    };
    let folders = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders
        .flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| path.metadata().unwrap().len() < 1 << 20)
        .collect();
    files.sort();
    let mut random = Random::new(3);
    for path in files.iter().step_by(files.len().div_ceil(12).max(1)) {
        let body = Body::parse_bytes(&std::fs::read(path).unwrap(), None).unwrap();
        let info = ConversationInfo {
            format: body.format(),
            ..conversation(&path.file_name().unwrap().to_string_lossy(), "ann")
        };
        let kept = content(&info, body.messages().iter().map(|message| Arc::from(message.raw())));
        store.put_content(kept.clone()).await.unwrap();
        let said: Vec<String> = body.messages().iter().flat_map(|message| passages(message)).collect();
        let query = |random: &mut Random| {
            let words: Vec<&str> = said[random.below(said.len())].split_whitespace().collect();
            let start = random.below(words.len());
            words[start..words.len().min(start + 1 + random.below(12))].join(" ")
        };
        let mut queries: Vec<String> = (0..12).map(|_| query(&mut random)).collect();
        queries.push(said[0].clone());
        compare(store, &kept, &queries, &mut random).await;
    }
}

pub(crate) async fn common_words_are_the_engines(store: Tested<'_>) {
    // One text stands in very many places: more than a search reads.
    let mut words = ["the quick one", "of the quick, the"].repeat(11_000);
    words[7] = "the quick zebra of the";
    words.push("a one at the end");
    let info = conversation("c1", "ann");
    let messages =
        words.iter().zip(0..).map(|(text, number)| NewMessage { chain: super::chain(number), raw: said(text) });
    let kept = NewContent { messages: messages.collect(), ..texts(&info, &[]) };
    store.put_content(kept.clone()).await.unwrap();
    let queries =
        ["the", "the zebra", "quick the", "of one", "zebra", "end of the", "one quick the of a"].map(str::to_owned);
    compare(store, &kept, &queries, &mut Random::new(5)).await;
}

pub(crate) async fn scopes_are_kept_apart(store: Tested<'_>) {
    let ann = texts(&conversation("c1", "ann"), &["needle one", "hay", "needle two"]);
    let edited = texts(&conversation("c1", "ann"), &["needle one", "hay", "straw", "needle three"]);
    let other = texts(&conversation("c2", "ann"), &["needle elsewhere"]);
    let bob = texts(&conversation("c3", "bob"), &["needle one", "needle of bob"]);
    for kept in [&ann, &edited, &other, &bob] {
        store.put_content(kept.clone()).await.unwrap();
    }
    let found = async |reader: &str, scope| indices(&hits(store, request(reader, scope, "needle", 9)).await);
    assert_eq!(found("ann", on_chain(&ann)).await, [2, 0]);
    assert_eq!(found("ann", on_chain(&edited)).await, [3, 0]);
    assert_eq!(found("ann", SearchScope::Conversation("c1".into())).await, [3, 0]);
    assert_eq!(found("ann", SearchScope::Conversation("c2".into())).await, [0]);
    let counted = |within: &str| SearchScope::Counted { tag: end(&ann).into(), within: within.parse().unwrap() };
    assert_eq!((found("ann", counted("1-2")).await, found("ann", counted("0")).await), (vec![2], vec![0]));
    let nobody = [
        ("bob", SearchScope::Conversation("c1".into())),
        ("bob", on_chain(&ann)),
        ("bob", counted("0-2")),
        ("eve", SearchScope::Everything),
        ("ann", SearchScope::Conversation("c9".into())),
    ];
    for (reader, scope) in nobody {
        let answer = store.search(request(reader, scope, "needle", 9)).await.unwrap();
        assert_eq!(answer, SearchAnswer::UnknownScope);
    }
    assert_eq!(hits(store, request("ann", on_chain(&ann), "needle", 0)).await, []);
}

pub(crate) async fn everything_is_searched_once(store: Tested<'_>) {
    let first = texts(&conversation("c1", "ann"), &["needle one", "needle two needle", "hay"]);
    let second =
        texts(&conversation("c2", "ann"), &["hay", "needle one", "needle alone in a rather long message of hay"]);
    let other = texts(&conversation("c3", "bob"), &["needle of bob"]);
    for kept in [&first, &second, &other] {
        store.put_content(kept.clone()).await.unwrap();
    }
    let found = hits(store, request("ann", SearchScope::Everything, "needle", 9)).await;
    let places: Vec<(&str, u32)> = found.iter().map(|hit| (hit.place.conversation.as_str(), hit.place.index)).collect();
    // A message that stands in several places is shown where it was last said.
    assert_eq!(places, [("c1", 1), ("c2", 2), ("c2", 1)]);
    let engine: SearchIndex =
        ["needle one", "needle two needle", "hay", "needle alone in a rather long message of hay"]
            .map(|text| Message::parse(Format::OpenAiChat, &said(text)).unwrap())
            .iter()
            .collect();
    let expected = engine.among(|_| true).search("needle", 9).hits;
    assert_eq!(expected.iter().map(|hit| hit.message).collect::<Vec<_>>(), [1, 3, 0]);
}

/// The store's hits over everything beside those of the engine's own index of the same messages.
async fn compare_everything(store: Tested<'_>, messages: &[(&str, Arc<str>)], queries: &[String]) {
    let parsed = messages.iter().map(|(_, raw)| Message::parse(Format::OpenAiChat, raw).unwrap());
    let parsed: Vec<Message> = parsed.collect();
    let index: SearchIndex = parsed.iter().collect();
    for query in queries {
        let found = hits(store, request("ann", SearchScope::Everything, query, 7)).await;
        let found = found.iter().map(|hit| (hit.place.conversation.as_str(), hit.text.as_str()));
        let expected = index.among(|_| true).search(query, 7).hits;
        let texts: Vec<String> =
            expected.iter().map(|hit| passages(&parsed[hit.message]).swap_remove(hit.passage)).collect();
        let expected = expected.iter().map(|hit| messages[hit.message].0).zip(texts.iter().map(String::as_str));
        assert!(
            found.clone().eq(expected.clone()),
            "{query:?}: {:?}",
            (found.collect::<Vec<_>>(), expected.collect::<Vec<_>>())
        );
    }
}

pub(crate) async fn everything_is_searched_as_it_is_now(store: Tested<'_>) {
    let mut random = Random::new(9);
    let mut kept: Vec<(&str, Arc<str>)> = Vec::new();
    let mut say = |number: usize| {
        let words: Vec<String> = (0..random.below(40)).map(|_| word(&mut random)).collect();
        said(&format!("message {number} {}", words.join(" ")))
    };
    let queries =
        ["message 3", "word0 word1", "word2 file1.rs", "ärger0", "word9 word17 word4 name", "20"].map(str::to_owned);
    // Conversations come, grow and go again, between those of somebody else; after each step everything is searched.
    for (step, id) in ["c1", "c2", "c3", "c1", "c4"].into_iter().enumerate() {
        let start = kept.iter().filter(|(of, _)| *of == id).count();
        kept.extend((0..12).map(|number| (id, say(100 * step + number))));
        let whole = kept.iter().filter(|(of, _)| *of == id).map(|(_, raw)| raw.clone());
        let mut whole = content(&conversation(id, "ann"), whole);
        whole.previous = start.checked_sub(1).map(|last| whole.messages[last].chain);
        whole.messages.drain(..start);
        whole.index = start as u32;
        store.put_content(whole).await.unwrap();
        store.put_content(content(&conversation("b", "bob"), [said(&format!("word0 of bob {step}"))])).await.unwrap();
        compare_everything(store, &kept, &queries).await;
        if let Some(gone) = ["", "", "c2", "c1", "c4"].get(step).filter(|gone| !gone.is_empty()) {
            store.delete_conversation((*gone).into()).await.unwrap();
            kept.retain(|(id, _)| id != gone);
            compare_everything(store, &kept, &queries).await;
        }
    }
    assert_eq!(kept.len(), 12);
}

pub(crate) async fn common_words_of_everything_are_the_engines(store: Tested<'_>) {
    // More passages than a search reads for a word: each a line of its own.
    let line = format!("the{}\n", " ".repeat(PASSAGE_CHARS - 5));
    let mut kept: Vec<(&str, Arc<str>)> = Vec::new();
    for (number, id) in ["c1", "c2"].into_iter().enumerate() {
        let long =
            |message: usize| said(&format!("{}zebra {number} {message} of the end", line.repeat(QUERY_POSTINGS / 18)));
        let messages: Vec<Arc<str>> = (0..10).map(long).collect();
        kept.extend(messages.iter().map(|raw| (id, raw.clone())));
        store.put_content(content(&conversation(id, "ann"), messages)).await.unwrap();
    }
    let queries = ["the zebra", "the", "the 3", "of the the", "the zebra"].map(str::to_owned);
    compare_everything(store, &kept, &queries).await;
    // A word that was too common is none any more.
    store.delete_conversation("c1".into()).await.unwrap();
    kept.drain(..10);
    compare_everything(store, &kept, &queries).await;
}

pub(crate) async fn marks_stand_where_the_words_do(store: Tested<'_>) {
    let text = format!("{}\nsee src/main_loop.rs, then MAIN_LOOP\n{}", "hay\n".repeat(2_000), "straw\n".repeat(2_000));
    let kept = texts(&conversation("c1", "ann"), &["hay", &text]);
    store.put_content(kept.clone()).await.unwrap();
    let found = hits(store, request("ann", on_chain(&kept), "main_loop", 5)).await;
    let [hit] = &found[..] else { panic!("{found:?}") };
    let marked: Vec<&str> = hit.marks.iter().map(|mark| &hit.text[mark.clone()]).collect();
    assert_eq!((hit.place.index, marked), (1, vec!["main_loop", "MAIN_LOOP"]));
    assert!(hit.passage > 1 && hit.text.contains("src/main_loop.rs"));
}
