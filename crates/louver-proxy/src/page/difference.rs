//! A cut as a difference: what was sent before it, and what is sent since.

use super::asked::Query;
use super::cuts::summary;
use super::{Fault, Page};
use crate::conversation::{AppliedView, Chain, Item, Piece, ViewRecord};
use crate::mcp::written;
use louver::address::Address;
use louver::wire::PartKind;
use louver::{Format, Message};
use louver_store::{
    ChainHash, ChainPoint, ChainQuery, ConversationAccount, RecallRequest, Recalled, Sequence, StoredDecision,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many messages a page has where nothing else is asked for, and at most.
const ROWS: usize = 200;
const MAX_ROWS: usize = 1_000;

/// How many bytes of a history are read at most. No request is larger.
const MAX_BYTES: usize = 64 << 20;

/// How much of a message stands in its row, and how much of a ledger is shown.
const PREVIEW_CHARS: usize = 160;
const MAX_LEDGER_CHARS: usize = 200_000;

const SENT: &str = "sent";
const EDITED: &str = "edited";
const WITHOUT_THINKING: &str = "thinking left out";
const LEFT_OUT: &str = "left out";

/// A history as it is kept: every message but those that are nothing but thinking.
struct Whole {
    format: Format,
    log: Vec<Arc<Message>>,
    /// Where each stood in the client's history.
    indices: Vec<u32>,
    chain: Chain,
}

/// Which messages of a cut are wanted.
#[derive(Clone, Copy)]
struct Wanted {
    after: usize,
    rows: usize,
    /// Whether each is wanted, also those that the cut has not changed.
    is_each: bool,
}

/// Why the text of a history is not there.
enum NoText {
    NotKept,
    Anothers,
}

impl Page {
    pub(super) async fn cut(&self, id: &str, sequence: &str, query: &Query) -> Result<Value, Fault> {
        let (after, rows) = (query.number("after")?.unwrap_or(0), query.number("rows")?.unwrap_or(ROWS));
        let wanted = Wanted { after, rows: rows.clamp(1, MAX_ROWS), is_each: query.get("each") == Some("1") };
        let account = self.account(id).await?;
        let stored = self.decision_of(&account, sequence).await?;
        let cut = summary(&stored, &account.info.id).ok_or(Fault::Missing)?;
        let record = ViewRecord::parse(&stored.decision.record).map_err(|_| Fault::Missing)?;
        let _one_of_few = self.shared.whole_histories.acquire().await;
        let mut value = match self.whole(&account, stored.decision.key.chain).await? {
            Ok(whole) => {
                let before = self.view_before(&stored, &whole).await?;
                // Reading and applying a record of a long history takes milliseconds.
                let told = tokio::task::spawn_blocking(move || told(&record, before.as_ref(), &whole, wanted));
                told.await.ok().flatten().ok_or(Fault::Missing)?
            }
            Err(why) => without_text(&record, &why, wanted),
        };
        value["cut"] = cut;
        Ok(value)
    }

    /// A history up to a point of its chain, where it is kept and this reader's.
    async fn whole(&self, account: &ConversationAccount, end: ChainHash) -> Result<Result<Whole, NoText>, Fault> {
        if !self.may_read(account) {
            return Ok(Err(NoText::Anothers));
        }
        let point = ChainPoint::Tag(end.into());
        let places = self.store.chain_places(self.reader.clone(), point.clone()).await?;
        let (mut log, mut indices, mut bytes) = (Vec::with_capacity(places.len()), Vec::new(), 0);
        let (Some(last), mut first) = (places.last().map(|place| place.index), 0) else {
            return Ok(Err(NoText::NotKept));
        };
        while let Some(address) = Address::of_ranges(std::iter::once(first..last as usize + 1)) {
            let (reader, point) = (self.reader.clone(), point.clone());
            let request = RecallRequest { reader, point, address, max_bytes: MAX_BYTES };
            let Recalled::Messages { messages, next } = self.store.recall(request).await? else {
                return Ok(Err(NoText::NotKept));
            };
            for message in &messages {
                bytes += message.raw.len();
                let Ok(parsed) = Message::parse(message.place.format, &message.raw) else {
                    return Ok(Err(NoText::NotKept));
                };
                log.push(Arc::new(parsed));
                indices.push(message.place.index);
            }
            match next {
                Some(_) if bytes > MAX_BYTES => return Ok(Err(NoText::NotKept)),
                Some(next) => first = next as usize,
                None => break,
            }
        }
        let chain = Chain::of(account.info.format, log.iter().map(|message| &**message));
        // What is kept has to be what was decided about.
        let is_whole = chain.end() == end && chain.counted().len() == log.len();
        Ok(if is_whole { Ok(Whole { format: account.info.format, log, indices, chain }) } else { Err(NoText::NotKept) })
    }

    /// The record that held before a decision was made.
    async fn view_before(&self, stored: &StoredDecision, whole: &Whole) -> Result<Option<ViewRecord>, Fault> {
        let hashes = whole.chain.ends().to_vec();
        let upstream = stored.decision.key.upstream.clone();
        let on_chain = self.store.decisions_on(ChainQuery { upstream, hashes, after: Sequence::default() }).await?;
        let at = |decision: &StoredDecision| whole.chain.position(decision.decision.key.chain);
        let is_before = |other: &&StoredDecision| {
            at(other).is_some() && (at(other), other.decision.key.attempt) < (at(stored), stored.decision.key.attempt)
        };
        let earlier = on_chain.iter().filter(is_before);
        let last = earlier.max_by_key(|other| (at(other), other.is_shown, other.decision.key.attempt));
        Ok(last.and_then(|last| ViewRecord::parse(&last.decision.record).ok()))
    }
}

/// Everything about a cut, given the text.
fn told(record: &ViewRecord, before: Option<&ViewRecord>, whole: &Whole, wanted: Wanted) -> Option<Value> {
    let view = |record: &ViewRecord| record.apply(whole.format, &whole.log, &whole.chain).ok();
    let after_view = view(record)?;
    // A record that cannot be applied any more says nothing of what stood before.
    let before = before.and_then(|before| Some((before, view(before)?)));
    let end = record.messages.min(whole.log.len());
    let after = states(record, &after_view, end);
    let states_before = match &before {
        Some((record, view)) => states(record, view, end),
        None => vec![SENT; end],
    };
    let (mut shown, mut next, mut number) = (Vec::new(), None, wanted.after);
    while number < end {
        if shown.len() == wanted.rows {
            next = Some(number);
            break;
        }
        // What this cut has not changed stands together.
        let state = after[number];
        let run = (number..end).take_while(|at| after[*at] == state && states_before[*at] == state).count();
        if run > 0 && (state == SENT || state == LEFT_OUT) && !wanted.is_each {
            let chars: u64 = whole.log[number..number + run].iter().map(|message| chars(message)).sum();
            shown.push(json!({
                "from": whole.indices[number],
                "to": whole.indices[number + run - 1],
                "count": run,
                "chars": chars,
                "number": number,
                "before": state,
                "after": state,
            }));
            number += run;
            continue;
        }
        let mut row = row(&whole.log[number], whole.indices[number]);
        row["before"] = states_before[number].into();
        row["after"] = after[number].into();
        shown.push(row);
        number += 1;
    }
    for item in after_view.items(whole.log.len()) {
        let Item::Edited(at, message) = item else { continue };
        let row = shown.iter_mut().find(|row| row["index"] == whole.indices[at]);
        if let Some(row) = row.filter(|row| row["after"] == EDITED) {
            row["sent"] = preview(message).into();
        }
    }
    let ours_before = before.map_or(Value::Array(Vec::new()), |(record, view)| ours(record, &view, whole));
    Some(json!({
        "text": "kept",
        "ours": { "before": ours_before, "after": ours(record, &after_view, whole) },
        "rows": shown,
        "next": next,
    }))
}

/// What became of each of the first messages.
fn states(record: &ViewRecord, view: &AppliedView, end: usize) -> Vec<&'static str> {
    let mut states = vec![LEFT_OUT; end];
    for item in view.items(end) {
        match item {
            Item::Kept(at) => states[at] = SENT,
            Item::Edited(at, _) => {
                let is_edited = record.edited.iter().any(|edited| edited.message == at);
                states[at] = if is_edited { EDITED } else { WITHOUT_THINKING };
            }
            Item::Ours(_) => {}
        }
    }
    states
}

