//! From a tree to a configuration, collecting everything that is wrong on the way.

use super::tree::{Entry, Node, Value};
use super::{Checked, Config, Context, Conversation, Execution, HasKeysOf, Problem, Provider, ProviderKind};
use louver::catalog::Cost;
use louver::policy::{MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD, TABLE};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Every key of the top level.
const TOP: &[&str] = &["policy", "provider", "execution", "context", "ladder", "tools", "proxy", "profile"];
/// Every key of a provider.
const PROVIDER: &[&str] = &["type", "wire", "model", "base_url", "api_key_env"];
/// Every key of `execution`.
const EXECUTION: &[&str] = &[
    "max_iterations",
    "max_turns",
    "max_tokens",
    "max_cost_usd",
    "timeout_seconds",
    "max_conversation_messages",
    "conversation",
];
/// Every key of `execution.conversation`.
const CONVERSATION: &[&str] = &["max_messages", "summarize_on_trim", "preserve_first_n", "preserve_last_n"];
/// Every key of `context`.
const CONTEXT: &[&str] = &[
    "context_window",
    "auto_condense_context",
    "auto_condense_context_percent",
    "custom_condensing_prompt",
    "condensing_provider",
    "profile_thresholds",
];

/// Keys of the runner whose files these are, too, that mean nothing here.
const FOREIGN: &[&str] = &[
    "version",
    "permissions",
    "validation",
    "git",
    "notifications",
    "skills",
    "security",
    "execution.max_consecutive_failures",
    "execution.timeout_per_iteration",
    "execution.session_continuation",
];
/// Its providers that are programs: what they send is their own business.
const FOREIGN_PROVIDERS: &[&str] = &["claude-cli", "cursor-cli"];

/// Reads a configuration out of a tree.
pub(super) fn walk(tree: &Node) -> Result<Checked, Vec<Problem>> {
    let mut walk = Walk::default();
    let config = walk.config(tree);
    walk.problems.sort();
    walk.warnings.sort();
    if walk.problems.is_empty() { Ok(Checked { config, warnings: walk.warnings }) } else { Err(walk.problems) }
}

#[derive(Debug, Default)]
pub(super) struct Walk {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

/// A block of keys that are known to belong here.
#[derive(Debug, Default)]
pub(super) struct Block<'t> {
    pub(super) line: usize,
    path: String,
    entries: BTreeMap<&'t str, &'t Entry>,
}

