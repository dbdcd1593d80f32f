use super::*;
use http::{HeaderName, HeaderValue};

fn of(path: &str, headers: &[(&'static str, &'static str)]) -> String {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
    match route(&Method::POST, path, &headers) {
        Route::Upstream { name, path, model: None } => format!("{name} {path}"),
        Route::Upstream { name, path, model: Some(ModelRoute { format, purpose, model }) } => {
            format!("{name} {path} {format} {purpose:?} {}", model.as_deref().unwrap_or("-"))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn requests_with_a_history_are_known_by_the_end_of_their_path() {
    for (path, expected) in [
        ("/v1/messages", "anthropic /v1/messages anthropic Generate -"),
        ("/v1/messages/count_tokens", "anthropic /v1/messages/count_tokens anthropic CountTokens -"),
        ("/team/a/v1/messages", "anthropic /team/a/v1/messages anthropic Generate -"),
        ("/v1/chat/completions", "openai /v1/chat/completions openai-chat Generate -"),
        ("/api/v1/chat/completions", "openai /api/v1/chat/completions openai-chat Generate -"),
        (
            "/openai/deployments/my-gpt/chat/completions",
            "openai /openai/deployments/my-gpt/chat/completions openai-chat Generate my-gpt",
        ),
        ("/v1/responses", "openai /v1/responses openai-responses Generate -"),
        ("/v1/responses/compact", "openai /v1/responses/compact openai-responses Summarise -"),
        ("/v1/responses/input_tokens", "openai /v1/responses/input_tokens openai-responses CountTokens -"),
        (
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent",
            "gemini /v1beta/models/gemini-2.5-pro:streamGenerateContent gemini Generate gemini-2.5-pro",
        ),
        (
            "/v1beta/models/gemini-2.5-pro:countTokens",
            "gemini /v1beta/models/gemini-2.5-pro:countTokens gemini CountTokens gemini-2.5-pro",
        ),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict",
            "vertex /v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict anthropic Generate claude-x",
        ),
        (
            "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
            "vertex /v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict anthropic CountTokens -",
        ),
        (
            "/v1beta1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent",
            "vertex /v1beta1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent gemini Generate gemini-3",
        ),
        ("/up/gateway/x/v1/messages", "gateway /x/v1/messages anthropic Generate -"),
        ("/up/chatgpt/responses", "chatgpt /responses openai-responses Generate -"),
    ] {
        assert_eq!(of(path, &[]), expected);
    }
}

#[test]
fn everything_else_goes_to_the_upstream_of_its_prefix() {
    for (path, expected) in [
        ("/api/hello", "anthropic /api/hello"),
        ("/v1/messages/batches", "anthropic /v1/messages/batches"),
        ("/v1/models", "openai /v1/models"),
        ("/v1/responses/resp_1/cancel", "openai /v1/responses/resp_1/cancel"),
        ("/v1beta/interactions", "gemini /v1beta/interactions"),
        ("/v1beta/models/m:embedContent", "gemini /v1beta/models/m:embedContent"),
        ("/up/bedrock/model/anthropic.claude/invoke", "bedrock /model/anthropic.claude/invoke"),
        ("/up/gateway", "gateway /"),
        ("/v1beta1/projects/p/x", "vertex /v1beta1/projects/p/x"),
        ("/elsewhere", "Nowhere"),
        ("*", "Nowhere"),
        ("/louver/healthz", "Own"),
        ("/louver", "Own"),
        ("/louvered", "Nowhere"),
    ] {
        assert_eq!(of(path, &[]), expected, "{path}");
    }
    assert_eq!(of("/v1/models", &[("anthropic-version", "2023-06-01")]), "anthropic /v1/models");
    assert_eq!(of("/anything", &[("x-goog-api-key", "k")]), "gemini /anything");
    assert_eq!(of("/v1/models", &[("chatgpt-account-id", "a")]), "chatgpt /models");
}

#[test]
fn a_login_with_chatgpt_has_an_upstream_of_its_own() {
    let header = [("chatgpt-account-id", "a")];
    assert_eq!(of("/v1/responses", &header), "chatgpt /responses openai-responses Generate -");
    assert_eq!(of("/responses", &header), "chatgpt /responses openai-responses Generate -");
}

#[test]
fn only_a_post_carries_a_history() {
    let route = route(&Method::GET, "/v1/messages", &HeaderMap::new());
    assert_eq!(route, Route::Upstream { name: "anthropic", path: "/v1/messages", model: None });
}

#[test]
fn headers_say_that_a_request_summarises() {
    for header in [
        ("x-claude-code-compaction", "auto"),
        ("x-claude-code-request-class", "compaction"),
        ("x-openai-subagent", "compact"),
        ("x-codex-turn-metadata", r#"{"request_kind": "compaction"}"#),
    ] {
        assert_eq!(of("/v1/messages", &[header]), "anthropic /v1/messages anthropic Summarise -");
    }
    let main = [("x-claude-code-request-class", "main"), ("x-codex-turn-metadata", r#"{"request_kind":"turn"}"#)];
    assert_eq!(of("/v1/messages", &main), "anthropic /v1/messages anthropic Generate -");
}

#[test]
fn paths_that_could_mean_another_are_crooked() {
    for path in [
        "/up/gateway/../openai/v1/messages",
        "/v1/%2e%2E/messages",
        "/./v1/messages",
        "/v1/..%2Fmessages",
        "/v1/a%5c..%5cb",
        "/v1/a\\..\\b",
    ] {
        assert_eq!(of(path, &[]), "Crooked", "{path}");
    }
    assert_eq!(of("/v1/files/a..b", &[]), "openai /v1/files/a..b");
    assert_eq!(of("/v1/models/org%2Fmodel", &[]), "openai /v1/models/org%2Fmodel");
    assert_eq!(of("/up/openai%2F..%2Fx/y", &[]), "Crooked");
    assert_eq!(of("/up/openai%2Fx/y", &[]), "openai%2Fx /y");
}
