//! Claude Code's session files.
//!
//! Every line is a record with a `uuid` and a `parentUuid`. One answer of the model is several lines, one content block
//! each, that share `message.id`; the results of parallel calls hang off single blocks, beside the chain that leads to
//! the newest record. Rewound branches stay in the file and are left out here, as are sub-agents' lines and notes of
//! the program. A compaction summary starts a new history, which is a conversation of its own.

use super::{ReadError, lines, moment, numbered, push};
use crate::conversation::Conversation;
use louver::Format;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    uuid: Option<String>,
    parent_uuid: Option<String>,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    is_api_error_message: bool,
    timestamp: Option<String>,
    message: Option<Said>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    id: Option<String>,
    role: String,
    model: Option<String>,
    content: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: String,
    id: Option<String>,
    tool_use_id: Option<String>,
}

/// A record that is part of the history.
struct Spoken {
    line: usize,
    uuid: Option<String>,
    parent: Option<String>,
    time: Option<i64>,
    said: Said,
    is_compact_summary: bool,
    blocks: Vec<(Block, Box<RawValue>)>,
}

/// The conversations of a session: one, and one more per compaction.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let records: Vec<(usize, Record)> = lines::parse(text)?;
    let parents = parents(&records);
    // A sub-agent's own file has nothing but side chains.
    let is_side = records.iter().filter(|(_, record)| record.message.is_some()).all(|(_, record)| record.is_sidechain);
    let spoken = records.into_iter().filter(|(_, record)| record.is_sidechain == is_side).filter_map(spoken);
    let mut segments: Vec<Vec<Spoken>> = vec![Vec::new()];
    for record in spoken {
        if record.is_compact_summary {
            segments.push(Vec::new());
        }
        if let Some(segment) = segments.last_mut() {
            segment.push(record);
        }
    }
    segments.retain(|segment| !segment.is_empty());
    let numbers = 0..segments.len();
    numbers.zip(segments).map(|(number, segment)| conversation(&numbered(name, number), segment, &parents)).collect()
}

fn parents(records: &[(usize, Record)]) -> HashMap<String, String> {
    let links = records.iter().filter_map(|(_, record)| Some((record.uuid.clone()?, record.parent_uuid.clone()?)));
    links.collect()
}

fn spoken((line, record): (usize, Record)) -> Option<Spoken> {
    let is_turn = record.kind == "user" || record.kind == "assistant";
    let said = record.message.filter(|_| is_turn && !record.is_meta && !record.is_api_error_message)?;
    if said.model.as_deref() == Some("<synthetic>") {
        return None;
    }
    let raw = said.content.as_deref()?.get();
    let elements: Vec<Box<RawValue>> = serde_json::from_str(raw).unwrap_or_default();
    let blocks = elements.into_iter().filter_map(|block| Some((serde_json::from_str(block.get()).ok()?, block)));
    Some(Spoken {
        line,
        uuid: record.uuid,
        parent: record.parent_uuid,
        time: moment::millis(record.timestamp.as_deref()),
        is_compact_summary: record.is_compact_summary,
        blocks: blocks.collect(),
        said,
    })
}

fn conversation(
    name: &str,
    segment: Vec<Spoken>,
    parents: &HashMap<String, String>,
) -> Result<Conversation, ReadError> {
    let kept = on_branch(&segment, parents);
    let mut conversation = Conversation::new(name, Format::Anthropic, Vec::new());
    let mut messages: Vec<GatheredMessage> = Vec::new();
    for record in segment.into_iter().zip(kept).filter_map(|(record, is_kept)| is_kept.then_some(record)) {
        conversation.model = conversation.model.or_else(|| record.said.model.clone());
        place(&mut messages, record);
    }
    for gathered in messages {
        push(&mut conversation, gathered.line, &gathered.json(), gathered.time)?;
    }
    Ok(conversation)
}

/// Which records belong to the branch that ends in the newest one: its ancestors, the other blocks of their answers,
/// and the results of the calls in them.
fn on_branch(segment: &[Spoken], parents: &HashMap<String, String>) -> Vec<bool> {
    let mut chain: HashSet<&str> = HashSet::new();
    let mut at = segment.last().and_then(|record| record.uuid.as_deref());
    while let Some(uuid) = at.filter(|uuid| chain.insert(uuid)) {
        at = parents.get(uuid).map(String::as_str);
    }
    let is_chained = |record: &Spoken| record.uuid.as_deref().is_none_or(|uuid| chain.contains(uuid));
    let answers: HashSet<&str> =
        segment.iter().filter(|record| is_chained(record)).filter_map(|record| record.said.id.as_deref()).collect();
    let is_answer = |record: &Spoken| record.said.id.as_deref().is_some_and(|id| answers.contains(id));
    let kept_calls: HashSet<(&str, &str)> = segment
        .iter()
        .filter(|record| is_answer(record))
        .flat_map(|record| {
            let calls = record.blocks.iter().filter_map(|(block, _)| block.id.as_deref());
            calls.filter_map(|call| Some((record.uuid.as_deref()?, call)))
        })
        .collect();
    let answers_kept_call = |record: &Spoken| {
        let mut results = record.blocks.iter().filter_map(|(block, _)| block.tool_use_id.as_deref());
        let parent = record.parent.as_deref().unwrap_or_default();
        results.any(|call| kept_calls.contains(&(parent, call)))
    };
    segment.iter().map(|record| is_chained(record) || is_answer(record) || answers_kept_call(record)).collect()
}

/// A message as its records are put together.
struct GatheredMessage {
    line: usize,
    time: Option<i64>,
    id: Option<String>,
    role: String,
    content: Content,
}

enum Content {
    /// A string, or anything else that is no list of blocks.
    Whole(Box<RawValue>),
    Blocks(Vec<Box<RawValue>>, IsResults),
}

/// Whether a message holds nothing but tool results.
type IsResults = bool;

impl GatheredMessage {
    fn json(&self) -> String {
        let content = match &self.content {
            Content::Whole(raw) => raw.get().to_owned(),
            Content::Blocks(blocks, _) => {
                let blocks: Vec<&str> = blocks.iter().map(|block| block.get()).collect();
                format!("[{}]", blocks.join(","))
            }
        };
        format!(r#"{{"role":{},"content":{content}}}"#, louver::json::text::encode(&self.role))
    }
}

/// Adds a record to the message it belongs to: blocks to their answer, results to the results behind it.
fn place(messages: &mut Vec<GatheredMessage>, record: Spoken) {
    let Spoken { line, time, said, blocks, .. } = record;
    let is_results = !blocks.is_empty() && blocks.iter().all(|(block, _)| block.kind == "tool_result");
    let home = match &said.id {
        Some(id) => messages.iter_mut().rev().take(2).find(|gathered| gathered.id.as_deref() == Some(id)),
        None => {
            messages.last_mut().filter(|gathered| is_results && matches!(gathered.content, Content::Blocks(_, true)))
        }
    };
    let raw_blocks: Vec<_> = blocks.into_iter().map(|(_, raw)| raw).collect();
    if let Some(GatheredMessage { content: Content::Blocks(held, _), .. }) = home {
        held.extend(raw_blocks);
        return;
    }
    let content = match said.content {
        Some(raw) if raw_blocks.is_empty() => Content::Whole(raw),
        _ => Content::Blocks(raw_blocks, is_results),
    };
    messages.push(GatheredMessage { line, time, id: said.id, role: said.role, content });
}
