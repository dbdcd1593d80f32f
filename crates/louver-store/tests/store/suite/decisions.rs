use super::{NOW, Tested, chain, conversation, decision, key};
use louver_store::{
    ChainQuery, Decision, DecisionKey, FurtherAttempt, Inserted, MAX_NAME_BYTES, MAX_RECORD_BYTES, Outcome,
    PageRequest, Queued, RequestEntry, Sequence, StoredDecision,
};

fn query(hashes: impl IntoIterator<Item = u64>) -> ChainQuery {
    ChainQuery {
        upstream: "anthropic".to_owned(),
        hashes: hashes.into_iter().map(chain).collect(),
        after: Sequence::default(),
    }
}

fn records(found: &[StoredDecision]) -> Vec<&str> {
    found.iter().map(|found| std::str::from_utf8(&found.decision.record).unwrap()).collect()
}

fn attempt(number: u64, attempt: u8, record: &str) -> Decision {
    Decision { key: key(number, attempt), ..decision(number, number, record) }
}

pub(crate) async fn found_by_key_and_by_what_it_touches(store: Tested<'_>) {
    let elsewhere = DecisionKey { upstream: "openai".to_owned(), ..key(10, 0) };
    let kept = [
        decision(30, 20, "third boundary"),
        decision(10, 5, "first boundary"),
        Decision { key: elsewhere, ..decision(10, 5, "another upstream") },
        decision(99, 4, "key fell off the chain"),
        decision(98, 97, "another chain"),
    ];
    for decision in &kept {
        store.insert_decision(decision.clone()).await.unwrap();
    }
    store.mark_shown(key(10, 0)).await.unwrap();
    let found = store.decisions_on(query(0..40)).await.unwrap();
    assert_eq!(records(&found), ["third boundary", "first boundary", "key fell off the chain"]);
    assert_eq!(found.iter().map(|found| found.is_shown).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(found[1].decision, kept[1]);
    assert!(found.is_sorted_by_key(|found| found.sequence));

    let heads = store.decision_heads_on(query(0..40)).await.unwrap();
    let same = |(head, whole): (&louver_store::DecisionHead, &StoredDecision)| {
        (head.sequence, head.is_shown, &head.key, head.touches)
            == (whole.sequence, whole.is_shown, &whole.decision.key, whole.decision.touches)
    };
    assert!(heads.len() == 3 && heads.iter().zip(&found).all(same), "{heads:?}");
    assert_eq!(store.decision(found[2].sequence).await.unwrap().as_ref(), Some(&found[2]));
    assert_eq!(store.decision(Sequence(1_000_000)).await.unwrap(), None);
    assert_eq!(store.decisions_on(query([])).await.unwrap(), []);
}

pub(crate) async fn many_hashes_are_one_question(store: Tested<'_>) {
    let decisions = (0..100).map(|number| decision(number * 300, number * 300 + 7, &number.to_string()));
    for insert in decisions.map(|decision| store.insert_decision(decision)) {
        insert.await.unwrap();
    }
    // The hashes touched are on the chain, too: each decision is found once all the same.
    let found = store.decisions_on(query(0..20_000)).await.unwrap();
    assert_eq!(records(&found), (0..67).map(|number| number.to_string()).collect::<Vec<_>>());
    let few = store.decisions_on(query([300, 607, 1])).await.unwrap();
    assert_eq!(records(&few), ["1", "2"]);
}

pub(crate) async fn only_later_ones_are_asked_for(store: Tested<'_>) {
    let mut sequences = Vec::new();
    for number in 0..20 {
        let inserted = store.insert_decision(decision(number, 100 + number, &number.to_string())).await.unwrap();
        sequences.push(inserted.winner().sequence);
    }
    // As many hashes as decisions and fewer are looked up in different ways.
    for hashes in [vec![3, 118], (0..60).chain([118]).collect()] {
        for after in [2, 3, 17, 18, 19] {
            let later = ChainQuery { after: sequences[after], ..query(hashes.clone()) };
            let whole = store.decisions_on(query(hashes.clone())).await.unwrap();
            let expected: Vec<_> = whole.into_iter().filter(|found| found.sequence > sequences[after]).collect();
            assert_eq!(store.decisions_on(later).await.unwrap(), expected, "{hashes:?} after {after}");
        }
    }
}

pub(crate) async fn the_first_inserted_counts(store: Tested<'_>) {
    let first = store.insert_decision(decision(1, 0, "mine")).await.unwrap();
    assert!(matches!(first, Inserted::Mine(_)));
    let second = store.insert_decision(decision(1, 2, "too late")).await.unwrap();
    assert_eq!(second, Inserted::Theirs(first.winner().clone()));
    assert_eq!(second.into_winner().decision, decision(1, 0, "mine"));
    let others = [
        DecisionKey { model: "opus".to_owned(), ..key(1, 0) },
        DecisionKey { upstream: "openai".to_owned(), ..key(1, 0) },
        key(2, 0),
    ];
    for other in others {
        let other = Decision { key: other, ..decision(1, 0, "another key") };
        assert!(matches!(store.insert_decision(other).await.unwrap(), Inserted::Mine(_)));
    }
}

pub(crate) async fn shown_ends_the_attempts(store: Tested<'_>) {
    assert!(!store.mark_shown(key(1, 0)).await.unwrap());
    store.insert_decision(attempt(1, 0, "refused")).await.unwrap();
    let second = store.insert_attempt(attempt(1, 1, "smaller")).await.unwrap();
    let FurtherAttempt::Inserted(Inserted::Mine(second)) = second else { panic!("{second:?}") };
    for _ in 0..2 {
        assert!(store.mark_shown(key(1, 1)).await.unwrap());
    }
    let shown = StoredDecision { is_shown: true, ..second };
    for number in [1, 2, 3] {
        let third = store.insert_attempt(attempt(1, number, "too late")).await.unwrap();
        assert_eq!(third, FurtherAttempt::Shown(shown.clone()), "attempt {number}");
    }
    let found = store.decisions_on(query([1])).await.unwrap();
    assert_eq!(found.iter().map(|found| found.is_shown).collect::<Vec<_>>(), [false, true]);
    // Another model's attempts at the same request are its own.
    let opus = DecisionKey { model: "opus".to_owned(), ..key(1, 0) };
    store.insert_decision(Decision { key: opus.clone(), ..attempt(1, 0, "opus") }).await.unwrap();
    let opus = Decision { key: DecisionKey { attempt: 1, ..opus }, ..attempt(1, 0, "opus, smaller") };
    assert!(matches!(store.insert_attempt(opus).await.unwrap(), FurtherAttempt::Inserted(Inserted::Mine(_))));
}

pub(crate) async fn there_are_two_further_attempts(store: Tested<'_>) {
    store.insert_decision(attempt(1, 0, "0")).await.unwrap();
    for number in [1, 2] {
        let record = number.to_string();
        let mine = store.insert_attempt(attempt(1, number, &record)).await.unwrap();
        assert!(matches!(&mine, FurtherAttempt::Inserted(Inserted::Mine(_))), "{mine:?}");
        let theirs = store.insert_attempt(attempt(1, number, "the same attempt of another")).await.unwrap();
        let FurtherAttempt::Inserted(Inserted::Theirs(winner)) = theirs else { panic!("{theirs:?}") };
        assert_eq!(winner.decision.record[..], *record.as_bytes());
    }
    for number in [3, 4, u8::MAX] {
        let more = store.insert_attempt(attempt(1, number, "one too many")).await.unwrap();
        assert_eq!(more, FurtherAttempt::Exhausted);
    }
    assert_eq!(records(&store.decisions_on(query([1])).await.unwrap()), ["0", "1", "2"]);
}

pub(crate) async fn an_attempt_needs_the_one_before(store: Tested<'_>) {
    for number in [0, 1, 2] {
        assert!(store.insert_attempt(attempt(1, number, "no first")).await.unwrap_err().is_invalid());
    }
    store.insert_decision(attempt(1, 0, "first")).await.unwrap();
    assert!(store.insert_attempt(attempt(1, 2, "no second")).await.unwrap_err().is_invalid());
    assert_eq!(records(&store.decisions_on(query([1])).await.unwrap()), ["first"]);
}

pub(crate) async fn versions_change_with_decisions_alone(store: Tested<'_>) {
    let mut last = store.decisions_version().await.unwrap();
    let entry = RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(store.record_request(&conversation("c1", "ann"), entry), Queued::Waiting);
    store.flush().await.unwrap();
    store.put_content(super::texts(&conversation("c1", "ann"), &["hello"])).await.unwrap();
    assert_eq!(store.decisions_version().await.unwrap(), last);

    for (is_change, decision) in
        [(true, decision(1, 0, "a")), (false, decision(1, 0, "b")), (true, decision(2, 0, "c"))]
    {
        store.insert_decision(decision).await.unwrap();
        let version = store.decisions_version().await.unwrap();
        assert_eq!(version != last, is_change);
        last = version;
    }
    for is_change in [true, false] {
        store.mark_shown(key(1, 0)).await.unwrap();
        let version = store.decisions_version().await.unwrap();
        assert_eq!(version != last, is_change);
        last = version;
    }
}

pub(crate) async fn bounds_are_kept(store: Tested<'_>) {
    let largest = Decision { record: vec![7; MAX_RECORD_BYTES].into(), ..decision(1, 0, "") };
    let kept = store.insert_decision(largest.clone()).await.unwrap();
    assert_eq!(kept.winner().decision, largest);
    let too_large = Decision { record: vec![7; MAX_RECORD_BYTES + 1].into(), ..decision(2, 0, "") };
    assert!(store.insert_decision(too_large).await.unwrap_err().is_too_large());
    let name = "m".repeat(MAX_NAME_BYTES + 1);
    let long = Decision { key: DecisionKey { model: name, ..key(3, 0) }, ..decision(3, 0, "") };
    assert!(store.insert_decision(long).await.unwrap_err().is_too_large());
    let odd = "'; DROP TABLE decisions; -- \u{0} ä";
    let odd = Decision { key: DecisionKey { model: odd.to_owned(), ..key(4, 0) }, ..decision(4, 0, "") };
    assert_eq!(store.insert_decision(odd.clone()).await.unwrap().winner().decision, odd);
}

pub(crate) async fn of_many_at_once_one_wins(store: Tested<'_>) {
    for round in 0..20 {
        let records: Vec<String> = (0..16).map(|racer| format!("{round}/{racer}")).collect();
        let racers = records.iter().map(|record| store.insert_decision(decision(round, 0, record)));
        let outcomes: Vec<Inserted> =
            futures_util::future::join_all(racers).await.into_iter().map(Result::unwrap).collect();
        let mine: Vec<_> = outcomes.iter().filter(|outcome| matches!(outcome, Inserted::Mine(_))).collect();
        assert_eq!(mine.len(), 1);
        assert!(outcomes.iter().all(|outcome| outcome.winner() == mine[0].winner()));
    }
}

pub(crate) async fn found_by_a_tag(store: Tested<'_>) {
    for decision in [decision(1, 0, "a"), decision(2, 1, "b")] {
        store.insert_decision(decision).await.unwrap();
    }
    let further = Decision { key: key(1, 1), ..decision(1, 0, "c") };
    store.insert_attempt(further).await.unwrap();
    let found = store.decisions_at(chain(1).tag(4)).await.unwrap();
    let records: Vec<&[u8]> = found.iter().map(|stored| &*stored.decision.record).collect();
    assert_eq!(records, [b"a", b"c"]);
    assert_eq!(store.decisions_at(chain(3).tag(4)).await.unwrap(), []);
}

pub(crate) async fn listed_by_conversation(store: Tested<'_>) {
    // Two in the same millisecond, and one that is older than what was inserted before it.
    for (number, seconds) in [(1, 5), (2, 5), (3, 1)] {
        let at = louver_store::UnixMillis(NOW.0 + seconds);
        store.insert_decision(Decision { at, ..decision(number, number, &number.to_string()) }).await.unwrap();
    }
    store.insert_decision(Decision { conversation: "c2".into(), ..decision(4, 4, "4") }).await.unwrap();
    let first = store.decisions_in("c1".into(), PageRequest::first(2)).await.unwrap();
    assert_eq!(records(&first.rows), ["3", "1"]);
    let rest = store.decisions_in("c1".into(), PageRequest::after(first.next.unwrap(), 2)).await.unwrap();
    assert_eq!((records(&rest.rows), rest.next), (vec!["2"], None));
    assert_eq!(records(&store.decisions_in("c3".into(), PageRequest::first(2)).await.unwrap().rows), [""; 0]);
}
