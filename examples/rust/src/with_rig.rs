//! rig: a model around any other whose requests fit their window. The messages that stay are rig's own.

use crate::{CONTEXT_WINDOW, Ended, Error, TASK, parameters, read_file};
use louver::window::{Origin, WithPayload};
use louver::{Format, Window};
use rig_core::client::CompletionClient;
use rig_core::completion::message::{AssistantContent, ToolResultContent, UserContent};
use rig_core::completion::{CompletionModel, Message, ToolDefinition};
use rig_core::providers::openai;
use serde_json::{Value, json};

/// A history of rig's messages, and the window over it.
#[derive(Debug)]
pub struct History(WithPayload<Message>);

impl History {
    /// An empty history for a model; `frame` is what stands around it, as Anthropic has it.
    ///
    /// # Errors
    ///
    /// Where the frame leaves no room.
    pub fn new(model: &str, frame: &Value) -> Result<Self, Error> {
        // A message of rig's holds all results of the calls before it, as one of Anthropic's does.
        let builder = Window::for_model(Format::Anthropic, model).context_window(CONTEXT_WINDOW);
        Ok(Self(WithPayload::new(builder.frame(frame).build()?)))
    }

    /// Appends a message.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn push(&mut self, message: Message) -> Result<(), Error> {
        self.0.push_json(&wire(&message), message)?;
        Ok(())
    }

    /// How many messages were pushed.
    pub fn len(&self) -> usize {
        self.0.window().len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What may be sent: the messages that stay, and Louver's own.
    ///
    /// # Errors
    ///
    /// Where it cannot be made to fit.
    pub fn view(&mut self) -> Result<Vec<Message>, Error> {
        self.0.fit()?;
        let view = self.0.view().map(|(sent, own)| match (sent.origin, own) {
            (Origin::Kept(_), Some(message)) => message.clone(),
            _ => own_message(sent.message.raw()),
        });
        Ok(view.collect())
    }
}

/// Enough of a message to know what belongs together and what it costs.
fn wire(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({ "role": "user", "content": content }),
        Message::User { content } => {
            json!({ "role": "user", "content": content.iter().map(asked).collect::<Vec<_>>() })
        }
        Message::Assistant { content, .. } => {
            json!({ "role": "assistant", "content": content.iter().map(said).collect::<Vec<_>>() })
        }
    }
}

fn asked(content: &UserContent) -> Value {
    match content {
        UserContent::Text(text) => json!({ "type": "text", "text": text.text }),
        UserContent::ToolResult(result) => {
            json!({ "type": "tool_result", "tool_use_id": result.call, "content": result_text(&result.content) })
        }
        other => json!({ "type": "text", "text": json!(other).to_string() }),
    }
}

fn result_text(content: &[ToolResultContent]) -> String {
    let text = |content: &ToolResultContent| match content {
        ToolResultContent::Text(text) => text.text.clone(),
        other => json!(other).to_string(),
    };
    content.iter().map(text).collect()
}

fn said(content: &AssistantContent) -> Value {
    match content {
        AssistantContent::Text(text) => json!({ "type": "text", "text": text.text }),
        AssistantContent::ToolCall(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.function.name, "input": call.function.arguments })
        }
        other => json!({ "type": "text", "text": json!(other).to_string() }),
    }
}

/// A message of Louver's own, as rig has it.
fn own_message(raw: &str) -> Message {
    let wire: Value = serde_json::from_str(raw).unwrap_or_default();
    let blocks = wire["content"].as_array().into_iter().flatten();
    let text = match wire["content"].as_str() {
        Some(text) => text.to_owned(),
        None => blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
    };
    if wire["role"] == "assistant" { Message::assistant(text) } else { Message::user(text) }
}

/// Talks until the model calls no tool any more.
///
/// # Errors
///
/// Where the provider refuses, or what it says is no answer.
pub async fn talk(url: &str) -> Result<Ended, Error> {
    let client = openai::Client::builder().api_key("key").base_url(format!("{url}/v1")).build()?.completions_api();
    let model = client.completion_model("gpt-5");
    let tool =
        ToolDefinition { name: "read_file".into(), description: "Reads a file.".into(), parameters: parameters() };
    let mut history = History::new("gpt-5", &json!({ "system": "Be brief.", "tools": [&tool] }))?;
    history.push(Message::user(TASK))?;
    loop {
        let mut view = history.view()?;
        let last = view.pop().ok_or("a view without messages")?;
        let request = model.completion_request(last).messages(view).preamble("Be brief.".to_owned());
        let answer = model.completion(request.tool(tool.clone()).build()).await?;
        history.push(Message::Assistant { id: None, content: answer.choice.clone() })?;
        let results: Vec<_> = answer.choice.iter().filter_map(result).collect();
        if results.is_empty() {
            let text = answer.choice.iter().filter_map(text).collect();
            return Ok(Ended { text, messages: history.len() });
        }
        history.push(Message::User { content: results })?;
    }
}

fn result(content: &AssistantContent) -> Option<UserContent> {
    let AssistantContent::ToolCall(call) = content else { return None };
    let text = read_file(call.function.arguments["path"].as_str().unwrap_or_default());
    let (id, provider) = (call.id.clone(), call.provider.clone());
    Some(UserContent::tool_result_for(id, provider, &call.function.name, vec![ToolResultContent::text(text)]))
}

fn text(content: &AssistantContent) -> Option<&str> {
    match content {
        AssistantContent::Text(text) => Some(&text.text),
        _ => None,
    }
}
