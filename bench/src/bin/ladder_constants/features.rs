//! What is known of a name when it leaves: who said it, what it looks like, how old it is, how many messages hold it, and
//! how many of its message's names are still in sight.

use louver::plain_text::Speaker;

/// Who said a name last, and whether the model ever did.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    Own,
    User,
    ToolAlone,
    ToolAndOwn,
}

impl Origin {
    pub(crate) fn of(speaker: Speaker, was_said_by_model: bool) -> Self {
        match (speaker, was_said_by_model) {
            (Speaker::Own, _) => Self::Own,
            (Speaker::User, _) => Self::User,
            (Speaker::Tool, false) => Self::ToolAlone,
            (Speaker::Tool, true) => Self::ToolAndOwn,
        }
    }
}

/// What a name looks like, as the engine tells names apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dotted,
    Path,
    Word,
    Number,
    Hash,
    Address,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Self {
        let is_hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if name.starts_with("http://") || name.starts_with("https://") {
            Self::Address
        } else if name.contains('/') {
            Self::Path
        } else if name.contains('.') {
            Self::Dotted
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
            Self::Number
        } else if name.bytes().all(is_hexadecimal) {
            Self::Hash
        } else {
            Self::Word
        }
    }
}

/// One value of a feature, and where the engine's source says what it is worth.
pub(crate) struct Level {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
}

/// Something about a name, and the values that it can have.
pub(crate) struct Feature {
    pub(crate) name: &'static str,
    pub(crate) levels: &'static [Level],
}

const fn level(name: &'static str, source: &'static str) -> Level {
    Level { name, source }
}

pub(crate) const FEATURES: [Feature; 5] = [
    Feature {
        name: "speaker",
        levels: &[
            level("the model", "(Speaker::Own, _) => "),
            level("the user", "(Speaker::User, _) => "),
            level("a tool alone", "(Speaker::Tool, 0) => "),
            level("a tool, and the model before", "(Speaker::Tool, _) => "),
        ],
    },
    Feature {
        name: "kind",
        levels: &[
            level("dotted", "NameKind::Dotted => "),
            level("path", "NameKind::Path => "),
            level("word", "NameKind::Word => "),
            level("number", "NameKind::Number => "),
            level("hash", "NameKind::Hash => "),
            level("address", "NameKind::Address => "),
        ],
    },
    Feature {
        name: "age in tokens",
        levels: &[
            level("below 5,000", "[(5_000, "),
            level("below 10,000", "(10_000, "),
            level("below 20,000", "(20_000, "),
            level("below 40,000", "(40_000, "),
            level("below 80,000", "(80_000, "),
            level("older", "BY_GREAT_AGE: u64 = "),
        ],
    },
    Feature {
        name: "messages that hold it",
        levels: &[
            level("1", "BY_MESSAGES: [u64; 5] = ["),
            level("2", "BY_MESSAGES: [u64; 5] = [64, "),
            level("3", "BY_MESSAGES: [u64; 5] = [64, 117, "),
            level("4", "BY_MESSAGES: [u64; 5] = [64, 117, 105, "),
            level("5 and more", "BY_MESSAGES: [u64; 5] = [64, 117, 105, 93, "),
        ],
    },
    Feature {
        name: "names of its message in sight",
        levels: &[
            level("below 2 %", "[(2, "),
            level("below 8 %", "(8, "),
            level("below 20 %", "(20, "),
            level("below 40 %", "(40, "),
            level("more", "BY_MANY_NEIGHBOURS: u64 = "),
        ],
    },
];

/// The age below which a name has each of the levels of age but the last.
const AGES: [u64; 5] = [5_000, 10_000, 20_000, 40_000, 80_000];
/// The same for the share of its message's names that are in sight, in percent.
const IN_SIGHT: [u32; 4] = [2, 8, 20, 40];

/// A name's level of each feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Features(pub(crate) [usize; FEATURES.len()]);

impl Features {
    pub(crate) fn of(origin: Origin, kind: Kind, age_tokens: u64, messages: u32, in_sight: (u32, u32)) -> Self {
        let age = AGES.iter().position(|limit| age_tokens < *limit).unwrap_or(AGES.len());
        let frequency = messages.clamp(1, 5) as usize - 1;
        let (seen, all) = in_sight;
        let is_below = |percent: &u32| seen * 100 < percent * all.max(1);
        let neighbours = IN_SIGHT.iter().position(is_below).unwrap_or(IN_SIGHT.len());
        Self([origin as usize, kind as usize, age, frequency, neighbours])
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_told_apart_as_the_engine_does() {
        let kinds = ["https://a.b/c", "./a/b.rs", "os.path", "a_b", "0dc22f6", "1234567"].map(Kind::of);
        assert_eq!(kinds, [Kind::Address, Kind::Path, Kind::Dotted, Kind::Word, Kind::Hash, Kind::Number]);
    }
}