/// Our own messages in a view.
fn ours(record: &ViewRecord, view: &AppliedView, whole: &Whole) -> Value {
    let messages = view.items(whole.log.len()).filter_map(|item| match item {
        Item::Ours(message) => Some(message),
        Item::Kept(_) | Item::Edited(..) => None,
    });
    let each = record.ours.iter().zip(messages).map(|(ours, message)| {
        let text: String = message.shape().parts.iter().map(|part| message.text_of(part)).collect();
        our_message(ours.kind, ours.role, &text)
    });
    each.collect()
}

fn our_message(kind: louver::window::SyntheticKind, role: louver::wire::Role, text: &str) -> Value {
    let shown: String = text.chars().take(MAX_LEDGER_CHARS).collect();
    json!({ "kind": kind, "role": role.name(), "text": shown, "is_shortened": shown.len() < text.len() })
}

/// What a record says by itself: which messages, and in our own words where they are quoted.
fn without_text(record: &ViewRecord, why: &NoText, wanted: Wanted) -> Value {
    let range = |range: &std::ops::Range<usize>, after: &str| {
        json!({
            "from": range.start,
            "to": range.end.saturating_sub(1),
            "count": range.len(),
            "before": Value::Null,
            "after": after,
        })
    };
    let mut edited: Vec<usize> = record.edited.iter().map(|edited| edited.message).collect();
    edited.dedup();
    let mut all: Vec<(usize, Value)> = record.gone.iter().map(|gone| (gone.start, range(gone, LEFT_OUT))).collect();
    all.extend(edited.into_iter().map(|at| (at, range(&(at..at + 1), EDITED))));
    all.sort_by_key(|(at, _)| *at);
    let count = all.len();
    let shown: Vec<Value> = all.into_iter().skip(wanted.after).take(wanted.rows).map(|(_, row)| row).collect();
    let next = Some(wanted.after + shown.len()).filter(|next| *next < count);
    let ours = record.ours.iter().map(|ours| our_message(ours.kind, ours.role, &skeleton(&ours.text)));
    json!({
        "text": match why {
            NoText::NotKept => "not kept",
            NoText::Anothers => "another reader's",
        },
        "ours": { "before": [], "after": ours.collect::<Vec<_>>() },
        "rows": shown,
        "next": next,
    })
}

