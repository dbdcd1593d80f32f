//! What stands behind the `?` of an address.

use super::Fault;
use crate::percent::decoded;
use louver_store::PageRequest;

/// The pairs of a query.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn of(text: &str) -> Self {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        Self(pairs.map(|(key, value)| (key.to_owned(), decoded(&value.replace('+', " ")))).collect())
    }

    /// What a key says; nothing where it says nothing.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A number that a key names.
    pub(super) fn number(&self, key: &str) -> Result<Option<usize>, Fault> {
        let not = |text: &str| Fault::Invalid(format!("{key}={text} is no number"));
        self.get(key).map(|text| text.parse().map_err(|_| not(text))).transpose()
    }

    /// Which rows are wanted, so many where nothing else is said.
    pub(super) fn page(&self, rows: usize) -> Result<PageRequest, Fault> {
        let after = self.get("after").map(str::parse).transpose()?;
        Ok(PageRequest { after, rows: self.number("rows")?.unwrap_or(rows) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_whatever_they_are() {
        let query = Query::of("q=a+b%20%C3%A4%2B&odd=100%&worse=%zz%f&none=&bad=%ff&rows=x");
        assert_eq!(query.get("q"), Some("a b ä+"));
        assert_eq!(query.get("odd"), Some("100%"));
        assert_eq!(query.get("worse"), Some("%zz%f"));
        assert_eq!((query.get("none"), query.get("absent")), (None, None));
        assert_eq!(query.get("bad"), Some("\u{fffd}"));
        assert!(query.page(5).is_err());
    }
}
