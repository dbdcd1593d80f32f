use super::{NOW, Tested, chain, content, conversation, end, said, texts};
use louver::address::Address;
use louver_store::{
    ArchivedMessage, ChainHash, ChainPoint, ChainTag, ConversationInfo, MAX_MESSAGE_BYTES, NewContent, NewMessage,
    Outcome, PageRequest, Queued, RecallRequest, Recalled, RequestEntry, Whose,
};
use std::sync::Arc;

fn request(reader: &str, tag: impl Into<ChainTag>, address: &str) -> RecallRequest {
    RecallRequest {
        reader: reader.into(),
        point: ChainPoint::Tag(tag.into()),
        address: address.parse::<Address>().unwrap(),
        max_bytes: usize::MAX,
    }
}

async fn recalled(store: Tested<'_>, request: RecallRequest) -> Vec<ArchivedMessage> {
    match store.recall(request).await.unwrap() {
        Recalled::Messages { messages, next: None } => messages,
        other => panic!("{other:?}"),
    }
}

fn raws(messages: &[ArchivedMessage]) -> Vec<Arc<str>> {
    messages.iter().map(|message| message.raw.clone()).collect()
}

/// The same conversation with other words from a message on.
fn branched(before: &NewContent, index: usize, words: &[&str]) -> NewContent {
    let kept = before.messages[..index].iter().map(|message| message.raw.clone());
    content(&before.conversation, kept.chain(words.iter().map(|word| said(word))))
}

