//! Claude Code's session files.
//!
//! Every line is a record with a `uuid` and a `parentUuid`. One answer of the model is several lines, one content block
//! each, that share `message.id`; the results of parallel calls hang off single blocks, beside the chain that leads to
//! the newest record. Notes of the program are left out.
//!
//! A session is several conversations. A compaction summary starts a new history. A branch that was rewound was paid for
//! all the same, from where it leaves the history that went on. Sub-agents' lines stand in the same file (`isSidechain`)
//! or in one of their own.

use super::{ReadError, lines, moment, numbered, push};
use crate::billed::Billed;
use crate::conversation::{Conversation, Strand};
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
    session_id: Option<String>,
    agent_id: Option<String>,
    request_id: Option<String>,
    cwd: Option<String>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    timestamp: Option<String>,
    /// Of use only where somebody said it; other records have other things under this name.
    message: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    id: Option<String>,
    role: String,
    model: Option<String>,
    content: Option<Box<RawValue>>,
    usage: Option<Box<RawValue>>,
}

/// What an answer was billed as.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    cache_creation: Option<CacheCreation>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: String,
    id: Option<String>,
    tool_use_id: Option<String>,
}

/// A record that is part of a history.
struct Spoken {
    line: usize,
    uuid: Option<String>,
    parent: Option<String>,
    agent: Option<String>,
    time: Option<i64>,
    said: Said,
    billed: Option<Billed>,
    is_sidechain: bool,
    is_compact_summary: bool,
    blocks: Vec<(Block, Box<RawValue>)>,
}

/// What all lines of a file say of the session.
#[derive(Default)]
struct Session {
    parents: HashMap<String, String>,
    id: Option<String>,
    project: Option<String>,
}

/// The conversations of a session: its history, one more per compaction, per branch that was left, and per sub-agent.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let records: Vec<(usize, Record)> = lines::parse(text)?;
    let session = Session::of(&records);
    let (side, main): (Vec<Spoken>, Vec<Spoken>) =
        records.into_iter().filter_map(spoken).partition(|record| record.is_sidechain);
    let (mut conversations, mut branches) = (Vec::new(), Vec::new());
    for segment in segments(main) {
        let name = numbered(name, conversations.len());
        let strands = Strands { name: &name, session: &session, segment: &segment, strand: Strand::Main };
        let (history, left) = strands.read()?;
        conversations.push(history);
        branches.extend(left);
    }
    conversations.extend(branches);
    // A sub-agent's own file has nothing else in it, and is named by the file alone.
    let is_own_file = conversations.is_empty();
    for (number, agent) in agents(side, &session).into_iter().enumerate() {
        let name = if is_own_file { numbered(name, number) } else { format!("{name}#agent-{}", number + 1) };
        let strands = Strands { name: &name, session: &session, segment: &agent, strand: Strand::SubAgent };
        let (history, left) = strands.read()?;
        // One that never answered was never paid for.
        conversations.extend(Some(history).filter(|history| is_own_file || !history.turns().is_empty()));
        conversations.extend(left);
    }
    Ok(conversations)
}

impl Session {
    fn of(records: &[(usize, Record)]) -> Self {
        let links = records.iter().filter_map(|(_, record)| Some((record.uuid.clone()?, record.parent_uuid.clone()?)));
        Self {
            parents: links.collect(),
            id: records.iter().find_map(|(_, record)| record.session_id.clone()),
            project: records.iter().find_map(|(_, record)| record.cwd.clone()),
        }
    }

    /// The oldest ancestor of a record.
    fn root<'s>(&'s self, uuid: &'s str) -> &'s str {
        let (mut at, mut seen) = (uuid, HashSet::new());
        while let Some(parent) = self.parents.get(at).filter(|_| seen.insert(at)) {
            at = parent;
        }
        at
    }
}

