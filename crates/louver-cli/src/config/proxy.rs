//! The proxy's settings.

use schemars::JsonSchema;
use std::collections::BTreeMap;

/// The proxy. What the command line says wins over it.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Proxy {
    /// Where to listen, `127.0.0.1:8787` if nothing is said. Addresses that others can reach need access tokens.
    pub listen: Option<String>,
    /// Names under which the page and its API may be asked for, beside `localhost` and addresses in figures.
    pub hosts: Vec<String>,
    /// Which new cuts are made: `keep` if nothing is said.
    #[schemars(extend("enum" = MODES))]
    pub mode: Option<String>,
    /// The context window, in tokens, instead of each model's.
    #[schemars(range(min = 1))]
    pub context_window: Option<u64>,
    /// What is kept beside decisions: `decisions` if nothing is said.
    #[schemars(extend("enum" = ARCHIVES))]
    pub archive: Option<String>,
    /// The file that decisions are kept in, instead of the one in the user's data folder.
    pub store: Option<String>,
    /// Where requests go, by name.
    pub upstreams: BTreeMap<String, ProxyUpstream>,
    /// The environment variables that hold access tokens, by the name of whoever has the token.
    pub access_tokens: BTreeMap<String, String>,
}

/// A host that requests go to.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct ProxyUpstream {
    /// What the request's path is appended to.
    #[schemars(url)]
    pub url: Option<String>,
    /// Its mode, where it is another than the proxy's.
    #[schemars(extend("enum" = MODES))]
    pub mode: Option<String>,
}

/// The modes, by name.
pub(super) const MODES: [&str; 4] = ["keep", "observe", "rescue", "off"];
/// The archives, by name.
pub(super) const ARCHIVES: [&str; 3] = ["off", "decisions", "full"];
