//! Stable hashes of JSON values and of growing prefixes.

use serde_json::Value;

/// The hash of a prefix of a request: equal for equal prefixes, whatever the key order of their objects.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// The empty prefix.
    pub(crate) const EMPTY: Self = Self([0; 16]);

    /// This prefix, longer by a labelled value. Marks for the cache are not part of what is cached.
    #[must_use]
    pub(crate) fn then(self, label: &str, value: &Value) -> Self {
        self.longer(|hasher| {
            feed_text(hasher, label);
            feed(hasher, value);
        })
    }

    /// This prefix, longer by a text.
    #[must_use]
    pub(crate) fn then_text(self, text: &str) -> Self {
        self.longer(|hasher| feed_text(hasher, text))
    }

    /// As 32 hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn longer(self, feed: impl FnOnce(&mut blake3::Hasher)) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        feed(&mut hasher);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(bytes)
    }
}

fn feed_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn feed(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| feed(hasher, item));
            hasher.update(b"]");
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().filter(|name| !is_cache_mark(name)).collect();
            names.sort_unstable();
            hasher.update(b"{");
            for name in names {
                feed_text(hasher, name);
                feed(hasher, &fields[name]);
            }
            hasher.update(b"}");
        }
        Value::String(text) => {
            hasher.update(b"\"");
            feed_text(hasher, text);
        }
        scalar => feed_text(hasher, &scalar.to_string()),
    }
}

fn is_cache_mark(name: &str) -> bool {
    name == "cache_control" || name == "prompt_cache_breakpoint"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> String {
        Fingerprint::EMPTY.then("block", value).hex()
    }

    #[test]
    fn a_cache_mark_does_not_change_what_is_cached() {
        let bare = json!({"type": "text", "text": "a"});
        let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
        assert_eq!(of(&bare), of(&marked));
    }

    #[test]
    fn neighbouring_texts_do_not_run_together() {
        assert_ne!(of(&json!(["ab", "c"])), of(&json!(["a", "bc"])));
        assert_ne!(of(&json!([["a"], "b"])), of(&json!([["a", "b"]])));
    }
}
