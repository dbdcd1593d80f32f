//! What the texts of a record are known by.

use super::quote::History;
use super::record::ViewRecord;

/// What all texts of a record are known by over a history; nothing where one of them has a place that is not there.
pub(super) fn hash_of_texts(record: &ViewRecord, history: &History<'_>) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    let edited = record.edited.iter().filter_map(|edited| edited.text.as_ref());
    for pieces in record.ours.iter().map(|ours| &ours.text).chain(edited) {
        let text = history.text(pieces)?;
        hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    Some(hasher.finalize().to_hex().to_string())
}
