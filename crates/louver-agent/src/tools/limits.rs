use std::time::Duration;

/// How much a single call of a tool may read, write, print or last.
///
/// The defaults suit a model with a window of a few hundred thousand tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file that one `read_file` shows.
    pub read_bytes: usize,
    /// Bytes that one `write_file` writes.
    pub write_bytes: usize,
    /// Bytes of files that one `read_file` or `search_files` goes through.
    pub scan_bytes: u64,
    /// Entries that one `list_files` shows.
    pub listed_entries: usize,
    /// Folder entries that one `list_files` or `search_files` looks at.
    pub walked_entries: usize,
    /// Lines that one `search_files` shows.
    pub hits: usize,
    /// How long one `search_files` or `list_files` may look.
    pub search_time: Duration,
    /// How long a command may run; the model can ask for less.
    pub command_time: Duration,
    /// Bytes of a command's output that are kept, half from its start and half from its end.
    pub output_bytes: usize,
    /// Bytes of output after which a command is killed.
    pub printed_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read_bytes: 64 << 10,
            write_bytes: 4 << 20,
            scan_bytes: 512 << 20,
            listed_entries: 1_000,
            walked_entries: 200_000,
            hits: 200,
            search_time: Duration::from_secs(20),
            command_time: Duration::from_secs(120),
            output_bytes: 32 << 10,
            printed_bytes: 256 << 20,
        }
    }
}
