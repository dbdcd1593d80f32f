//! What the model may do: the tools, and the bounds they keep.
