//! The figures.

use super::pins::Pinned;
use crate::count::count_part;
use crate::display::truncate;
use crate::tokens::{Counter, Millitokens};
use crate::unit::units_of;
use crate::window::WindowConfig;
use crate::wire::{Body, MediaKind, Message, Part, PartKind, Role};
use serde::{Serialize, Serializer};
use std::collections::HashMap;

/// Characters of a message that are enough to recognise it by.
const PREVIEW_CHARS: usize = 120;

/// The window that a conversation is looked at in.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What decides and counts.
    pub config: &'a WindowConfig,
    /// The name that was asked for.
    pub model_name: Option<&'a str>,
    /// The context window, in tokens, where it is known.
    pub context_window: Option<u64>,
    /// What it leaves for a conversation, where that is anything.
    pub allowed_tokens: Option<u64>,
}

/// Everything that `inspect` shows.
///
/// ```
/// use louver::inspect::{Figures, Subject};
/// use louver::window::WindowConfig;
/// use louver::{Body, Format, PolicyKind};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Twelve chars"}]"#, None)?;
/// let config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything);
/// let subject = Subject { config: &config, model_name: None, context_window: None, allowed_tokens: None };
/// let figures = Figures::of(&body, subject);
/// assert_eq!((figures.total_tokens, figures.units, figures.messages[0].pinned), (3, 1, true));
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Debug, Serialize)]
pub struct Figures {
    /// The wire format.
    pub format: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// What counts.
    pub counter: CounterUsed,
    /// The context window, where it is known.
    pub context_window: Option<u64>,
    /// The window less buffer and reply, where that leaves anything.
    pub allowed_tokens: Option<u64>,
    /// What a fill of 1 stands for.
    fill_of: &'static str,
    /// The policy's name.
    pub policy: String,
    /// What the policy always keeps, in words.
    #[serde(skip)]
    pub pinned: String,
    /// System and tools, which stand before the first message.
    pub overhead: Vec<Outer>,
    /// A row for each message.
    pub messages: Vec<Row>,
    /// How many units they make.
    pub units: usize,
    /// Tokens by category.
    #[serde(serialize_with = "by_category")]
    pub totals: Vec<(&'static str, u64)>,
    /// All of them.
    pub total_tokens: u64,
}

/// What counts, and how far to trust it.
#[derive(Debug, Serialize)]
pub struct CounterUsed {
    /// Its name.
    pub name: String,
    /// By how much it may be wrong; 0.15 is 15 %.
    pub stated_error: f64,
}

/// Something that every request pays besides its messages.
#[derive(Debug, Serialize)]
pub struct Outer {
    /// `system` or `tools`.
    pub name: &'static str,
    /// What it costs.
    pub tokens: u64,
    /// What stands up to here.
    pub cumulative_tokens: u64,
}

/// One message.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its index in the input.
    pub index: usize,
    /// Who says it.
    pub role: Role,
    /// What it holds.
    pub parts: Vec<Piece>,
    /// What it costs.
    pub tokens: u64,
    /// What stands up to here.
    pub cumulative_tokens: u64,
    /// How full the window is after it.
    fill: f64,
    /// The number of the unit it belongs to.
    pub unit: usize,
    /// Whether the policy always keeps it.
    pub pinned: bool,
    /// Whether it is the first and whether it is the last of its unit.
    #[serde(skip)]
    pub ends: (bool, bool),
    /// What it starts with.
    #[serde(skip)]
    pub preview: String,
}

/// One part of a message, or several alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// What it is: `text`, `call`, `result`, ...
    pub kind: &'static str,
    /// The tool that is called or answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many are alike.
    pub count: usize,
}

/// What tokens are spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    System,
    Tools,
    UserText,
    AssistantText,
    Thinking,
    ToolCalls,
    ToolResults,
    Media,
    Other,
}

/// The key of each category, in its order.
const CATEGORIES: [&str; 9] =
    ["system", "tools", "user_text", "assistant_text", "thinking", "tool_calls", "tool_results", "media", "other"];

