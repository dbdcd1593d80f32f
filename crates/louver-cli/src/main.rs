//! The binary `louver`.

fn main() {}
