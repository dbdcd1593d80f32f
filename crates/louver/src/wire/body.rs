//! A whole input: a request body, a wrapper, or a bare list of messages.

/// A request's thinking setting, as far as it decides what is legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// Not said, disabled or adaptive.
    #[default]
    Unset,
    /// Manual thinking: the last open tool turn must start with a thinking block.
    Enabled,
}
/// Body.
#[derive(Debug)]
pub struct Body;
