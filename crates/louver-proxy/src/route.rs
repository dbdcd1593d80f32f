//! Where a request goes and what it is, by its path.

use crate::model_request::Purpose;
use http::{HeaderMap, Method};
use louver::Format;

/// What the proxy does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// Something of the proxy's own, under `/louver/`.
    Own,
    /// To an upstream.
    Upstream {
        name: &'a str,
        /// What is appended to the upstream's address.
        path: &'a str,
        /// What the request is, if it carries a history.
        model: Option<ModelRoute>,
    },
    /// Nowhere: no upstream is meant.
    Nowhere,
    /// Nowhere: the path could mean another one than it seems.
    Crooked,
}

/// A request that carries a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelRoute {
    pub(crate) format: Format,
    pub(crate) purpose: Purpose,
    /// The model, where the path names it.
    pub(crate) model: Option<String>,
}

impl ModelRoute {
    fn new(format: Format, purpose: Purpose, model: Option<&str>) -> Self {
        Self { format, purpose, model: model.map(str::to_owned) }
    }
}

/// Where paths behind `/up/NAME` begin.
const NAMED: &str = "/up/";

/// What a path and headers mean. `path` is the request's, without its query.
pub(crate) fn route<'a>(method: &Method, path: &'a str, headers: &HeaderMap) -> Route<'a> {
    if path == "/louver" || path.starts_with("/louver/") {
        return Route::Own;
    }
    if !path.starts_with('/') {
        return Route::Nowhere;
    }
    if is_crooked(path) {
        return Route::Crooked;
    }
    if let Some(rest) = path.strip_prefix(NAMED) {
        let (name, path) = rest.find('/').map_or((rest, "/"), |slash| rest.split_at(slash));
        let model = model_route(method, path, headers);
        return Route::Upstream { name, path, model };
    }
    let model = model_route(method, path, headers);
    let name = match &model {
        Some(model) => upstream_of(model, path, headers),
        None => upstream_by_prefix(path, headers),
    };
    let Some(name) = name else { return Route::Nowhere };
    // The backend of ChatGPT has no version in its paths, but clients that are told one address have.
    let path = if name == "chatgpt" { path.strip_prefix("/v1").unwrap_or(path) } else { path };
    Route::Upstream { name, path, model }
}

/// Whether a path has segments that lead upwards, however they are written. No client sends them, and behind some
/// servers they would leave the beginning of the path that an upstream is configured with.
fn is_crooked(path: &str) -> bool {
    // Hardly any path has a dot segment or an escape, and this runs for every request.
    if !path.contains("/.") && !path.contains(['%', '\\']) {
        return false;
    }
    let plain = path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
    plain.split(['/', '\\']).any(|segment| segment == "." || segment == "..")
}

fn model_route(method: &Method, path: &str, headers: &HeaderMap) -> Option<ModelRoute> {
    if method != Method::POST {
        return None;
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    let generate = if summarises(headers) { Purpose::Summarise } else { Purpose::Generate };
    let simple = [
        ("/v1/messages", Format::Anthropic, generate),
        ("/v1/messages/count_tokens", Format::Anthropic, Purpose::CountTokens),
        ("/chat/completions", Format::OpenAiChat, generate),
        ("/responses", Format::OpenAiResponses, generate),
        ("/responses/compact", Format::OpenAiResponses, Purpose::Summarise),
        ("/responses/input_tokens", Format::OpenAiResponses, Purpose::CountTokens),
    ];
    if let Some((_, format, purpose)) = simple.into_iter().find(|(suffix, ..)| path.ends_with(suffix)) {
        return Some(ModelRoute::new(format, purpose, deployment(path)));
    }
    by_verb(path, generate)
}

/// `…/models/M:verb`: Gemini's, and Vertex' for everybody's models.
fn by_verb(path: &str, generate: Purpose) -> Option<ModelRoute> {
    let (before, last) = path.rsplit_once('/')?;
    let (model, verb) = last.split_once(':')?;
    if !before.ends_with("/models") {
        return None;
    }
    match verb {
        "generateContent" | "streamGenerateContent" => Some(ModelRoute::new(Format::Gemini, generate, Some(model))),
        "countTokens" => Some(ModelRoute::new(Format::Gemini, Purpose::CountTokens, Some(model))),
        "rawPredict" | "streamRawPredict" => {
            let format = if before.ends_with("/publishers/anthropic/models") {
                Format::Anthropic
            } else if before.ends_with("/publishers/mistralai/models") {
                Format::OpenAiChat
            } else {
                return None;
            };
            // Vertex counts under a model of that name; the one that is meant stands in the body.
            let is_count = model == "count-tokens";
            let purpose = if is_count { Purpose::CountTokens } else { generate };
            Some(ModelRoute::new(format, purpose, (!is_count).then_some(model)))
        }
        _ => None,
    }
}

/// The model in Azure's `…/deployments/NAME/chat/completions`.
fn deployment(path: &str) -> Option<&str> {
    let (_, behind) = path.split_once("/deployments/")?;
    behind.split('/').next().filter(|name| !name.is_empty())
}

/// Whether headers say that the request summarises its history.
fn summarises(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    headers.contains_key("x-claude-code-compaction")
        || text("x-claude-code-request-class") == "compaction"
        || text("x-openai-subagent") == "compact"
        || text("x-codex-turn-metadata").replace(' ', "").contains("\"request_kind\":\"compaction\"")
}

fn upstream_of(model: &ModelRoute, path: &str, headers: &HeaderMap) -> Option<&'static str> {
    if is_vertex(path) {
        return Some("vertex");
    }
    Some(match model.format {
        Format::Anthropic => "anthropic",
        Format::OpenAiChat | Format::OpenAiResponses => openai(headers),
        Format::Gemini => "gemini",
    })
}

/// Whose a path is that carries no history.
fn upstream_by_prefix(path: &str, headers: &HeaderMap) -> Option<&'static str> {
    let begins = |prefix: &str| {
        path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with(':'))
    };
    if is_vertex(path) {
        Some("vertex")
    } else if ["/v1beta", "/v1alpha", "/upload/v1beta", "/download/v1beta"].into_iter().any(begins) {
        Some("gemini")
    } else if ["/v1/messages", "/v1/complete", "/api", "/v1/organizations"].into_iter().any(begins)
        || ["anthropic-version", "anthropic-beta", "x-api-key"].iter().any(|name| headers.contains_key(*name))
    {
        Some("anthropic")
    } else if headers.contains_key("x-goog-api-key") {
        Some("gemini")
    } else if begins("/v1") || begins("/openai") {
        Some(openai(headers))
    } else {
        None
    }
}

fn openai(headers: &HeaderMap) -> &'static str {
    if headers.contains_key("chatgpt-account-id") { "chatgpt" } else { "openai" }
}

/// `/v1/projects/…`, `/v1beta1/projects/…`.
fn is_vertex(path: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    segments.next().is_some_and(|version| version.starts_with('v')) && segments.next() == Some("projects")
}

#[cfg(test)]
mod tests;
