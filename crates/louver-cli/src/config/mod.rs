//! `config.yml`: what it may say, and everything that is wrong with it at once.
//!
//! | file | question it answers |
//! |---|---|
//! | `tree.rs` | what does the file say, and on which line? |
//! | `walk.rs` | does it say it in the right words? |
//! | `walk_ladder.rs`, `walk_proxy.rs`, `walk_tools.rs` | the same for the blocks `ladder`, `proxy` and `tools` |
//! | `problem.rs` | what is wrong, where? |
//! | `schema.rs` | how does an editor know? |

mod ladder;
mod problem;
mod proxy;
mod schema;
mod tools;
mod tree;
mod walk;
mod walk_ladder;
mod walk_proxy;
mod walk_tools;

pub use ladder::{Ladder, When};
pub use problem::{Problem, Problems};
pub use proxy::{Proxy, ProxyUpstream};
pub use schema::schema;
pub use tools::{McpServer, Tools};

use crate::input::read_file;
use anyhow::Context as _;
use louver::catalog::Cost;
use louver::policy::{MessagesConfig, PolicyKind, TokensConfig};
use schemars::JsonSchema;
use std::collections::BTreeMap;
use std::path::Path;

/// No configuration is larger; what is, is not one.
const MAX_BYTES: u64 = 1_000_000;

/// What a configuration file says. Every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default, title = "Louver configuration")]
pub struct Config {
    /// How to decide what stays. If nothing is said, `messages` where the file has keys of the message window, `tokens`
    /// where it has keys of the token window, `both` where it has both, else `ladder`.
    #[schemars(extend("enum" = schema::policy_names()))]
    pub policy: Option<String>,
    /// The API to talk to.
    pub provider: Option<Provider>,
    /// How a task is run.
    pub execution: Execution,
    /// The token window.
    pub context: Context,
    /// The ladder.
    pub ladder: Ladder,
    /// What the model may use besides the built-in tools.
    pub tools: Tools,
    /// The proxy.
    pub proxy: Proxy,
    /// The profile in use: its threshold in `context.profile_thresholds` counts.
    pub profile: Option<String>,
    /// Whether the file has keys of the message window and of the token window, whatever they say.
    #[schemars(skip)]
    pub(crate) has_keys_of: HasKeysOf,
}

/// The windows that a file has keys of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HasKeysOf {
    pub(crate) messages: bool,
    pub(crate) tokens: bool,
}

/// A provider's API.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Provider {
    /// Which API it is.
    #[schemars(rename = "type")]
    pub kind: ProviderKind,
    /// The wire format: `messages` (anthropic-api), `chat` or `responses` (openai-api); the sandbox speaks all three. The
    /// first that the API speaks if nothing is said.
    #[schemars(default)]
    pub wire: Option<Wire>,
    /// The model's name, as the provider spells it.
    #[schemars(default)]
    pub model: Option<String>,
    /// Where the API is, if not at the provider's own address.
    #[schemars(default, url)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. The key itself never stands here.
    #[schemars(default, regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*$"))]
    pub api_key_env: Option<String>,
}

impl Provider {
    /// An API with nothing said about it.
    pub fn new(kind: ProviderKind) -> Self {
        Self { kind, wire: None, model: None, base_url: None, api_key_env: None }
    }

    /// The environment variable that holds the key; the sandbox needs none.
    pub fn key_variable(&self) -> Option<&str> {
        let usual = match self.kind {
            ProviderKind::Sandbox => return None,
            ProviderKind::AnthropicApi => "ANTHROPIC_API_KEY",
            ProviderKind::OpenaiApi => "OPENAI_API_KEY",
        };
        Some(self.api_key_env.as_deref().unwrap_or(usual))
    }

    /// The wire format that is named, or else the API's usual one.
    pub fn chosen_wire(&self) -> Wire {
        self.wire.unwrap_or(self.kind.wires()[0])
    }
}

/// The wire formats that a run can speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions, which others speak, too.
    Chat,
    /// OpenAI Responses.
    Responses,
}

impl Wire {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }
}

/// The APIs that can be talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// The built-in stand-in, which needs no key.
    Sandbox,
    /// Anthropic Messages.
    AnthropicApi,
    /// OpenAI Chat Completions and Responses.
    OpenaiApi,
}

