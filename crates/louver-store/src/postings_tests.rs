use super::{Log, LogMessage, PassageTokens, QUERY_POSTINGS, Reading, query_terms, repetitions};

#[test]
fn a_repeated_term_is_told_by_bits() {
    let tokens = PassageTokens::of(3, "one two two TWO five five five five five src/lib.rs");
    assert_eq!(tokens.tokens.trim_end(), "3:five 3:five!2 3:lib 3:lib.rs 3:one 3:rs 3:src 3:src/lib.rs 3:two 3:two!1");
    assert_eq!(tokens.length, 14);
    let bits: Vec<(String, u32)> = repetitions(3, "two").take(2).collect();
    assert_eq!(bits, [("3:two!0".to_owned(), 1), ("3:two!1".to_owned(), 2)]);
}

#[test]
fn no_passage_repeats_a_term_more_often_than_can_be_told() {
    let most = louver::search::PASSAGE_CHARS + 1;
    for text in ["日".repeat(most), "a ".repeat(most / 2), "a:".repeat(most / 2)] {
        let tokens = PassageTokens::of(1, &text);
        let told = |token: &str| {
            repetitions(1, token)
                .filter(|(bit, _)| tokens.tokens.contains(&format!("{bit} ")))
                .map(|(_, times)| times)
                .sum::<u32>()
                + 1
        };
        let (term, times) = if text.starts_with('a') { ("a", most / 2) } else { ("日日", most - 1) };
        assert_eq!(told(term) as usize, times, "{term}");
        assert!(tokens.length <= u32::from(u16::MAX));
    }
}

#[test]
fn a_term_is_asked_for_once_and_long_ones_first() {
    assert_eq!(query_terms("the Loop the main_loop"), ["main_loop", "loop", "main", "the"]);
}

#[test]
fn a_message_may_stand_in_several_places() {
    let message = |id, lengths: &[u32]| LogMessage { id, lengths: lengths.to_vec() };
    let log = Log::new(&[message(20, &[1, 2]), message(5, &[3]), message(20, &[1, 2]), message(9, &[])]);
    let places = |passage| {
        let mut places: Vec<u32> = log.places(passage).collect();
        places.sort_unstable();
        places
    };
    assert_eq!((places(20), places(21), places(5)), (vec![0, 3], vec![1, 4], vec![2]));
    assert!([4, 6, 9, 10, 19, 22].iter().all(|passage| places(*passage).is_empty()));
    assert!(log.passages().contains(&5) && log.passages().contains(&21));
    assert!(Log::new(&[]).passages().is_empty());
}

#[test]
fn a_log_with_further_messages_is_the_whole_one() {
    let message = |id, lengths: &[u32]| LogMessage { id, lengths: lengths.to_vec() };
    let all = [message(3, &[7]), message(5, &[]), message(8, &[1, 2]), message(9, &[4])];
    let whole = Log::new(&all);
    // Whoever writes at the same time may be done later with what has a lower number; what is known already changes nothing.
    let grown = Log::new(&[]).with(&all[2..3]).with(&[all[0].clone(), all[3].clone()]).with(&all[..3]);
    assert_eq!((grown.ids(), grown.passages()), (whole.ids(), whole.passages()));
    for passage in 0..12 {
        assert!(grown.places(passage).eq(whole.places(passage)), "{passage}");
    }
    assert_eq!((grown.len(), grown.last_id(), Log::new(&[]).last_id()), (4, Some(9), None));
}

/// Which lists the engine reads: the shortest first, until one does not fit.
fn read(lists: &[usize]) -> usize {
    let mut sorted = lists.to_vec();
    sorted.sort_unstable();
    let mut left = QUERY_POSTINGS;
    sorted.iter().take_while(|length| left.checked_sub(**length).inspect(|rest| left = *rest).is_some()).count()
}

#[test]
fn a_list_within_the_limit_is_read_and_a_longer_one_is_not() {
    let known: [&[usize]; 8] = [
        &[],
        &[11_001],
        &[5_000, 5_000],
        &[9_000, 9_000],
        &[9_000, 9_000, 9_000],
        &[1, 2, 3, 19_000],
        &[QUERY_POSTINGS],
        &[4_000, 4_000, 4_000, 4_000, 4_000],
    ];
    for lists in known {
        let mut reading = Reading::default();
        lists.iter().for_each(|length| reading.add(*length));
        let limit = reading.limit();
        let is_read = |length: usize| {
            let before = lists.iter().filter(|known| **known < length).count();
            read(&[lists, &[length]].concat()) > before
        };
        assert!(is_read(limit) && !is_read(limit + 1), "{lists:?} {limit}");
    }
}
