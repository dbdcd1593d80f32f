//! Finds a few values in JSON text that passes by, without keeping the rest.

/// Where a wanted value stands: keys from the outside in; `*` is any element of an array.
pub(crate) type Path = &'static [&'static str];

/// How deep a wanted value may stand.
const MAX_PATH: usize = 3;

/// How many bytes of a key are compared. No wanted key is longer.
const MAX_KEY: usize = 24;

/// How long a wanted value may be.
const MAX_VALUE: usize = 64 * 1024;

/// Reads JSON in pieces of any size and keeps the values at the wanted paths. Where the pieces are cut makes no
/// difference. An array around everything is looked through, because some streams are one.
///
/// It keeps nothing but those values, so that texts of any size pass. It does not check that the text is JSON: of text
/// that is not, it finds nothing or nonsense, and whoever reads the values has to check them.
#[derive(Debug)]
pub(crate) struct JsonFields {
    wanted: &'static [Path],
    state: State,
    /// The innermost levels that a path can reach.
    levels: [Level; MAX_PATH + 1],
    depth: usize,
    capture: Option<Capture>,
    found: Vec<Found>,
    is_doubtful: bool,
}

/// A value at a wanted path, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Which of the wanted paths.
    pub(crate) index: usize,
    pub(crate) value: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Between,
    Text {
        is_key: bool,
    },
    Escape {
        is_key: bool,
    },
    /// A number, `true`, `false` or `null`.
    Word,
}

/// An open array or object.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    is_object: bool,
    /// Whether the next text is a key.
    wants_key: bool,
    key: [u8; MAX_KEY],
    key_length: usize,
}

#[derive(Debug)]
struct Capture {
    index: usize,
    /// The depth at which the value began.
    depth: usize,
    value: Vec<u8>,
}

impl JsonFields {
    pub(crate) fn new(wanted: &'static [Path]) -> Self {
        debug_assert!(wanted.iter().all(|path| path.len() <= MAX_PATH));
        Self {
            wanted,
            state: State::Between,
            levels: [Level::default(); MAX_PATH + 1],
            depth: 0,
            capture: None,
            found: Vec::new(),
            is_doubtful: false,
        }
    }

