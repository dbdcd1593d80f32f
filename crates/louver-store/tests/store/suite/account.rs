use super::{NOW, Tested, conversation};
use louver_store::{
    ConversationAccount, ConversationInfo, MAX_NAME_BYTES, NanoUsd, Observed, Order, Outcome, PageRequest, Queued,
    RequestEntry, Spent, Tokens, UnixMillis, Usage, Whose,
};

fn request(seconds: i64, outcome: Outcome) -> RequestEntry {
    RequestEntry::new(UnixMillis(NOW.0 + seconds * 1000), "anthropic", "sonnet", outcome)
}

async fn record(store: Tested<'_>, info: &ConversationInfo, entries: impl IntoIterator<Item = RequestEntry>) {
    for entry in entries {
        assert_eq!(store.record_request(info, entry), Queued::Waiting);
    }
    store.flush().await.unwrap();
}

async fn account(store: Tested<'_>, id: &str) -> ConversationAccount {
    store.conversation(id.into()).await.unwrap().unwrap()
}

pub(crate) async fn sums_follow_the_requests(store: Tested<'_>) {
    let info = ConversationInfo { parent: Some("c0".into()), ..conversation("c1", "ann") };
    let usage = Usage { input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6 };
    let counted = |seconds, outcome, factor: u64| RequestEntry {
        usage: (0..factor).map(|_| usage).reduce(|a, b| a + b),
        cost: Some(NanoUsd(10 * factor as i64)),
        baseline: Some(NanoUsd(25 * factor as i64)),
        tokens: Some(Tokens { sent: 100 * factor, held: 300 * factor }),
        ..request(seconds, outcome)
    };
    let entries = [
        counted(5, Outcome::Passed, 1),
        counted(2, Outcome::Cut, 2),
        counted(9, Outcome::Rescued, 3),
        request(7, Outcome::None),
    ];
    record(store, &info, entries).await;
    let latest = ConversationInfo { model: "opus".to_owned(), parent: None, ..info.clone() };
    record(store, &latest, [counted(8, Outcome::Kept, 4)]).await;
    let expected = ConversationAccount {
        info: ConversationInfo { model: "opus".to_owned(), ..info },
        first: UnixMillis(NOW.0 + 2_000),
        last: UnixMillis(NOW.0 + 9_000),
        requests: 5,
        cuts: 2,
        rescued: 1,
        last_tokens: Some(Tokens { sent: 400, held: 1_200 }),
        tokens: Tokens { sent: 1_000, held: 3_000 },
        usage: Usage { input: 10, cache_read: 20, cache_write_5m: 30, cache_write_1h: 40, output: 50, reasoning: 60 },
        cost: NanoUsd(100),
        baseline: NanoUsd(250),
    };
    assert_eq!(account(store, "c1").await, expected);
    assert_eq!(store.conversation("c0".into()).await.unwrap(), None);
}

pub(crate) async fn a_repeat_counts_once(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let repeat = |outcome| RequestEntry { is_repeat: true, ..request(0, outcome) };
    let all = [request(0, Outcome::Cut), repeat(Outcome::Cut), request(0, Outcome::Rescued), repeat(Outcome::Rescued)];
    record(store, &info, all).await;
    let account = account(store, "c1").await;
    assert_eq!((account.requests, account.cuts, account.rescued), (4, 2, 1));
}

pub(crate) async fn everything_said_of_a_request_is_kept(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let full = RequestEntry {
        is_repeat: true,
        status: Some(529),
        usage: Some(Usage { input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6 }),
        cost: Some(NanoUsd(-7)),
        baseline: Some(NanoUsd(8)),
        tokens: Some(Tokens { sent: 9, held: 10 }),
        observed: Some(Observed { sent: 11, cost: Some(NanoUsd(12)) }),
        cut_reason: Some("rent".to_owned()),
        cache_break: Some("tools changed".to_owned()),
        duration_ms: 13,
        ..request(1, Outcome::Refused)
    };
    let observed = RequestEntry { observed: Some(Observed { sent: 3, cost: None }), ..request(3, Outcome::Passed) };
    let entries = [full, request(2, Outcome::Kept), observed];
    record(store, &info, entries.clone()).await;
    let page = store.requests("c1".into(), PageRequest::first(10)).await.unwrap();
    assert_eq!((page.rows, page.next), (entries.to_vec(), None));
    let long = RequestEntry { cut_reason: Some("ä".repeat(1_000)), ..request(9, Outcome::Cut) };
    record(store, &info, [long]).await;
    let page = store.requests("c1".into(), PageRequest::first(10)).await.unwrap();
    assert_eq!(page.rows[3].cut_reason, Some("ä".repeat(MAX_NAME_BYTES / 2)));
}

pub(crate) async fn no_number_is_too_large(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    let most = u64::MAX;
    let usage = Usage { input: most, cache_read: most, output: most, ..Usage::default() };
    let entry = RequestEntry {
        usage: Some(usage),
        cost: Some(NanoUsd(i64::MAX)),
        baseline: Some(NanoUsd(i64::MIN)),
        tokens: Some(Tokens { sent: most, held: most }),
        duration_ms: most,
        ..request(0, Outcome::Passed)
    };
    record(store, &info, vec![entry; 50]).await;
    let account = account(store, "c1").await;
    assert_eq!((account.requests, store.status().lost), (50, 0));
    assert!(account.usage.input > 1 << 50 && account.cost.0 > 0 && account.baseline.0 < 0);
}

