//! An agent at work, in any of the four formats.

use crate::{Random, arguments, prose, tool_output};
use louver::json::text::encode;
use louver::wire::Format;

const TOOLS: &[&str] = &["read_file", "search", "run_command", "edit_file"];

/// A task and the turns of an agent: each a few words, one tool call and its result.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The format of all messages.
    pub format: Format,
    /// The user's task.
    pub opening: String,
    /// The raw messages of each turn.
    pub turns: Vec<Vec<String>>,
}

impl Conversation {
    /// A conversation of so many turns, always the same for the same seed.
    #[must_use]
    pub fn generate(format: Format, turns: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let opening = user(format, &prose(&mut random, 600));
        let turns = (0..turns).map(|number| Turn::generate(number, &mut random).write(format)).collect();
        Self { format, opening, turns }
    }

    /// All raw messages in order.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.opening.as_str()).chain(self.turns.iter().flatten().map(String::as_str))
    }

    /// A request body that holds it.
    #[must_use]
    pub fn body(&self) -> String {
        let messages: Vec<&str> = self.messages().collect();
        let key = self.format.history_key();
        format!(r#"{{"model":"some-model","stream":true,"{key}":[{}]}}"#, messages.join(","))
    }

    /// The messages alone, as a JSON array.
    #[must_use]
    pub fn list(&self) -> String {
        let messages: Vec<&str> = self.messages().collect();
        format!("[{}]", messages.join(",\n"))
    }
}

/// A request body of at least so many bytes.
#[must_use]
pub fn body_of_bytes(format: Format, bytes: usize) -> String {
    let mut conversation = Conversation::generate(format, bytes / 1000, 7);
    let mut length = conversation.opening.len();
    let needed = conversation.turns.iter().take_while(|turn| {
        let is_short = length < bytes;
        length += turn.iter().map(|raw| raw.len() + 1).sum::<usize>();
        is_short
    });
    let needed = needed.count();
    conversation.turns.truncate(needed);
    conversation.body()
}

/// One turn before a format writes it.
struct Turn {
    id: String,
    say: String,
    tool: &'static str,
    arguments: String,
    output: String,
}

impl Turn {
    fn generate(number: usize, random: &mut Random) -> Self {
        let say = 40 + random.below(260);
        // Most results are short, some are long: half of all bytes come from a sixth of the results.
        let output = if random.below(6) == 0 { 3000 + random.below(3000) } else { 200 + random.below(1600) };
        Self {
            id: format!("call_{number:08}"),
            say: prose(random, say),
            tool: TOOLS[random.below(TOOLS.len())],
            arguments: arguments(random),
            output: tool_output(random, output),
        }
    }

    fn write(&self, format: Format) -> Vec<String> {
        let Self { id, tool, arguments, .. } = self;
        let (say, output, quoted) = (encode(&self.say), encode(&self.output), encode(arguments));
        match format {
            Format::Anthropic => vec![
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"text","text":{say}}},{{"type":"tool_use","id":"{id}","name":"{tool}","input":{arguments}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{output}}}]}}"#
                ),
            ],
            Format::OpenAiChat => vec![
                format!(
                    r#"{{"role":"assistant","content":{say},"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"{tool}","arguments":{quoted}}}}}]}}"#
                ),
                format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{output}}}"#),
            ],
            Format::OpenAiResponses => vec![
                format!(
                    r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{say},"annotations":[]}}]}}"#
                ),
                format!(r#"{{"type":"function_call","call_id":"{id}","name":"{tool}","arguments":{quoted}}}"#),
                format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{output}}}"#),
            ],
            Format::Gemini => vec![
                format!(
                    r#"{{"role":"model","parts":[{{"text":{say}}},{{"functionCall":{{"name":"{tool}","args":{arguments}}}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"{tool}","response":{{"output":{output}}}}}}}]}}"#
                ),
            ],
        }
    }
}

fn user(format: Format, text: &str) -> String {
    let text = encode(text);
    match format {
        Format::Gemini => format!(r#"{{"role":"user","parts":[{{"text":{text}}}]}}"#),
        Format::OpenAiResponses => format!(r#"{{"type":"message","role":"user","content":{text}}}"#),
        Format::Anthropic | Format::OpenAiChat => format!(r#"{{"role":"user","content":{text}}}"#),
    }
}

#[cfg(test)]
mod tests {
    use super::{Conversation, body_of_bytes};
    use louver::legality::check;
    use louver::wire::{Body, Format};

    #[test]
    fn every_generated_body_is_legal_and_detected() {
        for format in Format::ALL {
            let text = body_of_bytes(format, 200_000);
            let body = Body::parse(&text, None).unwrap();
            assert_eq!(body.format(), format);
            assert_eq!(check(&body), []);
            assert!(text.len() >= 200_000 && text.len() < 220_000, "{}", text.len());
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let once = Conversation::generate(Format::Gemini, 20, 3).list();
        assert_eq!(once, Conversation::generate(Format::Gemini, 20, 3).list());
        assert_ne!(once, Conversation::generate(Format::Gemini, 20, 4).list());
    }
}