/// A text of ours with what it quotes left open.
fn skeleton(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Ours(words) => words.clone(),
        Piece::Quote(quote) => format!("⟨{} characters of message {}⟩", quote.chars, quote.message),
    };
    pieces.iter().map(piece).collect()
}

/// A message in a line.
fn row(message: &Message, index: u32) -> Value {
    let parts = &message.shape().parts;
    let kind = match parts.iter().map(|part| part.kind).find(|kind| *kind != PartKind::Thinking) {
        Some(PartKind::ToolCall | PartKind::ServerToolCall) => "tool call",
        Some(PartKind::ToolResult | PartKind::ServerToolResult) => "tool result",
        Some(PartKind::Media(_)) => "media",
        Some(PartKind::Compaction) => "compaction",
        _ if parts.iter().any(|part| part.kind == PartKind::ToolCall) => "text and tool call",
        _ => "text",
    };
    json!({
        "index": index,
        "role": message.shape().role.name(),
        "kind": kind,
        "chars": chars(message),
        "preview": preview(message),
    })
}

fn chars(message: &Message) -> u64 {
    message.shape().parts.iter().map(|part| part.chars as u64).sum()
}

/// How a message begins, in one line.
fn preview(message: &Message) -> String {
    let mut line = String::new();
    for word in written(message).split_whitespace() {
        if line.chars().count() > PREVIEW_CHARS {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.chars().take(PREVIEW_CHARS).collect()
}
