//! Lines that say whether they are the ones that were written.

use xxhash_rust::xxh3::xxh3_64_with_seed;

const FIELD: &str = ",\"sum\":\"";
/// The field, sixteen digits, and what closes it.
const SEAL_BYTES: usize = FIELD.len() + 16 + 2;

/// A JSON object as a line, with a last field `sum` over it and the sum before; and that sum.
pub(super) fn seal(json: &str, before: u64) -> (String, u64) {
    let sum = xxh3_64_with_seed(json.as_bytes(), before);
    let open = json.strip_suffix('}').unwrap_or(json);
    (format!("{open}{FIELD}{sum:016x}\"}}\n"), sum)
}

/// The JSON object of a line, and its sum.
pub(super) fn open(line: &str, before: u64) -> Result<(String, u64), &'static str> {
    let parts = line.len().checked_sub(SEAL_BYTES).and_then(|at| line.split_at_checked(at));
    let sum = |seal: &str| u64::from_str_radix(seal.strip_prefix(FIELD)?.strip_suffix("\"}")?, 16).ok();
    let (json, sum) = parts.and_then(|(json, seal)| Some((json, sum(seal)?))).ok_or("it has no checksum")?;
    let json = format!("{json}}}");
    if xxh3_64_with_seed(json.as_bytes(), before) == sum {
        Ok((json, sum))
    } else {
        Err("its checksum is wrong, so it or a line before it is not what was written")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_opened_as_it_was_sealed_and_no_other() {
        let (line, sum) = seal("{\"a\":1}", 7);
        let line = line.trim_end();
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
        assert_eq!(open(line, 7), Ok(("{\"a\":1}".to_owned(), sum)));
        assert!(open(line, 8).is_err_and(|error| error.contains("a line before it")));
        for at in 0..line.len() {
            let other = format!("{}#{}", &line[..at], &line[at + 1..]);
            assert!(open(&other, 7).is_err(), "{other}");
        }
        for short in ["", "{}", "é"] {
            assert_eq!(open(short, 0), Err("it has no checksum"));
        }
    }
}