impl ProviderKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sandbox, Self::AnthropicApi, Self::OpenaiApi];

    /// The name in the file and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::AnthropicApi => "anthropic-api",
            Self::OpenaiApi => "openai-api",
        }
    }

    /// The wire formats it speaks, the usual one first.
    pub fn wires(self) -> &'static [Wire] {
        match self {
            Self::Sandbox => &[Wire::Messages, Wire::Chat, Wire::Responses],
            Self::AnthropicApi => &[Wire::Messages],
            Self::OpenaiApi => &[Wire::Chat, Wire::Responses],
        }
    }
}

/// How a task is run.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Execution {
    /// Iterations before a task counts as out of them. One iteration is a whole tool loop: the model is called and its tools
    /// are run until it ends its turn.
    #[schemars(range(min = 1))]
    pub max_iterations: u32,
    /// Calls of the model within one iteration.
    #[schemars(range(min = 1))]
    pub max_turns: u32,
    /// Tokens that are kept free for a reply, and the longest one: 8192 if nothing is said, at most what the model writes.
    #[schemars(with = "u64")]
    pub max_tokens: Option<u64>,
    /// The run stops before a call that might make it cost more, summaries included.
    #[schemars(with = "f64", range(min = 0, max = 1_000_000))]
    pub max_cost_usd: Option<Cost>,
    /// A provider that says nothing for so long has failed. It is asked a second time within it.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: u64,
    /// Shorthand for `conversation.max_messages`, which wins over it.
    #[schemars(with = "usize")]
    pub max_conversation_messages: Option<usize>,
    /// The message window.
    pub conversation: Conversation,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            max_iterations: 50,
            max_turns: 200,
            max_tokens: None,
            max_cost_usd: None,
            timeout_seconds: 300,
            max_conversation_messages: None,
            conversation: Conversation::default(),
        }
    }
}

/// The message window.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Conversation {
    /// The most messages that are sent; 0 switches trimming off. 100 if nothing is said.
    #[schemars(with = "usize")]
    pub max_messages: Option<usize>,
    /// Whether what is left out is summarised by the model. Off if nothing is said.
    #[schemars(with = "bool")]
    pub summarize_on_trim: Option<bool>,
    /// How many messages at the start always stay. 1 if nothing is said.
    #[schemars(with = "usize")]
    pub preserve_first_n: Option<usize>,
    /// How many messages at the end always stay. 20 if nothing is said.
    #[schemars(with = "usize")]
    pub preserve_last_n: Option<usize>,
}

/// The token window.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Context {
    /// The model's context window in tokens; the catalogue's if nothing is said.
    #[schemars(range(min = 1))]
    pub context_window: Option<u64>,
    /// Whether a summary is tried before messages are left out.
    pub auto_condense_context: bool,
    /// The share of the window, in percent, at which that happens.
    #[schemars(range(min = 1, max = 100))]
    pub auto_condense_context_percent: u8,
    /// What the model is asked for, instead of the built-in prompt.
    pub custom_condensing_prompt: Option<String>,
    /// Another model or API for summaries.
    pub condensing_provider: Option<Provider>,
    /// The share by profile: 50 to 100, or -1 for the one above.
    pub profile_thresholds: BTreeMap<String, i64>,
}

impl Default for Context {
    fn default() -> Self {
        let engine = TokensConfig::default();
        Self {
            context_window: None,
            auto_condense_context: engine.auto_condense_context,
            auto_condense_context_percent: engine.auto_condense_context_percent,
            custom_condensing_prompt: None,
            condensing_provider: None,
            profile_thresholds: engine.profile_thresholds,
        }
    }
}