impl Category {
    fn of(role: Role, part: &Part) -> Self {
        match (part.kind, role) {
            (PartKind::Media(_), _) => Self::Media,
            (PartKind::ToolCall | PartKind::ServerToolCall, _) => Self::ToolCalls,
            (PartKind::ToolResult | PartKind::ServerToolResult, _) => Self::ToolResults,
            (PartKind::Thinking, _) => Self::Thinking,
            (PartKind::Text, _) if part.nested => Self::ToolResults,
            (PartKind::Text, Role::System | Role::Developer) => Self::System,
            (PartKind::Text, Role::User) => Self::UserText,
            (PartKind::Text, Role::Assistant) => Self::AssistantText,
            (PartKind::Text, Role::Tool) => Self::ToolResults,
            (PartKind::Compaction | PartKind::Reference | PartKind::Other, _) => Self::Other,
        }
    }
}

/// Sums by category.
#[derive(Debug, Default)]
struct Sums([Millitokens; CATEGORIES.len()]);

impl Sums {
    fn add(&mut self, category: Category, amount: Millitokens) {
        self.0[category as usize] += amount;
    }

    fn total(&self) -> Millitokens {
        self.0.iter().sum()
    }

    /// Whole tokens that add up: each category is the step between two rounded running sums.
    fn totals(&self) -> Vec<(&'static str, u64)> {
        let mut running = Millitokens::ZERO;
        let total = |(category, amount): (&'static str, &Millitokens)| {
            let before = running.ceil_tokens();
            running += *amount;
            (category, running.ceil_tokens() - before)
        };
        let is_shown =
            |(category, tokens): &(&str, u64)| *category != CATEGORIES[Category::Other as usize] || *tokens > 0;
        CATEGORIES.into_iter().zip(&self.0).map(total).filter(is_shown).collect()
    }
}

impl Figures {
    /// Counts everything once.
    pub fn of(body: &Body, window: Subject<'_>) -> Self {
        let mut sums = Sums::default();
        let overhead = outer(body, &*window.config.counter, &mut sums);
        let units: Vec<_> = units_of(body.format(), body.messages().iter().map(|message| &**message)).collect();
        let pinned = Pinned::of(window.config, body);
        let mut tools = HashMap::new();
        let mut messages = Vec::with_capacity(body.messages().len());
        for (unit, range) in units.iter().enumerate() {
            for index in range.clone() {
                let message = &*body.messages()[index];
                let tokens = count(message, &*window.config.counter, &mut sums);
                messages.push(Row {
                    index,
                    role: message.shape().role,
                    parts: pieces(message, &mut tools),
                    tokens,
                    cumulative_tokens: sums.total().ceil_tokens(),
                    fill: 0.0,
                    unit,
                    pinned: pinned.messages[index],
                    ends: (index == range.start, index + 1 == range.end),
                    preview: preview(message),
                });
            }
        }
        let mut figures = Self {
            format: body.format().to_string(),
            model: window.model_name.map(str::to_owned),
            counter: CounterUsed {
                name: window.config.counter.name().to_owned(),
                stated_error: window.config.counter.stated_error(),
            },
            context_window: window.context_window,
            allowed_tokens: window.allowed_tokens,
            fill_of: if window.context_window.is_some() { "context_window" } else { "total" },
            policy: window.config.policy.name().to_owned(),
            pinned: pinned.spoken,
            overhead,
            messages,
            units: units.len(),
            totals: sums.totals(),
            total_tokens: sums.total().ceil_tokens(),
        };
        let full = figures.full();
        figures.messages.iter_mut().for_each(|row| row.fill = share(row.cumulative_tokens, full));
        figures
    }

    /// What a full bar stands for.
    pub fn full(&self) -> u64 {
        self.context_window.unwrap_or(self.total_tokens).max(1)
    }
}

/// A share to four digits.
#[expect(clippy::cast_precision_loss, reason = "a figure for people, not for sums")]
fn share(tokens: u64, full: u64) -> f64 {
    (tokens as f64 / full as f64 * 10_000.0).round() / 10_000.0
}