fn spoken((line, record): (usize, Record)) -> Option<Spoken> {
    let is_turn = record.kind == "user" || record.kind == "assistant";
    let is_note = record.is_meta == Some(true) || record.is_api_error_message == Some(true);
    let said = record.message.filter(|_| is_turn && !is_note)?;
    let said: Said = serde_json::from_str(said.get()).ok()?;
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
        agent: record.agent_id,
        time: moment::millis(record.timestamp.as_deref()),
        is_sidechain: record.is_sidechain == Some(true),
        is_compact_summary: record.is_compact_summary == Some(true),
        blocks: blocks.collect(),
        billed: billed(&said, record.request_id.or(record.timestamp)),
        said,
    })
}

/// What a line says that its answer cost. A provider's own message ids need not be unique, so `beside` stands with them.
fn billed(said: &Said, beside: Option<String>) -> Option<Billed> {
    let usage: Usage = serde_json::from_str(said.usage.as_deref()?.get()).ok()?;
    let written_1h = usage.cache_creation.as_ref().map_or(0, |written| written.ephemeral_1h_input_tokens);
    let written_5m = usage.cache_creation.map_or(0, |written| written.ephemeral_5m_input_tokens);
    let id = said.id.as_ref().map(|id| format!("{id} {}", beside.unwrap_or_default()));
    Some(Billed {
        at: 0,
        id,
        model: said.model.clone(),
        uncached: usage.input_tokens,
        read: usage.cache_read_input_tokens,
        written: usage.cache_creation_input_tokens.saturating_sub(written_1h).max(written_5m),
        written_1h,
        output: usage.output_tokens,
    })
}

/// A compaction summary starts a new segment.
fn segments(records: Vec<Spoken>) -> Vec<Vec<Spoken>> {
    let mut segments: Vec<Vec<Spoken>> = Vec::new();
    for record in records {
        match segments.last_mut().filter(|_| !record.is_compact_summary) {
            Some(segment) => segment.push(record),
            None => segments.push(vec![record]),
        }
    }
    segments
}

/// The lines of each sub-agent, by its id, or by where its chain starts.
fn agents(records: Vec<Spoken>, session: &Session) -> Vec<Vec<Spoken>> {
    let mut names: Vec<String> = Vec::new();
    let mut agents: Vec<Vec<Spoken>> = Vec::new();
    for record in records {
        let root = || record.uuid.as_deref().map(|uuid| session.root(uuid).to_owned());
        let name = record.agent.clone().or_else(root).unwrap_or_default();
        match names.iter().position(|other| *other == name) {
            Some(at) => agents[at].push(record),
            None => {
                names.push(name);
                agents.push(vec![record]);
            }
        }
    }
    agents
}

/// One history with the branches that leave it.
struct Strands<'a> {
    name: &'a str,
    session: &'a Session,
    segment: &'a [Spoken],
    strand: Strand,
}

impl Strands<'_> {
    fn read(&self) -> Result<(Conversation, Vec<Conversation>), ReadError> {
        let kept = on_branch(self.segment, self.segment.len().saturating_sub(1), &self.session.parents);
        let mut is_read = kept.clone();
        let history = self.conversation(self.name, self.strand, &kept)?;
        let mut branches = Vec::new();
        // The newest answer that no conversation has yet is the end of a branch.
        while let Some(leaf) = self.newest_answer(&is_read) {
            let kept = on_branch(self.segment, leaf, &self.session.parents);
            let name = format!("{}#branch-{}", self.name, branches.len() + 1);
            branches.push(self.conversation(&name, Strand::Branch, &kept)?);
            is_read.iter_mut().zip(kept).for_each(|(is_read, is_kept)| *is_read |= is_kept);
            is_read[leaf] = true;
        }
        Ok((history, branches))
    }

    fn newest_answer(&self, is_read: &[bool]) -> Option<usize> {
        let is_paid = |record: &Spoken| record.said.role == "assistant" && record.billed.is_some();
        (0..self.segment.len()).rev().find(|at| !is_read[*at] && is_paid(&self.segment[*at]))
    }

    fn conversation(&self, name: &str, strand: Strand, kept: &[bool]) -> Result<Conversation, ReadError> {
        let mut conversation = Conversation::new(name, Format::Anthropic, Vec::new());
        (conversation.strand, conversation.session) = (strand, self.session.id.clone());
        conversation.project.clone_from(&self.session.project);
        let mut messages: Vec<GatheredMessage> = Vec::new();
        for (record, _) in self.segment.iter().zip(kept).filter(|(_, is_kept)| **is_kept) {
            conversation.model = conversation.model.or_else(|| record.said.model.clone());
            place(&mut messages, record);
        }
        for gathered in messages {
            let billed = gathered.billed.clone().map(|billed| Billed { at: conversation.messages.len(), ..billed });
            conversation.billed.extend(billed);
            push(&mut conversation, gathered.line, &gathered.json(), gathered.time)?;
        }
        Ok(conversation)
    }
}