pub(crate) async fn messages_come_back_by_address(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let kept = texts(&info, &["zero", "one", "two", "three", "four"]);
    assert_eq!(store.put_content(kept.clone()).await.unwrap(), 5);
    assert_eq!(store.put_content(kept.clone()).await.unwrap(), 0);
    let found = recalled(store, request("ann", end(&kept), "[louver:1-2, 4]")).await;
    assert_eq!(raws(&found), ["one", "two", "four"].map(said));
    assert_eq!(found.iter().map(|message| message.place.index).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(found[0].place.chain, kept.messages[1].chain);
    assert_eq!(found[0].place.previous, Some(kept.messages[0].chain));
    assert_eq!((&found[0].place.conversation, found[0].place.format), (&info.id, info.format));
    // A tag of a few bytes will do, and one in the middle reaches what stands before it.
    let middle = kept.messages[2].chain.tag(5);
    assert_eq!(raws(&recalled(store, request("ann", middle.clone(), "0-2")).await).len(), 3);
    let missing = store.recall(request("ann", middle, "1-3")).await.unwrap();
    assert_eq!(missing, Recalled::Missing { index: 3 });

    let small = RecallRequest { max_bytes: 2 * kept.messages[0].raw.len(), ..request("ann", end(&kept), "0-4") };
    let Recalled::Messages { messages, next } = store.recall(small).await.unwrap() else { panic!() };
    assert_eq!((messages.len(), next), (2, Some(2)));
    let none = RecallRequest { max_bytes: 0, ..request("ann", end(&kept), "3-4") };
    let Recalled::Messages { messages, next } = store.recall(none).await.unwrap() else { panic!() };
    assert_eq!((messages.len(), next), (1, Some(4)));
}

pub(crate) async fn a_chain_has_its_own_messages(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let first = texts(&info, &["zero", "one", "two", "three"]);
    // The client edited a message: the same conversation, another chain from there on.
    let second = branched(&first, 1, &["ONE", "TWO", "THREE"]);
    // A fork has a name of its own.
    let fork = ConversationInfo { parent: Some(info.id.clone()), ..conversation("c2", "ann") };
    let third = NewContent { conversation: fork, ..branched(&second, 3, &["Drei"]) };
    for (content, new) in [(&first, 4), (&second, 3), (&third, 4)] {
        assert_eq!(store.put_content(content.clone()).await.unwrap(), new);
    }
    let said_on = async |content: &NewContent| raws(&recalled(store, request("ann", end(content), "0-3")).await);
    assert_eq!(said_on(&first).await, ["zero", "one", "two", "three"].map(said));
    assert_eq!(said_on(&second).await, ["zero", "ONE", "TWO", "THREE"].map(said));
    assert_eq!(said_on(&third).await, ["zero", "ONE", "TWO", "Drei"].map(said));
    let all = store.content(Whose::Everybody, "c1".into(), PageRequest::first(99)).await.unwrap().rows;
    let indices: Vec<u32> = all.iter().map(|message| message.place.index).collect();
    assert_eq!(indices, [0, 1, 1, 2, 2, 3, 3]);
}

pub(crate) async fn readers_share_nothing(store: Tested<'_>) {
    let (ann, bob) = (conversation("c1", "ann"), conversation("c2", "bob"));
    let kept = texts(&ann, &["the same", "words"]);
    store.put_content(kept.clone()).await.unwrap();
    assert_eq!(store.recall(request("bob", end(&kept), "0")).await.unwrap(), Recalled::UnknownTag);
    store.put_content(NewContent { conversation: bob.clone(), ..kept.clone() }).await.unwrap();
    assert_eq!(store.size().await.unwrap().messages, 4);
    for (reader, id) in [("ann", "c1"), ("bob", "c2")] {
        let found = recalled(store, request(reader, end(&kept), "0-1")).await;
        assert!(found.iter().all(|message| message.place.conversation.as_str() == id), "{reader}");
    }
    // Two readers in one conversation see what they brought themselves.
    let joint =
        NewContent { conversation: ConversationInfo { reader: "bob".into(), ..ann }, ..texts(&bob, &["bob's"]) };
    store.put_content(joint).await.unwrap();
    let seen = async |whose| {
        let page = store.content(whose, "c1".into(), PageRequest::first(9)).await.unwrap();
        raws(&page.rows)
    };
    assert_eq!(seen(Whose::Only("ann".into())).await, ["the same", "words"].map(said));
    assert_eq!(seen(Whose::Only("bob".into())).await, ["bob's"].map(said));
    assert_eq!(seen(Whose::Only("eve".into())).await, [""; 0].map(said));
    assert_eq!(seen(Whose::Everybody).await.len(), 3);
}

pub(crate) async fn the_same_text_is_kept_once(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let kept = texts(&info, &["ok", "go on", "ok", "ok"]);
    assert_eq!(store.put_content(kept.clone()).await.unwrap(), 4);
    store.put_content(texts(&conversation("c2", "ann"), &["ok"])).await.unwrap();
    let size = store.size().await.unwrap();
    assert_eq!((size.messages, size.content_bytes), (2, (said("ok").len() + said("go on").len()) as u64));
    assert_eq!(raws(&recalled(store, request("ann", end(&kept), "0-3")).await), ["ok", "go on", "ok", "ok"].map(said));
}

pub(crate) async fn what_is_missing_is_said(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let whole = texts(&info, &["zero", "one", "two", "three"]);
    let tail = NewContent {
        index: 2,
        previous: Some(whole.messages[1].chain),
        messages: whole.messages[2..].to_vec(),
        ..whole.clone()
    };
    store.put_content(tail).await.unwrap();
    assert_eq!(store.recall(request("ann", end(&whole), "1-3")).await.unwrap(), Recalled::Missing { index: 1 });
    assert_eq!(raws(&recalled(store, request("ann", end(&whole), "2-3")).await), ["two", "three"].map(said));
    assert_eq!(store.recall(request("ann", end(&whole), "4")).await.unwrap(), Recalled::Missing { index: 4 });
}

pub(crate) async fn what_is_thinking_alone_is_left_out(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let whole = texts(&info, &["zero", "two", "three"]);
    let start = NewContent { messages: whole.messages[..1].to_vec(), ..whole.clone() };
    let rest = NewContent {
        index: 2,
        previous: Some(whole.messages[0].chain),
        messages: whole.messages[1..].to_vec(),
        ..whole.clone()
    };
    store.put_content(start).await.unwrap();
    store.put_content(rest).await.unwrap();
    assert_eq!(raws(&recalled(store, request("ann", end(&whole), "0-2")).await), ["zero", "two"].map(said));
    assert_eq!(recalled(store, request("ann", end(&whole), "1")).await, []);
    assert_eq!(store.recall(request("ann", end(&whole), "2-4")).await.unwrap(), Recalled::Missing { index: 4 });
}

pub(crate) async fn a_conversation_is_known_to_its_reader(store: Tested<'_>) {
    let kept = texts(&conversation("c1", "ann"), &["zero", "one"]);
    store.put_content(kept.clone()).await.unwrap();
    store.put_content(branched(&kept, 1, &["ONE"])).await.unwrap();
    let newest = |reader: &str, id: &str| RecallRequest {
        point: ChainPoint::Newest(id.into()),
        ..request(reader, end(&kept), "0-1")
    };
    assert_eq!(raws(&recalled(store, newest("ann", "c1")).await), ["zero", "ONE"].map(said));
    for (reader, id) in [("bob", "c1"), ("ann", "c2")] {
        assert_eq!(store.recall(newest(reader, id)).await.unwrap(), Recalled::UnknownTag);
    }
}

pub(crate) async fn gaps_are_closed_when_they_are_known(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let whole = texts(&info, &["zero", "one", "two", "three"]);
    let tail = NewContent { index: 2, previous: None, messages: whole.messages[2..].to_vec(), ..whole.clone() };
    store.put_content(tail).await.unwrap();
    assert_eq!(store.put_content(whole.clone()).await.unwrap(), 2);
    assert_eq!(recalled(store, request("ann", end(&whole), "0-3")).await.len(), 4);
    // What follows names what it follows.
    let next = NewMessage { chain: chain(4), raw: said("four") };
    let next = NewContent { index: 4, previous: Some(end(&whole)), messages: vec![next], ..whole };
    store.put_content(next).await.unwrap();
    assert_eq!(recalled(store, request("ann", chain(4), "0-4")).await.len(), 5);
}

pub(crate) async fn tags_may_be_unknown_or_ambiguous(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let hash = |last: u8| {
        let mut bytes = [9; 32];
        bytes[31] = last;
        ChainHash(bytes)
    };
    let message = |last: u8| NewMessage { chain: hash(last), raw: said("words") };
    let kept =
        NewContent { conversation: info, at: NOW, index: 0, previous: None, messages: vec![message(1), message(2)] };
    store.put_content(kept).await.unwrap();
    let recall = async |tag: ChainTag| store.recall(request("ann", tag, "0")).await.unwrap();
    assert_eq!(recall(hash(1).tag(31)).await, Recalled::AmbiguousTag);
    assert_eq!(recall(chain(1).tag(4)).await, Recalled::UnknownTag);
    assert!(matches!(recall(hash(1).into()).await, Recalled::Messages { .. }));
}

pub(crate) async fn pages_end_by_rows_and_bytes(store: Tested<'_>) {
    let large = "x".repeat(6 << 20);
    let words = [large.clone(), large.clone() + "a", large + "b", "small".to_owned(), "tiny".to_owned()];
    let kept = content(&conversation("c1", "ann"), words.iter().map(|text| said(text)));
    store.put_content(kept.clone()).await.unwrap();
    let (mut lengths, mut all, mut page) = (Vec::new(), Vec::new(), PageRequest::first(2));
    loop {
        let found = store.content(Whose::Everybody, "c1".into(), page).await.unwrap();
        lengths.push(found.rows.len());
        all.extend(found.rows);
        let Some(next) = found.next else { break };
        page = PageRequest::after(next, 9);
    }
    // Two by rows, one more before the bytes would be too many.
    assert_eq!((lengths, raws(&all)), (vec![2, 3], kept.messages.iter().map(|message| message.raw.clone()).collect()));
    let found = store.content(Whose::Everybody, "c1".into(), PageRequest::first(9)).await.unwrap();
    assert_eq!((found.rows.len(), found.next.is_some()), (2, true));
    let too_large = content(&conversation("c3", "ann"), [said(&"x".repeat(MAX_MESSAGE_BYTES))]);
    assert!(store.put_content(too_large).await.unwrap_err().is_too_large());
}

pub(crate) async fn written_behind_is_written(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let words: Vec<String> = (0..300).map(|number| format!("{number} {}", "word ".repeat(400))).collect();
    let kept = content(&info, words.iter().map(|text| said(text)));
    assert_eq!(store.put_content_behind(kept.clone()), Queued::Waiting);
    store.flush().await.unwrap();
    assert_eq!(recalled(store, request("ann", end(&kept), "0-299")).await.len(), 300);
    assert_eq!(store.put_content(kept).await.unwrap(), 0);
}

pub(crate) async fn messages_of_any_kind_are_kept(store: Tested<'_>) {
    // What the engine cannot read comes back as it came, too.
    let raws_in: [Arc<str>; 6] =
        ["no json".into(), "".into(), "\u{0}\"'\u{feff}".into(), "[]".into(), "{}".into(), said("")];
    let kept = content(&conversation("c1", "ann"), raws_in.clone());
    store.put_content(kept.clone()).await.unwrap();
    assert_eq!(raws(&recalled(store, request("ann", end(&kept), "0-5")).await), raws_in);
}

pub(crate) async fn whether_anything_is_kept_is_known(store: Tested<'_>) {
    let entry = RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(store.record_request(&conversation("c1", "ann"), entry), Queued::Waiting);
    store.flush().await.unwrap();
    assert!(!store.has_content("ann".into()).await.unwrap() && !store.has_content("bob".into()).await.unwrap());
    store.put_content(texts(&conversation("c2", "ann"), &["one", "two"])).await.unwrap();
    assert!(store.has_content("ann".into()).await.unwrap() && !store.has_content("bob".into()).await.unwrap());
    store.delete_conversation("c2".into()).await.unwrap();
    assert!(!store.has_content("ann".into()).await.unwrap());
}

pub(crate) async fn places_follow_the_chain(store: Tested<'_>) {
    let kept = texts(&conversation("c1", "ann"), &["zero", "one", "two"]);
    store.put_content(kept.clone()).await.unwrap();
    let branch = branched(&kept, 1, &["ONE"]);
    store.put_content(branch.clone()).await.unwrap();
    let places = async |reader: &str, point: ChainPoint| {
        let found = store.chain_places(reader.into(), point).await.unwrap();
        found.into_iter().map(|place| (place.index, place.chain)).collect::<Vec<_>>()
    };
    let hashes: Vec<(u32, ChainHash)> = (0..).zip(kept.messages.iter().map(|message| message.chain)).collect();
    assert_eq!(places("ann", ChainPoint::Tag(end(&kept).into())).await, hashes);
    assert_eq!(places("ann", ChainPoint::Tag(hashes[1].1.into())).await, hashes[..2]);
    assert_eq!(places("ann", ChainPoint::Newest("c1".into())).await, [hashes[0], (1, end(&branch))]);
    assert_eq!(places("bob", ChainPoint::Newest("c1".into())).await, []);
    assert_eq!(places("bob", ChainPoint::Tag(end(&kept).into())).await, []);
}