pub(crate) async fn conversations_come_in_pages(store: Tested<'_>) {
    for number in 0..25 {
        // Some at the same time.
        record(store, &conversation(&format!("c{number:02}"), "ann"), [request(number / 3, Outcome::Passed)]).await;
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.conversations(Whose::Everybody, PageRequest { after, rows: 10 }).await.unwrap();
        assert!(page.rows.len() <= 10);
        seen.extend(page.rows.into_iter().map(|row| row.info.id.to_string()));
        after = page.next.map(|cursor| cursor.to_string().parse().unwrap());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..25).rev().map(|number| format!("c{number:02}")).collect::<Vec<_>>());
}

pub(crate) async fn requests_come_in_pages(store: Tested<'_>) {
    let info = conversation("c1", "ann");
    record(store, &conversation("c2", "ann"), [request(0, Outcome::Kept)]).await;
    record(store, &info, (0..2_500).map(|number| request(number, Outcome::Passed))).await;
    let first = store.requests("c1".into(), PageRequest::first(usize::MAX)).await.unwrap();
    assert_eq!(first.rows.len(), louver_store::MAX_PAGE_ROWS);
    let second = store.requests("c1".into(), PageRequest::after(first.next.unwrap(), 1_000)).await.unwrap();
    let last = store.requests("c1".into(), PageRequest::after(second.next.unwrap(), 1_000)).await.unwrap();
    assert_eq!((last.rows.len(), last.next), (500, None));
    let all: Vec<i64> = [first.rows, second.rows, last.rows].concat().iter().map(|row| row.at.0).collect();
    assert_eq!(all, (0..2_500).map(|number| NOW.0 + number * 1000).collect::<Vec<_>>());
    assert_eq!(store.requests("c9".into(), PageRequest::first(5)).await.unwrap().rows, []);
}

pub(crate) async fn readers_see_their_own(store: Tested<'_>) {
    for (id, reader) in [("c1", "ann"), ("c2", "bob"), ("c3", "ann")] {
        record(store, &conversation(id, reader), [request(0, Outcome::Passed)]).await;
    }
    let seen = async |whose| {
        let page = store.conversations(whose, PageRequest::first(9)).await.unwrap();
        page.rows.into_iter().map(|row| row.info.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(seen(Whose::Everybody).await, ["c3", "c2", "c1"]);
    assert_eq!(seen(Whose::Only("ann".into())).await, ["c3", "c1"]);
    assert_eq!(seen(Whose::Only("eve".into())).await, [""; 0]);
}

fn paid(seconds: i64, cost: i64, baseline: i64) -> RequestEntry {
    RequestEntry { cost: Some(NanoUsd(cost)), baseline: Some(NanoUsd(baseline)), ..request(seconds, Outcome::Passed) }
}

pub(crate) async fn conversations_come_in_any_order(store: Tested<'_>) {
    // Cost falls with the number but for two that are equal, savings rise with it, and one lost money.
    for (number, cost, baseline) in [(0, 90, 100), (1, 80, 100), (2, 50, 90), (3, 50, 100), (4, 40, 10)] {
        let reader = if number == 2 { "bob" } else { "ann" };
        record(store, &conversation(&format!("c{number}"), reader), [paid(number, cost, baseline)]).await;
    }
    for (order, whose, expected) in [
        (Order::Newest, Whose::Everybody, vec!["c4", "c3", "c2", "c1", "c0"]),
        (Order::Dearest, Whose::Everybody, vec!["c0", "c1", "c3", "c2", "c4"]),
        (Order::MostSaved, Whose::Everybody, vec!["c3", "c2", "c1", "c0", "c4"]),
        (Order::MostSaved, Whose::Only("ann".into()), vec!["c3", "c1", "c0", "c4"]),
        (Order::Dearest, Whose::Only("eve".into()), vec![]),
    ] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = PageRequest { after, rows: 2 };
            let page = store.conversations_by(order, whose.clone(), page).await.unwrap();
            seen.extend(page.rows.into_iter().map(|row| row.info.id.to_string()));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{order:?} {whose:?}");
    }
}

pub(crate) async fn money_adds_up_by_day_model_and_reader(store: Tested<'_>) {
    let day = 24 * 60 * 60;
    let (ann, bob) = (conversation("c1", "ann"), conversation("c2", "bob"));
    let opus = RequestEntry { model: "opus".to_owned(), ..paid(day, 30, 70) };
    record(store, &ann, [paid(0, 1, 2), paid(1, 10, 20), opus, request(2, Outcome::None), paid(-day, 500, 500)]).await;
    record(store, &bob, [paid(day + 1, 100, 300)]).await;
    let spent = |requests, cost, baseline| Spent { requests, cost: NanoUsd(cost), baseline: NanoUsd(baseline) };
    let today = NOW.day();
    let all = store.spending(Whose::Everybody, NOW).await.unwrap();
    assert_eq!(
        all.by_day.into_iter().collect::<Vec<_>>(),
        [(today, spent(3, 11, 22)), (today + 1, spent(2, 130, 370))]
    );
    let by_model: Vec<_> = all.by_model.into_iter().collect();
    assert_eq!(by_model, [("opus".to_owned(), spent(1, 30, 70)), ("sonnet".to_owned(), spent(4, 111, 322))]);
    let by_reader: Vec<_> = all.by_reader.into_iter().collect();
    assert_eq!(by_reader, [("ann".into(), spent(4, 41, 92)), ("bob".into(), spent(1, 100, 300))]);
    let own = store.spending(Whose::Only("bob".into()), UnixMillis(0)).await.unwrap();
    assert_eq!(own.by_reader.into_iter().collect::<Vec<_>>(), [("bob".into(), spent(1, 100, 300))]);
    assert_eq!(own.by_day.into_values().collect::<Vec<_>>(), [spent(1, 100, 300)]);
    let nobody = store.spending(Whose::Only("eve".into()), UnixMillis(0)).await.unwrap();
    assert!(nobody.by_day.is_empty() && nobody.by_model.is_empty() && nobody.by_reader.is_empty());
}