/// Which records belong to the branch that ends in one: its ancestors, the other blocks of their answers, and the
/// results of the calls in them.
fn on_branch(segment: &[Spoken], leaf: usize, parents: &HashMap<String, String>) -> Vec<bool> {
    let mut chain: HashSet<&str> = HashSet::new();
    let mut at = segment.get(leaf).and_then(|record| record.uuid.as_deref());
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
struct GatheredMessage<'a> {
    line: usize,
    time: Option<i64>,
    id: Option<&'a str>,
    role: &'a str,
    content: Content<'a>,
    billed: Option<Billed>,
}

enum Content<'a> {
    /// A string, or anything else that is no list of blocks.
    Whole(&'a RawValue),
    Blocks(Vec<&'a RawValue>, IsResults),
}

/// Whether a message holds nothing but tool results.
type IsResults = bool;

impl GatheredMessage<'_> {
    fn json(&self) -> String {
        let content = match &self.content {
            Content::Whole(raw) => raw.get().to_owned(),
            Content::Blocks(blocks, _) => {
                let blocks: Vec<&str> = blocks.iter().map(|block| block.get()).collect();
                format!("[{}]", blocks.join(","))
            }
        };
        format!(r#"{{"role":{},"content":{content}}}"#, louver::json::text::encode(self.role))
    }
}

/// Adds a record to the message it belongs to: blocks to their answer, results to the results behind it.
fn place<'a>(messages: &mut Vec<GatheredMessage<'a>>, record: &'a Spoken) {
    let Spoken { line, time, said, blocks, billed, .. } = record;
    let is_results = !blocks.is_empty() && blocks.iter().all(|(block, _)| block.kind == "tool_result");
    let home = match &said.id {
        Some(id) => messages.iter_mut().rev().take(2).find(|gathered| gathered.id == Some(id)),
        None => {
            messages.last_mut().filter(|gathered| is_results && matches!(gathered.content, Content::Blocks(_, true)))
        }
    };
    let raw_blocks: Vec<&RawValue> = blocks.iter().map(|(_, raw)| &**raw).collect();
    if let Some(GatheredMessage { content: Content::Blocks(held, _), billed: before, .. }) = home {
        held.extend(raw_blocks);
        *before = later(before.take(), billed.clone());
        return;
    }
    let content = match &said.content {
        Some(raw) if raw_blocks.is_empty() => Content::Whole(raw),
        _ => Content::Blocks(raw_blocks, is_results),
    };
    let (id, role) = (said.id.as_deref(), said.role.as_str());
    messages.push(GatheredMessage { line: *line, time: *time, id, role, content, billed: billed.clone() });
}

/// Every line of an answer has its usage; only the last one has all of its output.
fn later(before: Option<Billed>, now: Option<Billed>) -> Option<Billed> {
    match (before, now) {
        (Some(before), Some(now)) => Some(Billed { output: before.output.max(now.output), id: before.id, ..now }),
        (before, now) => now.or(before),
    }
}
