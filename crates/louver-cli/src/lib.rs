//! The command line of Louver.
