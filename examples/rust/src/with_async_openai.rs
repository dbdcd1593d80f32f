//! async-openai, Chat Completions: its own types go in, and what the window writes is read back as its request.

use crate::{CONTEXT_WINDOW, Ended, Error, TASK, parameters, read_file};
use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{ChatCompletionMessageToolCalls, CreateChatCompletionRequest};
use louver::window::Usage;
use louver::{Format, Window};
use serde_json::{Value, json};

/// Talks until the model calls no tool any more.
///
/// # Errors
///
/// Where the provider refuses, or what it says is no answer.
pub async fn talk(url: &str) -> Result<Ended, Error> {
    let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key("key");
    let client = Client::with_config(config);
    let tools = json!([{ "type": "function", "function": { "name": "read_file", "parameters": parameters() } }]);
    let frame = json!({ "model": "gpt-5", "tools": tools });
    let builder = Window::for_model(Format::OpenAiChat, "gpt-5").context_window(CONTEXT_WINDOW);
    let mut window = builder.frame(&frame).build()?;
    window.push_json(&json!({ "role": "system", "content": "Be brief." }))?;
    window.push_json(&json!({ "role": "user", "content": TASK }))?;
    loop {
        let request: CreateChatCompletionRequest = serde_json::from_str(&window.request()?.json())?;
        let answer = client.chat().create(request).await?;
        if let Some(usage) = &answer.usage {
            window.report_usage(Usage::of_input(u64::from(usage.prompt_tokens)));
        }
        let message = answer.choices.into_iter().next().ok_or("an answer without a choice")?.message;
        window.push_json(&message)?;
        let Some(calls) = message.tool_calls else {
            return Ok(Ended { text: message.content.unwrap_or_default(), messages: window.len() });
        };
        for call in calls {
            let ChatCompletionMessageToolCalls::Function(call) = call else { continue };
            let arguments: Value = serde_json::from_str(&call.function.arguments)?;
            let content = read_file(arguments["path"].as_str().unwrap_or_default());
            window.push_json(&json!({ "role": "tool", "tool_call_id": call.id, "content": content }))?;
        }
    }
}