/// A valid configuration, and what is odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it says.
    pub config: Config,
    /// What works, but probably not as meant.
    pub warnings: Vec<Problem>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or [`Problems`]: everything that is wrong with it.
    pub fn load(path: &Path) -> anyhow::Result<Checked> {
        let name = path.display().to_string();
        let bytes = read_file(path, MAX_BYTES).with_context(|| name.clone())?;
        let checked = match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => Err(vec![not_utf8(&bytes[..error.valid_up_to()])]),
        };
        checked.map_err(|problems| Problems { file: name, problems }.into())
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, by line.
    pub fn parse(text: &str) -> Result<Checked, Vec<Problem>> {
        let tree = tree::parse(text).map_err(|problem| vec![problem])?;
        walk::walk(&tree)
    }

    /// The policy that the file asks for: by its name, or else by the windows whose keys it has.
    pub fn wanted_policy(&self) -> Option<PolicyKind> {
        match (self.policy.as_deref(), self.has_message_keys(), self.has_token_keys()) {
            (Some(name), _, _) => name.parse().ok(),
            (None, true, true) => Some(PolicyKind::Both(self.messages(), self.tokens())),
            (None, true, false) => Some(PolicyKind::Messages(self.messages())),
            (None, false, true) => Some(PolicyKind::Tokens(self.tokens())),
            (None, false, false) => None,
        }
    }

    fn has_message_keys(&self) -> bool {
        self.has_keys_of.messages
            || self.execution.max_conversation_messages.is_some()
            || self.execution.conversation != Conversation::default()
    }

    fn has_token_keys(&self) -> bool {
        let context = Context { context_window: None, condensing_provider: None, ..self.context.clone() };
        self.has_keys_of.tokens || context != Context::default() || self.profile.is_some()
    }

    /// Tells a policy what the file says about it.
    pub fn apply(&self, policy: &mut PolicyKind) {
        if let Some(messages) = policy.messages_mut() {
            *messages = self.messages();
        }
        if let Some(tokens) = policy.tokens_mut() {
            *tokens = self.tokens();
        }
        if let Some(ladder) = policy.ladder_mut() {
            self.ladder.apply(ladder);
            ladder.summarize_on_trim = self.messages().summarize_on_trim;
        }
    }

    /// Keys that say something although the policy does not look at them.
    pub fn idle_keys(&self, policy: &PolicyKind) -> Vec<&'static str> {
        let (context, usual) = (&self.context, Context::default());
        let Conversation { max_messages, summarize_on_trim, preserve_first_n, preserve_last_n } =
            self.execution.conversation;
        let (no_cap, no_tokens, no_ladder) =
            (policy.messages().is_none(), policy.tokens().is_none(), policy.ladder().is_none());
        let no_summary = !policy.condenses();
        let keys = [
            ("execution.max_conversation_messages", self.execution.max_conversation_messages.is_some() && no_cap),
            ("execution.conversation.max_messages", max_messages.is_some() && no_cap),
            ("execution.conversation.preserve_first_n", preserve_first_n.is_some() && no_cap),
            ("execution.conversation.preserve_last_n", preserve_last_n.is_some() && no_cap),
            ("execution.conversation.summarize_on_trim", summarize_on_trim == Some(true) && no_cap && no_ladder),
            ("context.context_window", context.context_window.is_some() && !policy.needs_budget()),
            ("context.auto_condense_context", context.auto_condense_context && no_tokens),
            (
                "context.auto_condense_context_percent",
                context.auto_condense_context_percent != usual.auto_condense_context_percent && no_tokens,
            ),
            ("context.profile_thresholds", !context.profile_thresholds.is_empty() && no_tokens),
            ("context.custom_condensing_prompt", context.custom_condensing_prompt.is_some() && no_summary),
            ("context.condensing_provider", context.condensing_provider.is_some() && no_summary),
            ("profile", self.profile.is_some() && no_tokens),
            ("ladder", self.ladder != Ladder::default() && no_ladder),
        ];
        keys.into_iter().filter(|(_, is_idle)| *is_idle).map(|(key, _)| key).collect()
    }

    /// The settings of the message window; the full block wins over the shorthand.
    pub fn messages(&self) -> MessagesConfig {
        let default = MessagesConfig::default();
        let Conversation { max_messages, summarize_on_trim, preserve_first_n, preserve_last_n } =
            self.execution.conversation;
        MessagesConfig {
            max_messages: max_messages.or(self.execution.max_conversation_messages).unwrap_or(default.max_messages),
            preserve_first_n: preserve_first_n.unwrap_or(default.preserve_first_n),
            preserve_last_n: preserve_last_n.unwrap_or(default.preserve_last_n),
            summarize_on_trim: summarize_on_trim.unwrap_or(default.summarize_on_trim),
        }
    }

    /// The settings of the token window.
    pub fn tokens(&self) -> TokensConfig {
        TokensConfig {
            auto_condense_context: self.context.auto_condense_context,
            auto_condense_context_percent: self.context.auto_condense_context_percent,
            profile_thresholds: self.context.profile_thresholds.clone(),
            current_profile_id: self.profile.clone(),
        }
    }
}

fn not_utf8(valid: &[u8]) -> Problem {
    let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
    Problem { line, path: String::new(), message: "not UTF-8 text".to_owned() }
}

#[cfg(test)]
mod tests;