    /// Takes the next bytes. O(bytes).
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(&byte) = bytes.first() {
            let taken = match self.state {
                State::Text { is_key } => self.text(bytes, is_key),
                State::Escape { is_key } => self.escaped(bytes, is_key),
                State::Word => self.word(bytes),
                State::Between => self.between(byte),
            };
            bytes = &bytes[taken..];
        }
    }

    /// Ends the text and begins another: what was found in it.
    pub(crate) fn finish(&mut self) -> Vec<Found> {
        if self.state == State::Word {
            self.end_value();
        }
        self.state = State::Between;
        self.depth = 0;
        self.capture = None;
        std::mem::take(&mut self.found)
    }

    /// What has been found so far; it is not found again.
    pub(crate) fn take_found(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.found)
    }

    /// Whether something cannot be as it seems, so that values may be missing.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    fn between(&mut self, byte: u8) -> usize {
        match byte {
            b'"' if self.wants_key() => {
                self.keep(b"\"");
                self.begin_key();
                self.state = State::Text { is_key: true };
            }
            b'"' => {
                self.begin_value();
                self.keep(b"\"");
                self.state = State::Text { is_key: false };
            }
            b'{' | b'[' => {
                self.begin_value();
                self.keep(&[byte]);
                self.open(byte == b'{');
            }
            b'}' | b']' => {
                self.keep(&[byte]);
                self.close();
            }
            b',' => {
                self.keep(b",");
                self.next_element();
            }
            b':' | b' ' | b'\n' | b'\r' | b'\t' => self.keep(&[byte]),
            _ => {
                self.begin_value();
                self.state = State::Word;
                return 0;
            }
        }
        1
    }

    fn text(&mut self, bytes: &[u8], is_key: bool) -> usize {
        let end = memchr::memchr2(b'"', b'\\', bytes);
        let plain = &bytes[..end.unwrap_or(bytes.len())];
        self.keep(plain);
        if is_key {
            self.add_to_key(plain);
        }
        let Some(end) = end else { return bytes.len() };
        self.keep(&bytes[end..=end]);
        if bytes[end] == b'\\' {
            self.state = State::Escape { is_key };
        } else {
            self.state = State::Between;
            if is_key {
                self.end_key();
            } else {
                self.end_value();
            }
        }
        end + 1
    }

    fn escaped(&mut self, bytes: &[u8], is_key: bool) -> usize {
        self.keep(&bytes[..1]);
        if is_key {
            // No wanted key has an escape, so this one is none of them.
            self.add_to_key(&[b'\\'; MAX_KEY + 1]);
        }
        self.state = State::Text { is_key };
        1
    }

    fn word(&mut self, bytes: &[u8]) -> usize {
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b':' | b'"');
        let end = bytes.iter().position(ends).unwrap_or(bytes.len());
        self.keep(&bytes[..end]);
        if end < bytes.len() {
            self.state = State::Between;
            self.end_value();
        }
        end
    }

    fn open(&mut self, is_object: bool) {
        if let Some(level) = self.levels.get_mut(self.depth) {
            *level = Level { is_object, wants_key: is_object, ..Level::default() };
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                self.end_value();
            }
            None => self.is_doubtful = true,
        }
    }

    fn level(&mut self) -> Option<&mut Level> {
        self.depth.checked_sub(1).and_then(|last| self.levels.get_mut(last))
    }

    fn wants_key(&mut self) -> bool {
        self.level().is_some_and(|level| level.wants_key)
    }

    fn next_element(&mut self) {
        if let Some(level) = self.level() {
            level.wants_key = level.is_object;
        }
    }

    fn begin_key(&mut self) {
        if let Some(level) = self.level() {
            level.key_length = 0;
        }
    }

    fn add_to_key(&mut self, text: &[u8]) {
        if let Some(level) = self.level() {
            let room = &mut level.key[level.key_length.min(MAX_KEY)..];
            let fitting = text.len().min(room.len());
            room[..fitting].copy_from_slice(&text[..fitting]);
            level.key_length += text.len();
        }
    }

    fn end_key(&mut self) {
        if let Some(level) = self.level() {
            level.wants_key = false;
        }
    }

    fn begin_value(&mut self) {
        if self.capture.is_some() || self.depth > self.levels.len() {
            return;
        }
        let around = usize::from(self.depth > 0 && !self.levels[0].is_object);
        let Some(here) = self.levels.get(around..self.depth) else { return };
        let fits = |path: &Path| path.len() == here.len() && path.iter().zip(here).all(|(step, level)| level.is(step));
        if let Some(index) = self.wanted.iter().position(fits) {
            self.capture = Some(Capture { index, depth: self.depth, value: Vec::new() });
        }
    }

    fn keep(&mut self, text: &[u8]) {
        let Some(capture) = &mut self.capture else { return };
        if capture.value.len() + text.len() > MAX_VALUE {
            self.capture = None;
            self.is_doubtful = true;
        } else {
            capture.value.extend_from_slice(text);
        }
    }

    fn end_value(&mut self) {
        let depth = self.depth;
        if let Some(capture) = self.capture.take_if(|capture| capture.depth == depth) {
            self.found.push(Found { index: capture.index, value: capture.value });
        }
    }
}

