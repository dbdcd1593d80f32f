//! Conversations as clients send them.

use louver::Format;
use louver::wire::Body;

/// A word that stands in every result and nowhere else.
pub(crate) const SECRET: &str = "marmalade";

/// Text that nobody wrote, the same for the same seed.
pub(crate) fn prose(seed: u64, words: usize) -> String {
    const WORDS: [&str; 24] = [
        "gate", "river", "signal", "left", "parser", "open", "token", "yellow", "stone", "under", "branch", "quiet",
        "error", "module", "seven", "window", "paper", "north", "loop", "result", "early", "bridge", "copper", "line",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::new();
    for number in 0..words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 33) as usize % WORDS.len()]);
        text.push_str(if number % 9 == 8 { "\\n" } else { " " });
    }
    text
}

/// A conversation of a client with its model.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) format: Format,
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) tools: String,
    pub(crate) thinks: bool,
    /// Each as it stands in the body.
    pub(crate) messages: Vec<String>,
    pub(crate) headers: String,
    pub(crate) max_tokens: u64,
    pub(crate) turns: u64,
    /// How many words a result has.
    pub(crate) words: usize,
}

impl Talk {
    pub(crate) fn new(format: Format) -> Self {
        let model = match format {
            Format::Anthropic => "claude-sonnet-5-5",
            Format::OpenAiChat | Format::OpenAiResponses => "gpt-5.2",
            Format::Gemini => "gemini-2.5-pro",
        };
        let mut talk = Self {
            format,
            model: model.to_owned(),
            system: "Be brief.".to_owned(),
            tools: "read_file".to_owned(),
            thinks: false,
            messages: Vec::new(),
            headers: String::new(),
            max_tokens: 1_000,
            turns: 0,
            words: 600,
        };
        talk.messages.push(talk.user("Read all files, please, and tell me which of them is wrong."));
        talk
    }

    pub(crate) fn thinking() -> Self {
        Self { thinks: true, ..Self::new(Format::Anthropic) }
    }

    pub(crate) fn of_model(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    /// One that has had so many turns.
    pub(crate) fn turns(mut self, turns: usize) -> Self {
        (0..turns).for_each(|_| self.turn());
        self
    }

    pub(crate) fn user(&self, text: &str) -> String {
        match self.format {
            Format::Anthropic | Format::OpenAiChat => format!(r#"{{"role":"user","content":"{text}"}}"#),
            Format::OpenAiResponses => {
                format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
            }
            Format::Gemini => format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#),
        }
    }

    /// The model calls a tool, and the tool answers.
    pub(crate) fn turn(&mut self) {
        self.turns += 1;
        let number = self.turns;
        let said = prose(number * 7 + 3, 12).replace("\\n", " ");
        let result = format!("{SECRET} {number}\\n{}", prose(number, self.words));
        let path = format!("src/file_{number}.rs");
        match self.format {
            Format::Anthropic => {
                let thought = format!(r#"{{"type":"thinking","thinking":"I {said}","signature":"sig{number}"}},"#);
                let thought = if self.thinks { thought } else { String::new() };
                self.messages.push(format!(
                    r#"{{"role":"assistant","content":[{thought}{{"type":"text","text":"{said}"}},{{"type":"tool_use","id":"toolu_{number}","name":"read_file","input":{{"path":"{path}"}}}}]}}"#
                ));
                self.messages.push(format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{number}","content":"{result}"}}]}}"#
                ));
            }
            Format::OpenAiChat => {
                self.messages.push(format!(
                    r#"{{"role":"assistant","content":"{said}","tool_calls":[{{"id":"call_{number}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"{path}\"}}"}}}}]}}"#
                ));
                self.messages.push(format!(r#"{{"role":"tool","tool_call_id":"call_{number}","content":"{result}"}}"#));
            }
            Format::OpenAiResponses => {
                if self.thinks {
                    self.messages.push(format!(
                        r#"{{"type":"reasoning","id":"rs_{number}","summary":[],"encrypted_content":"{said}"}}"#
                    ));
                }
                self.messages.push(format!(
                    r#"{{"type":"function_call","call_id":"call_{number}","name":"read_file","arguments":"{{\"path\":\"{path}\"}}"}}"#
                ));
                self.messages.push(format!(
                    r#"{{"type":"function_call_output","call_id":"call_{number}","output":"{result}"}}"#
                ));
            }
            Format::Gemini => {
                self.messages.push(format!(
                    r#"{{"role":"model","parts":[{{"functionCall":{{"name":"read_file","args":{{"path":"{path}"}}}}}}]}}"#
                ));
                self.messages.push(format!(
                    r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"read_file","response":{{"output":"{result}"}}}}}}]}}"#
                ));
            }
        }
    }

    pub(crate) fn path(&self) -> String {
        match self.format {
            Format::Anthropic => "/v1/messages".to_owned(),
            Format::OpenAiChat => "/v1/chat/completions".to_owned(),
            Format::OpenAiResponses => "/v1/responses".to_owned(),
            Format::Gemini => format!("/v1beta/models/{}:generateContent", self.model),
        }
    }

    pub(crate) fn body(&self) -> String {
        self.body_of(&self.messages)
    }

    /// The body with other messages.
    pub(crate) fn body_of(&self, messages: &[String]) -> String {
        let Self { model, system, tools, max_tokens, .. } = self;
        let messages = messages.join(",");
        match self.format {
            Format::Anthropic => format!(
                r#"{{"model":"{model}","max_tokens":{max_tokens},"system":[{{"type":"text","text":"{system}"}}],"tools":[{{"name":"{tools}","input_schema":{{"type":"object"}}}}],"messages":[{messages}],"stream":false}}"#
            ),
            Format::OpenAiChat => {
                format!(r#"{{"model":"{model}","max_tokens":{max_tokens},"messages":[{messages}]}}"#)
            }
            Format::OpenAiResponses => format!(
                r#"{{"model":"{model}","instructions":"{system}","store":false,"max_output_tokens":{max_tokens},"input":[{messages}]}}"#
            ),
            Format::Gemini => {
                format!(r#"{{"contents":[{messages}],"generationConfig":{{"maxOutputTokens":{max_tokens}}}}}"#)
            }
        }
    }

    /// An answer of the model's.
    pub(crate) fn answer(format: Format) -> &'static str {
        match format {
            Format::Anthropic => {
                r#"{"id":"msg_1","model":"m","stop_reason":"end_turn","usage":{"input_tokens":100,"cache_read_input_tokens":50,"cache_creation_input_tokens":25,"output_tokens":7}}"#
            }
            Format::OpenAiChat => r#"{"id":"c","usage":{"prompt_tokens":100,"completion_tokens":7}}"#,
            Format::OpenAiResponses => r#"{"id":"r","usage":{"input_tokens":100,"output_tokens":7}}"#,
            Format::Gemini => r#"{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":7}}"#,
        }
    }
}

/// The messages of a body, each as it stands there.
pub(crate) fn messages_of(format: Format, body: &[u8]) -> Vec<String> {
    let body = Body::parse_bytes(body, Some(format)).unwrap();
    body.messages().iter().map(|message| message.raw().to_owned()).collect()
}

/// Without the thinking in it, as clients leave it out.
pub(crate) fn without_thinking(message: &str) -> String {
    match (message.find(r#"{"type":"thinking""#), message.find(r#"{"type":"text""#)) {
        (Some(start), Some(end)) if start < end => format!("{}{}", &message[..start], &message[end..]),
        _ => message.to_owned(),
    }
}