fn by_category<S: Serializer>(totals: &[(&'static str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(totals.iter().copied())
}

/// System prompt and tool definitions.
fn outer(body: &Body, counter: &dyn Counter, sums: &mut Sums) -> Vec<Outer> {
    let system: Millitokens = body.system_texts().iter().map(|text| counter.text(text)).sum();
    let tools = body.tools_json().map_or(Millitokens::ZERO, |json| counter.text(&json));
    let mut rows = Vec::new();
    for (name, category, amount) in [("system", Category::System, system), ("tools", Category::Tools, tools)] {
        if amount > Millitokens::ZERO {
            sums.add(category, amount);
            let cumulative_tokens = sums.total().ceil_tokens();
            rows.push(Outer { name, tokens: amount.ceil_tokens(), cumulative_tokens });
        }
    }
    rows
}

fn count(message: &Message, counter: &dyn Counter, sums: &mut Sums) -> u64 {
    let shape = message.shape();
    let mut own = Millitokens::ZERO;
    for part in &shape.parts {
        let amount = count_part(counter, message, part);
        sums.add(Category::of(shape.role, part), amount);
        own += amount;
    }
    own.ceil_tokens()
}

/// What a message holds, parts alike together. `tools` remembers who was called, by id.
pub fn pieces(message: &Message, tools: &mut HashMap<String, String>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in message.shape().parts.iter().filter(|part| !is_inside(part)) {
        let kind = kind(part);
        let name = tool_name(message, part, tools);
        match pieces.iter_mut().find(|piece| piece.kind == kind && piece.name == name) {
            Some(piece) => piece.count += 1,
            None => pieces.push(Piece { kind, name, count: 1 }),
        }
    }
    pieces
}

/// The text of a tool result belongs to it; a picture in it is worth telling.
fn is_inside(part: &Part) -> bool {
    part.nested && !matches!(part.kind, PartKind::Media(_))
}

fn kind(part: &Part) -> &'static str {
    match part.kind {
        PartKind::Text => "text",
        PartKind::ToolCall => "call",
        PartKind::ToolResult if part.is_error => "error",
        PartKind::ToolResult => "result",
        PartKind::ServerToolCall => "server call",
        PartKind::ServerToolResult => "server result",
        PartKind::Thinking => "thinking",
        PartKind::Media(MediaKind::Image) => "image",
        PartKind::Media(MediaKind::Audio) => "audio",
        PartKind::Media(MediaKind::Document) => "document",
        PartKind::Compaction => "compaction",
        PartKind::Reference => "reference",
        PartKind::Other => "other",
    }
}

fn tool_name(message: &Message, part: &Part, tools: &mut HashMap<String, String>) -> Option<String> {
    let own = message.name_of(part).into_owned();
    let id = message.id_of(part).into_owned();
    match part.kind {
        PartKind::ToolCall | PartKind::ServerToolCall => {
            tools.insert(id, own.clone());
            Some(own)
        }
        PartKind::ToolResult | PartKind::ServerToolResult if own.is_empty() => tools.get(&id).cloned(),
        PartKind::ToolResult | PartKind::ServerToolResult => Some(own),
        _ => None,
    }
    .filter(|name| !name.is_empty())
}

/// What people recognise a message by: its words, else its first call's arguments, else its first result.
fn preview(message: &Message) -> String {
    let parts = &message.shape().parts;
    let words = parts.iter().find(|part| part.kind == PartKind::Text && !part.nested && !part.blank);
    let call = || parts.iter().find(|part| part.kind == PartKind::ToolCall);
    let result = || parts.iter().find(|part| part.chars > 0 && part.kind != PartKind::Thinking);
    let Some(part) = words.or_else(call).or_else(result) else {
        return String::new();
    };
    let text = message.text_of(part);
    let start = truncate(&text, PREVIEW_CHARS * 4);
    // A ruler of `=====` tells nothing.
    let is_ruler = |word: &&str| !word.contains(char::is_alphanumeric) && word.len() > 3;
    let words: Vec<&str> = start.split_whitespace().skip_while(is_ruler).collect();
    truncate(&words.join(" "), PREVIEW_CHARS).to_owned()
}