impl Level {
    fn is(&self, step: &str) -> bool {
        if self.is_object { self.key.get(..self.key_length) == Some(step.as_bytes()) } else { step == "*" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const WANTED: &[Path] = &[&["usage"], &["a", "b"], &["list", "*", "end"], &["word"]];

    fn found(text: &[u8], cuts: &[usize]) -> Vec<(usize, Value)> {
        let mut fields = JsonFields::new(WANTED);
        let mut from = 0;
        for cut in cuts.iter().map(|cut| cut % (text.len() + 1)).filter(|cut| *cut > 0) {
            if cut > from {
                fields.push(&text[from..cut]);
                from = cut;
            }
        }
        fields.push(&text[from..]);
        fields.finish().into_iter().map(|f| (f.index, serde_json::from_slice(&f.value).unwrap())).collect()
    }

    #[test]
    fn values_are_found_at_their_paths_alone() {
        let text = json!({
            "x": {"usage": 1, "a": {"b": 2}}, "usage": {"in": [1, {"usage": 3}], "t": "}\"\\"}, "a": {"b": "é\"", "c": 1},
            "list": [{"end": null}, {"no": 1, "end": "stop"}, [{"end": 4}]], "us\\age": 5, "word": -1.5e3
        });
        let expected = vec![
            (0, text["usage"].clone()),
            (1, text["a"]["b"].clone()),
            (2, Value::Null),
            (2, json!("stop")),
            (3, json!(-1500.0)),
        ];
        let mut got = found(text.to_string().as_bytes(), &[]);
        got.sort_by_key(|(index, _)| *index);
        assert_eq!(got, expected);
        let mut pretty = found(serde_json::to_string_pretty(&text).unwrap().as_bytes(), &[]);
        pretty.sort_by_key(|(index, _)| *index);
        assert_eq!(pretty, expected);
    }

    #[test]
    fn an_array_around_everything_is_looked_through() {
        assert_eq!(found(br#"[{"usage":1},{"usage":2}]"#, &[]), [(0, json!(1)), (0, json!(2))]);
    }

    #[test]
    fn a_value_beyond_the_bound_is_a_doubt() {
        let mut fields = JsonFields::new(WANTED);
        fields.push(format!(r#"{{"usage":"{}","word":1}}"#, "x".repeat(MAX_VALUE)).as_bytes());
        assert!(fields.is_doubtful());
        assert_eq!(fields.finish(), [Found { index: 3, value: b"1".to_vec() }]);
    }

    #[test]
    fn one_reader_takes_text_after_text() {
        let mut fields = JsonFields::new(WANTED);
        fields.push(br#"{"usage":{"a":"#);
        assert_eq!(fields.finish(), []);
        fields.push(br#"{"usage":7}"#);
        assert_eq!(fields.finish(), [Found { index: 0, value: b"7".to_vec() }]);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let key =
            prop_oneof![Just("usage"), Just("a"), Just("b"), Just("list"), Just("end"), Just("word"), Just("\\x\"")];
        let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), ".{0,6}".prop_map(Value::from)];
        leaf.prop_recursive(5, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// The same by way of a tree.
    fn by_tree(value: &Value) -> Vec<(usize, Value)> {
        let roots: Vec<&Value> = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let mut all = Vec::new();
        for (index, path) in WANTED.iter().enumerate() {
            for root in &roots {
                let mut here = vec![*root];
                for step in *path {
                    here = here
                        .into_iter()
                        .flat_map(|value| match (*step, value) {
                            ("*", Value::Array(list)) => list.iter().collect(),
                            (key, Value::Object(map)) if key != "*" => map.get(key).into_iter().collect(),
                            _ => Vec::new(),
                        })
                        .collect();
                }
                all.extend(here.into_iter().map(|value| (index, value.clone())));
            }
        }
        all
    }

    proptest! {
        #[test]
        fn it_finds_what_a_tree_has_wherever_it_is_cut(value in any_json(), mut cuts in prop::collection::vec(0..500usize, 0..6)) {
            cuts.sort_unstable();
            let text = value.to_string();
            let mut got = found(text.as_bytes(), &cuts);
            got.sort_by_key(|(index, _)| *index);
            prop_assert_eq!(got, by_tree(&value));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut fields = JsonFields::new(WANTED);
            fields.push(&bytes);
            fields.finish();
        }
    }
}
