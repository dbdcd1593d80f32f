//! What the tests of both OpenAI formats share: reading files, applying fixes, describing parts.

use louver::wire::{Fix, Format, History, Message, Part, Violation};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// A transcript of the corpus.
pub(crate) struct Transcript {
    pub(crate) name: String,
    pub(crate) legal: bool,
    pub(crate) messages: Vec<Message>,
}

/// The corpus files of a format, or nothing where no corpus is.
pub(crate) fn corpus(format: Format) -> Vec<Transcript> {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS") else {
        println!("skipped: LOUVER_CORPUS is not set");
        return Vec::new();
    };
    let folder = Path::new(&folder);
    let index = std::fs::read_to_string(folder.join("index.csv")).unwrap();
    let mut rows = index.lines();
    let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let (file, kind, legal) = (column("file"), column("format"), column("legal"));
    let found: Vec<_> = rows
        .map(|row| row.split(',').collect::<Vec<_>>())
        .filter(|row| row[kind] == format.name())
        .map(|row| {
            let body = std::fs::read_to_string(folder.join(row[file])).unwrap();
            let messages = parse(format, list_of(&body, "messages"))
                .unwrap_or_else(|(index, error)| panic!("{} [{index}]: {error}", row[file]));
            Transcript { name: row[file].to_owned(), legal: row[legal] == "yes", messages }
        })
        .collect();
    assert!(!found.is_empty(), "no {format} transcripts in {}", folder.display());
    found
}

/// The elements of the list under `key`, as written.
pub(crate) fn list_of(body: &str, key: &str) -> Vec<String> {
    let body: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_str(body).unwrap();
    let list: Vec<Box<RawValue>> = serde_json::from_str(body[key].get()).unwrap();
    list.iter().map(|element| element.get().to_owned()).collect()
}

/// Reads messages, or says which one could not be read.
pub(crate) fn parse(
    format: Format,
    raw: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<Vec<Message>, (usize, louver::json::JsonError)> {
    let numbered = raw.into_iter().enumerate();
    numbered.map(|(index, raw)| Message::parse(format, raw.as_ref()).map_err(|error| (index, error))).collect()
}

pub(crate) fn check(format: Format, messages: &[Message]) -> Vec<Violation> {
    format.wire().check(&History::of(messages))
}

pub(crate) fn repair(format: Format, messages: &[Message]) -> Vec<Fix> {
    format.wire().repair(&History::of(messages))
}

/// The history after its fixes.
pub(crate) fn apply(format: Format, messages: &[Message], fixes: &[Fix]) -> Vec<Message> {
    let mut raw: Vec<String> = Vec::new();
    for index in 0..=messages.len() {
        let mut own = messages.get(index).map(|message| message.raw().to_owned());
        for fix in fixes.iter().filter(|fix| fix.index() == index) {
            match fix {
                Fix::Remove { .. } => own = None,
                Fix::Replace { raw, .. } => own = Some(raw.clone()),
                Fix::Insert { raw: inserted, .. } => raw.push(inserted.clone()),
            }
        }
        raw.extend(own);
    }
    parse(format, raw).unwrap()
}

/// What every repair promises: legal afterwards, nothing to do for a legal history, nothing left to do after it.
pub(crate) fn assert_repairs(format: Format, messages: &[Message]) {
    let fixes = repair(format, messages);
    assert_eq!(fixes.is_empty(), check(format, messages).is_empty(), "{fixes:?}");
    let repaired = apply(format, messages, &fixes);
    assert_eq!(check(format, &repaired), []);
    assert_eq!(repair(format, &repaired), []);
}

/// Runs the cases of a legality file: per rule a request that is just legal and one that just is not.
pub(crate) fn assert_legality(format: Format, cases: &str) {
    #[derive(serde::Deserialize)]
    struct Case<'a> {
        rule: String,
        #[serde(borrow)]
        legal: &'a RawValue,
        #[serde(borrow)]
        illegal: &'a RawValue,
    }
    let cases: Vec<Case<'_>> = serde_json::from_str(cases).unwrap();
    for case in cases {
        let read = |body: &RawValue| parse(format, list_of(body.get(), format.history_key())).unwrap();
        assert_eq!(check(format, &read(case.legal)), [], "{}: {}", case.rule, case.legal);
        let found = check(format, &read(case.illegal));
        let rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, [case.rule], "{}", case.illegal);
        assert_repairs(format, &read(case.illegal));
    }
}

