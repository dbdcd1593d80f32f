//! Plain HTTP with reqwest, Anthropic's Messages API: the window holds the history and writes each request.

use crate::{CONTEXT_WINDOW, Ended, Error, TASK, parameters, read_file};
use louver::window::Usage;
use louver::{Format, Window};
use serde_json::{Value, json};

/// Talks until the model calls no tool any more.
///
/// # Errors
///
/// Where the provider refuses, or what it says is no answer.
pub async fn talk(url: &str) -> Result<Ended, Error> {
    let tools = json!([{ "name": "read_file", "input_schema": parameters() }]);
    let frame = json!({ "model": "claude-sonnet-5-5", "max_tokens": 1024, "system": "Be brief.", "tools": tools });
    let builder = Window::for_model(Format::Anthropic, "claude-sonnet-5-5").context_window(CONTEXT_WINDOW);
    let mut window = builder.frame(&frame).build()?;
    window.push_json(&json!({ "role": "user", "content": TASK }))?;
    let client = reqwest::Client::new();
    loop {
        let body = window.request()?.with_cache_marks().json();
        let request = client.post(format!("{url}/v1/messages")).header("x-api-key", "key");
        let request = request.header("anthropic-version", "2023-06-01").header("content-type", "application/json");
        let answer = request.body(body).send().await?.error_for_status()?.text().await?;
        if let Some(usage) = Usage::from_response(Format::Anthropic, &answer) {
            window.report_usage(usage);
        }
        let answer: Value = serde_json::from_str(&answer)?;
        window.push_json(&json!({ "role": "assistant", "content": answer["content"] }))?;
        let results = results(&answer);
        if results.is_empty() {
            let text = answer["content"][0]["text"].as_str().unwrap_or_default().to_owned();
            return Ok(Ended { text, messages: window.len() });
        }
        window.push_json(&json!({ "role": "user", "content": results }))?;
    }
}

/// What the tool says to each call of an answer.
fn results(answer: &Value) -> Vec<Value> {
    let calls = answer["content"].as_array().into_iter().flatten().filter(|block| block["type"] == "tool_use");
    let result = |call: &Value| {
        let content = read_file(call["input"]["path"].as_str().unwrap_or_default());
        json!({ "type": "tool_result", "tool_use_id": call["id"], "content": content })
    };
    calls.map(result).collect()
}
