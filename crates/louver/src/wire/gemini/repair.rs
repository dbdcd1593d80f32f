//! The smallest change that makes a history legal.
use crate::wire::{Fix, History};
/// Nothing yet.
pub(super) fn repair(_: &History<'_>) -> Vec<Fix> {
    Vec::new()
}
