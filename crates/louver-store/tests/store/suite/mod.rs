//! What every store has to do. A new store lists itself with `suite!` and passes the same cases.

pub(crate) mod account;
pub(crate) mod content;
pub(crate) mod decisions;
pub(crate) mod facts;
pub(crate) mod maintenance;
pub(crate) mod search;

use louver::Format;
use louver_store::{ChainHash, ConversationInfo, Decision, DecisionKey, NewContent, NewMessage, Store, UnixMillis};
use std::sync::Arc;

/// Makes a test of every case, given a function that makes an empty store and whatever keeps it alive, if
/// it can be made here.
#[macro_export]
macro_rules! suite {
    ($make:path) => {
        $crate::suite_cases! { $make,
            account: sums_follow_the_requests, conversations_come_in_pages, requests_come_in_pages, a_repeat_counts_once,
                everything_said_of_a_request_is_kept, no_number_is_too_large, readers_see_their_own,
                conversations_come_in_any_order, money_adds_up_by_day_model_and_reader;
            content: messages_come_back_by_address, a_chain_has_its_own_messages, readers_share_nothing,
                the_same_text_is_kept_once, what_is_missing_is_said, tags_may_be_unknown_or_ambiguous,
                pages_end_by_rows_and_bytes, gaps_are_closed_when_they_are_known, written_behind_is_written,
                messages_of_any_kind_are_kept, what_is_thinking_alone_is_left_out, a_conversation_is_known_to_its_reader,
                places_follow_the_chain, whether_anything_is_kept_is_known;
            decisions: found_by_key_and_by_what_it_touches, many_hashes_are_one_question, only_later_ones_are_asked_for,
                the_first_inserted_counts, shown_ends_the_attempts, there_are_two_further_attempts,
                an_attempt_needs_the_one_before, versions_change_with_decisions_alone, bounds_are_kept,
                of_many_at_once_one_wins, found_by_a_tag, listed_by_conversation;
            facts: facts_are_kept_apart, a_limit_is_raised_and_forgotten, the_longest_answer_counts;
            maintenance: old_decisions_leave_with_their_conversation, old_content_leaves, content_is_kept_within_bytes,
                old_accounts_leave, a_deleted_conversation_is_gone, what_others_hold_stays, a_vacuum_changes_nothing,
                sizes_are_counted, a_closed_store_says_so;
            search: hits_are_the_engines, hits_of_real_conversations_are_the_engines, common_words_are_the_engines,
                scopes_are_kept_apart, everything_is_searched_once, everything_is_searched_as_it_is_now,
                common_words_of_everything_are_the_engines, marks_stand_where_the_words_do;
        }
    };
}

/// The tests that [`suite!`] makes.
#[macro_export]
macro_rules! suite_cases {
    ($make:path, $($module:ident: $($case:ident),+;)+) => {
        $(mod $module {
            $(#[tokio::test]
            async fn $case() {
                let Some((store, _kept)) = $make() else { return };
                $crate::suite::$module::$case(&*store).await;
            })+
        })+
    };
}

/// A store to be tested.
pub(crate) type Tested<'s> = &'s dyn Store;

pub(crate) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

/// A hash that is unlike those of other numbers.
pub(crate) fn chain(number: u64) -> ChainHash {
    ChainHash(*blake3::hash(&number.to_le_bytes()).as_bytes())
}

pub(crate) fn key(number: u64, attempt: u8) -> DecisionKey {
    DecisionKey { chain: chain(number), upstream: "anthropic".to_owned(), model: "sonnet".to_owned(), attempt }
}

/// A decision at one hash that touches up to another.
pub(crate) fn decision(at: u64, touches: u64, record: &str) -> Decision {
    Decision {
        key: key(at, 0),
        touches: chain(touches),
        conversation: "c1".into(),
        at: NOW,
        record: record.as_bytes().into(),
    }
}

pub(crate) fn conversation(id: &str, reader: &str) -> ConversationInfo {
    ConversationInfo {
        id: id.into(),
        parent: None,
        reader: reader.into(),
        format: Format::OpenAiChat,
        model: "sonnet".to_owned(),
    }
}

/// A message as it comes.
pub(crate) fn said(text: &str) -> Arc<str> {
    format!(r#"{{"role":"user","content":{}}}"#, louver::json::text::encode(text)).into()
}

/// The start of a conversation; its hashes follow from what is said.
pub(crate) fn content(info: &ConversationInfo, raws: impl IntoIterator<Item = Arc<str>>) -> NewContent {
    let mut hasher = blake3::Hasher::new();
    let messages = raws.into_iter().map(|raw| {
        hasher.update(raw.as_bytes()).update(b"\n");
        NewMessage { chain: ChainHash(*hasher.finalize().as_bytes()), raw }
    });
    NewContent { conversation: info.clone(), at: NOW, index: 0, previous: None, messages: messages.collect() }
}

pub(crate) fn texts(info: &ConversationInfo, texts: &[&str]) -> NewContent {
    content(info, texts.iter().map(|text| said(text)))
}

/// The hash at the end of some content.
pub(crate) fn end(content: &NewContent) -> ChainHash {
    content.messages.last().unwrap().chain
}

/// Numbers that are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}