/// A part in words, with everything resolved that its spans point at.
pub(crate) fn describe(message: &Message, part: &Part) -> String {
    let text = match part.text.of(message.raw()) {
        "" => None,
        text => Some(serde_json::from_str::<Value>(text).unwrap()),
    };
    let (id, own_id, name) = (message.id_of(part), message.own_id_of(part), message.name_of(part));
    let whole = part.span.of(message.raw());
    assert!(serde_json::from_str::<Value>(whole).is_ok(), "{part:?} in {}", message.raw());
    Expected {
        kind: format!("{:?}", part.kind),
        id: id.into(),
        own_id: own_id.into(),
        name: name.into(),
        text,
        chars: part.chars as usize,
        nested: part.nested,
    }
    .line()
}

/// What an oracle says a part is.
#[derive(Default)]
pub(crate) struct Expected {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) own_id: String,
    pub(crate) name: String,
    pub(crate) text: Option<Value>,
    pub(crate) chars: usize,
    pub(crate) nested: bool,
}

impl Expected {
    pub(crate) fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), ..Self::default() }
    }

    /// Gives it a text that counts.
    pub(crate) fn reading(mut self, text: &Value) -> Self {
        self.chars += chars(text);
        self.text = Some(text.clone()).filter(|text| !text.is_null());
        self
    }

    pub(crate) fn line(&self) -> String {
        let Self { kind, id, own_id, name, text, chars, nested } = self;
        let text = text.as_ref().map(Value::to_string).unwrap_or_default();
        format!("{kind} id={id} own={own_id} name={name} chars={chars} nested={nested} {text}")
    }
}

/// A string's characters, or those of the compact JSON of anything else; null has none.
pub(crate) fn chars(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    }
}

/// A string member, empty where there is none.
pub(crate) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// What a content part is, by the names of both formats.
pub(crate) fn expected_part(part: &Value) -> Expected {
    let media = |kind: &str, data: &Value| {
        let name = data.as_str().and_then(|data| data.strip_prefix("data:"));
        let name = name.map(|rest| rest.split([';', ',']).next().unwrap_or_default().to_owned());
        let text = Some(data.clone()).filter(|data| data.is_string());
        Expected { name: name.unwrap_or_default(), text, ..Expected::new(kind) }
    };
    let first = |keys: &[&str]| keys.iter().map(|key| part[key].clone()).find(|v| !v.is_null()).unwrap_or_default();
    match part["type"].as_str() {
        Some("text" | "input_text" | "output_text" | "summary_text" | "reasoning_text") => {
            Expected::new("Text").reading(&part["text"])
        }
        Some("refusal") => Expected::new("Text").reading(&part["refusal"]),
        Some("image_url") => media("Media(Image)", &part["image_url"]["url"]),
        Some("input_image" | "computer_screenshot") => media("Media(Image)", &first(&["image_url", "file_id"])),
        Some("input_audio") => {
            let audio = &part["input_audio"];
            Expected { name: string(audio, "format"), ..media("Media(Audio)", &audio["data"]) }
        }
        Some("file") => {
            let file = &part["file"];
            media("Media(Document)", if file["file_data"].is_null() { &file["file_id"] } else { &file["file_data"] })
        }
        Some("input_file") => media("Media(Document)", &first(&["file_data", "file_url", "file_id"])),
        _ => Expected::new("Other").reading(part),
    }
}

/// The text of an object whose members come in this order.
pub(crate) fn object(members: &[(&str, Value)]) -> String {
    let members: Vec<_> = members.iter().map(|(key, value)| format!("{:?} : {value:#}", key)).collect();
    format!("{{ {} }}", members.join(" ,\n"))
}

/// Any JSON object whose keys are among `keys`: most are of no format, and none may do harm.
pub(crate) fn any_object(keys: &'static [&'static str], words: &'static [&'static str]) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        proptest::sample::select(words).prop_map(Value::from),
        "[ \n\\\\\"aé😀]{0,4}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            members_among(keys, inner.boxed(), 0..4),
        ]
    });
    members_among(keys, inner.boxed(), 1..7)
}

fn members_among(
    keys: &'static [&'static str],
    value: BoxedStrategy<Value>,
    count: std::ops::Range<usize>,
) -> BoxedStrategy<Value> {
    let key = proptest::sample::select(keys).prop_map(str::to_owned);
    proptest::collection::hash_map(key, value, count).prop_map(|map| Value::Object(map.into_iter().collect())).boxed()
}

/// What holds for anything that can be read at all: its spans are JSON, it can be judged and it can be repaired.
pub(crate) fn assert_harmless(format: Format, raw: &str) {
    if let Ok(message) = Message::parse(format, raw) {
        message.shape().parts.iter().for_each(|part| drop(describe(&message, part)));
        assert_repairs(format, &[message]);
    }
}

/// A text that ends inside a message is never read as one.
pub(crate) fn assert_cut_text_is_refused(format: Format, raw: &str) {
    for (cut, _) in raw.char_indices() {
        assert!(Message::parse(format, &raw[..cut]).is_err(), "{}", &raw[..cut]);
    }
}