impl<'t> Block<'t> {
    pub(super) fn keys(&self) -> Vec<&'t str> {
        self.entries.keys().copied().collect()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'t Node> {
        self.entries.get(key).map(|entry| &entry.node)
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl Walk {
    fn config(&mut self, tree: &Node) -> Config {
        let top = self.block(tree, String::new(), TOP);
        let names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
        Config {
            policy: self.choice(&top, "policy", &names).map(|at| names[at].to_owned()),
            provider: self.provider(&top, "provider"),
            execution: self.execution(&top),
            context: self.context(&top),
            ladder: self.ladder(&top),
            tools: self.tools(&top),
            proxy: self.proxy(&top),
            profile: self.text(&top, "profile"),
            has_keys_of: has_keys_of(&top),
        }
    }

    fn execution(&mut self, top: &Block<'_>) -> Execution {
        let default = Execution::default();
        let block = self.inner(top, "execution", EXECUTION).unwrap_or_default();
        let conversation = self.inner(&block, "conversation", CONVERSATION).unwrap_or_default();
        Execution {
            max_iterations: self.whole(&block, "max_iterations", 1..=u32::MAX).unwrap_or(default.max_iterations),
            max_turns: self.whole(&block, "max_turns", 1..=u32::MAX).unwrap_or(default.max_turns),
            max_tokens: self.optional(&block, "max_tokens", 0..=u64::MAX).filter(|tokens| *tokens > 0),
            max_cost_usd: self.dollars(&block, "max_cost_usd"),
            timeout_seconds: self.whole(&block, "timeout_seconds", 1..=86_400).unwrap_or(default.timeout_seconds),
            max_conversation_messages: self.count(&block, "max_conversation_messages"),
            conversation: self.conversation(&conversation),
        }
    }

    fn conversation(&mut self, block: &Block<'_>) -> Conversation {
        Conversation {
            max_messages: self.count(block, "max_messages"),
            summarize_on_trim: self.flag(block, "summarize_on_trim"),
            preserve_first_n: self.count(block, "preserve_first_n"),
            preserve_last_n: self.count(block, "preserve_last_n"),
        }
    }

    fn context(&mut self, top: &Block<'_>) -> Context {
        let default = Context::default();
        let block = self.inner(top, "context", CONTEXT).unwrap_or_default();
        let percent = self.whole(&block, "auto_condense_context_percent", 1..=100);
        let prompt = self.text(&block, "custom_condensing_prompt");
        Context {
            context_window: self.optional(&block, "context_window", 1..=u64::MAX),
            auto_condense_context: self.flag(&block, "auto_condense_context").unwrap_or(default.auto_condense_context),
            auto_condense_context_percent: percent.unwrap_or(default.auto_condense_context_percent),
            custom_condensing_prompt: prompt.filter(|text| !text.trim().is_empty()),
            condensing_provider: self.provider(&block, "condensing_provider"),
            profile_thresholds: self.thresholds(&block),
        }
    }

    fn thresholds(&mut self, context: &Block<'_>) -> BTreeMap<String, i64> {
        let block = self.named(context, "profile_thresholds");
        let mut thresholds = BTreeMap::new();
        for key in block.keys() {
            let Some(threshold) = self.whole(&block, key, i64::MIN..=i64::MAX) else {
                continue;
            };
            // The window uses the global threshold then, and says so; a file that does this is odd, not wrong.
            if threshold != -1 && !(MIN_CONDENSE_THRESHOLD..=MAX_CONDENSE_THRESHOLD).contains(&threshold) {
                let message = format!(
                    "{threshold} is outside {MIN_CONDENSE_THRESHOLD} to {MAX_CONDENSE_THRESHOLD} (or -1): the global \
                     threshold will be used"
                );
                let line = block.entries[key].line;
                self.warning(line, block.path_of(key), message);
            }
            thresholds.insert(key.to_owned(), threshold);
        }
        thresholds
    }

    fn provider(&mut self, parent: &Block<'_>, key: &str) -> Option<Provider> {
        let block = self.inner(parent, key, PROVIDER)?;
        if let Some((line, kind)) = foreign_provider(&block) {
            let message =
                format!("`{kind}` is ignored: it keeps its own conversation, and the sandbox answers instead");
            self.warning(line, block.path_of("type"), message);
            return None;
        }
        let names = ProviderKind::ALL.map(ProviderKind::name);
        let kind = self.choice(&block, "type", &names).map(|at| ProviderKind::ALL[at]);
        if !block.has("type") {
            self.problem(block.line, block.path_of("type"), format!("is missing: one of {}", names.join(", ")));
        }
        let wires = kind.unwrap_or(ProviderKind::Sandbox).wires();
        let wire_names: Vec<_> = wires.iter().map(|wire| wire.name()).collect();
        let wire = self.choice(&block, "wire", &wire_names).map(|at| wires[at]);
        let model = self.text(&block, "model");
        let base_url = self.text_that(&block, "base_url", is_url, "must start with http:// or https://");
        let wants = "must be the name of an environment variable, not the key itself";
        let api_key_env = self.text_that(&block, "api_key_env", is_variable, wants);
        Some(Provider { kind: kind?, wire, model, base_url, api_key_env })
    }

    /// A block whose keys are all known. Nothing at all is an empty block.
    pub(super) fn block<'t>(&mut self, node: &'t Node, path: String, known: &[&str]) -> Block<'t> {
        let mut block = self.open_block(node, path);
        let unknown: Vec<_> = block.entries.keys().copied().filter(|key| !known.contains(key)).collect();
        for key in unknown {
            let Some(entry) = block.entries.remove(key) else {
                continue;
            };
            let path = block.path_of(key);
            if FOREIGN.contains(&path.as_str()) {
                self.warning(entry.line, path, "is ignored: it means nothing here".to_owned());
            } else {
                self.problem(entry.line, path, unknown_key(key, known));
            }
        }
        block
    }

    /// A block within a block, with names of the user's own as its keys.
    pub(super) fn named<'t>(&mut self, parent: &Block<'t>, key: &str) -> Block<'t> {
        parent.get(key).map(|node| self.open_block(node, parent.path_of(key))).unwrap_or_default()
    }

    /// A block with any keys.
    pub(super) fn open_block<'t>(&mut self, node: &'t Node, path: String) -> Block<'t> {
        let mut block = Block { line: node.line, path, entries: BTreeMap::new() };
        match &node.value {
            Value::Null => {}
            Value::Block(entries) => {
                for entry in entries {
                    if let Some(first) = block.entries.insert(&entry.key, entry) {
                        let message = format!("stands here a second time; the first is on line {}", first.line);
                        self.problem(entry.line, block.path_of(&entry.key), message);
                    }
                }
            }
            other => {
                let path = block.path.clone();
                self.problem(node.line, path, format!("expected a block of keys, found {}", other.kind()));
            }
        }
        block
    }

    /// The block of a key. `None` if the key is not there or says `null`.
    pub(super) fn inner<'t>(&mut self, parent: &Block<'t>, key: &str, known: &[&str]) -> Option<Block<'t>> {
        let node = parent.get(key).filter(|node| node.value != Value::Null)?;
        let is_block = matches!(node.value, Value::Block(_));
        let block = self.block(node, parent.path_of(key), known);
        is_block.then_some(block)
    }

    pub(super) fn flag(&mut self, block: &Block<'_>, key: &str) -> Option<bool> {
        match &block.get(key)?.value {
            Value::Bool(flag) => Some(*flag),
            other => self.wrong_type(block, key, "true or false", other),
        }
    }

    /// How many of something; 0 and up.
    fn count(&mut self, block: &Block<'_>, key: &str) -> Option<usize> {
        self.whole(block, key, 0..=usize::MAX)
    }

    pub(super) fn whole<N>(&mut self, block: &Block<'_>, key: &str, range: RangeInclusive<N>) -> Option<N>
    where
        N: TryFrom<i128> + PartialOrd + Copy + ToString,
    {
        let number = match &block.get(key)?.value {
            Value::Whole(number) => *number,
            other => return self.wrong_type(block, key, "a whole number", other),
        };
        let fitting = N::try_from(number).ok().filter(|number| range.contains(number));
        if fitting.is_none() {
            let message = format!("{number} is out of range: {}", spoken_range(&range));
            self.problem_at(block, key, message);
        }
        fitting
    }

    /// An amount of money; `null` is as good as leaving the key out.
    fn dollars(&mut self, block: &Block<'_>, key: &str) -> Option<Cost> {
        let usd = match &block.get(key)?.value {
            Value::Null => return None,
            Value::Whole(whole) => *whole as f64,
            Value::Fraction(fraction) => *fraction,
            other => return self.wrong_type(block, key, "a number", other),
        };
        let amount = Cost::from_usd(usd).filter(|amount| *amount > Cost::ZERO);
        if amount.is_none() {
            self.problem_at(block, key, format!("{usd} is out of range: above 0, up to 1000000"));
        }
        amount
    }

    /// A number; `null` is as good as leaving the key out.
    pub(super) fn optional(&mut self, block: &Block<'_>, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let is_null = block.get(key).is_some_and(|node| node.value == Value::Null);
        if is_null { None } else { self.whole(block, key, range) }
    }

    /// A text; `null` is as good as leaving the key out.
    fn text(&mut self, block: &Block<'_>, key: &str) -> Option<String> {
        match &block.get(key)?.value {
            Value::Text(text) => Some(text.clone()),
            Value::Null => None,
            other => self.wrong_type(block, key, "text", other),
        }
    }

    /// A text of some form. It is not repeated in the error: it may be a secret in the wrong place.
    pub(super) fn text_that(
        &mut self,
        block: &Block<'_>,
        key: &str,
        is_good: fn(&str) -> bool,
        wants: &str,
    ) -> Option<String> {
        let text = self.text(block, key)?;
        if !is_good(&text) {
            self.problem_at(block, key, wants.to_owned());
        }
        Some(text)
    }

    /// The position of a text among the allowed ones.
    pub(super) fn choice(&mut self, block: &Block<'_>, key: &str, names: &[&str]) -> Option<usize> {
        let text = self.text(block, key)?;
        let at = names.iter().position(|name| *name == text);
        if at.is_none() {
            self.problem_at(block, key, format!("`{text}` is none of {}", names.join(", ")));
        }
        at
    }

    fn wrong_type<T>(&mut self, block: &Block<'_>, key: &str, expected: &str, found: &Value) -> Option<T> {
        self.problem_at(block, key, format!("expected {expected}, found {}", found.kind()));
        None
    }

    pub(super) fn problem_at(&mut self, block: &Block<'_>, key: &str, message: String) {
        let line = block.entries.get(key).map_or(block.line, |entry| entry.line);
        self.problem(line, block.path_of(key), message);
    }

    fn warning(&mut self, line: usize, path: String, message: String) {
        self.warnings.push(Problem { line, path, message });
    }

    pub(super) fn problem(&mut self, line: usize, path: String, message: String) {
        self.problems.push(Problem { line, path, message });
    }
}

fn foreign_provider<'t>(block: &Block<'t>) -> Option<(usize, &'t str)> {
    let node = block.get("type")?;
    match &node.value {
        Value::Text(kind) if FOREIGN_PROVIDERS.contains(&kind.as_str()) => Some((node.line, kind)),
        _ => None,
    }
}

/// The windows that a file has keys of; `null` is as good as leaving a key out.
fn has_keys_of(top: &Block<'_>) -> HasKeysOf {
    let has = |key: &str, among: &dyn Fn(&str) -> bool| match top.get(key).map(|node| &node.value) {
        Some(Value::Block(entries)) => {
            entries.iter().any(|entry| entry.node.value != Value::Null && among(entry.key.as_str()))
        }
        _ => false,
    };
    let of_any_policy = |key: &str| ["context_window", "condensing_provider"].contains(&key);
    HasKeysOf {
        messages: has("execution", &|key| ["max_conversation_messages", "conversation"].contains(&key)),
        tokens: has("context", &|key| CONTEXT.contains(&key) && !of_any_policy(key)),
    }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    if key == "api_key" && known.contains(&"api_key_env") {
        return "unknown key: keys are read from the environment, name the variable in api_key_env".to_owned();
    }
    let alike = known.iter().map(|name| (strsim::jaro_winkler(key, name), *name));
    match alike.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, name)) if likeness > 0.85 => format!("unknown key, did you mean {name}?"),
        _ => format!("unknown key: expected {}", known.join(", ")),
    }
}

fn spoken_range<N: ToString + PartialOrd + Copy + TryFrom<i128>>(range: &RangeInclusive<N>) -> String {
    let (start, end) = (range.start().to_string(), range.end().to_string());
    if end.len() > 9 { format!("at least {start}") } else { format!("{start} to {end}") }
}

pub(super) fn is_url(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
}

pub(super) fn is_variable(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
