use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;
use serde_json::{Value, json};

use super::lines::{Line, next_line};
use super::off_thread::off_thread;
use super::refusal::{Refusal, quote};
use super::root::problem;
use super::root_path::RootPath;
use super::{Limits, Root, Tool, ToolDefinition, ToolOutput};

/// `read_file`: the text of a file, or some of its lines.
#[derive(Debug, Clone)]
pub struct ReadFile {
    root: Root,
    limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    path: String,
    start_line: Option<u64>,
    end_line: Option<u64>,
}

/// Lines that were asked for and that there was room for.
#[derive(Debug, Default)]
struct Portion {
    text: Vec<u8>,
    /// The number of the last line that was taken.
    last: u64,
    /// Whether the room ended before the lines did.
    is_full: bool,
    /// Whether only a part of the one line that was taken is there.
    is_cut: bool,
    /// Whether there was no further line to go through.
    is_at_end: bool,
}

impl ReadFile {
    /// Reads files below `root`.
    pub fn new(root: Root, limits: Limits) -> Self {
        Self { root, limits }
    }

    fn read(&self, request: &Request) -> Result<ToolOutput, Refusal> {
        let path = self.root.parse(&request.path)?;
        let (first, last) = range(request)?;
        let file = self.root.open_file(&path)?;
        let size = file.metadata().map_err(|error| problem(&path, &error))?.len();
        let mut reader = BufReader::new(file.take(self.limits.scan_bytes));
        let start = reader.fill_buf().map_err(|error| problem(&path, &error))?;
        if start.contains(&0) {
            return Err(binary(&path, size));
        }
        let portion = self.take(reader, first, last).map_err(|error| problem(&path, &error))?;
        if portion.last < first && first > 1 {
            return Err(self.too_far(&path, size, portion.last));
        }
        self.show(&path, size, first, portion)
    }

    /// Goes through the lines up to `last` and keeps those from `first` on, as far as there is room.
    fn take(&self, mut reader: impl BufRead, first: u64, last: u64) -> io::Result<Portion> {
        let mut portion = Portion::default();
        while portion.last + 1 < first {
            if reader.skip_until(b'\n')? == 0 {
                return Ok(portion);
            }
            portion.last += 1;
        }
        while portion.last < last {
            let before = portion.text.len();
            match next_line(&mut reader, &mut portion.text, self.limits.read_bytes - before)? {
                Line::End => {
                    portion.is_at_end = true;
                    return Ok(portion);
                }
                Line::Whole => portion.last += 1,
                Line::Cut if before == 0 => {
                    portion.last += 1;
                    portion.is_cut = true;
                    return Ok(portion);
                }
                Line::Cut => {
                    portion.text.truncate(before);
                    portion.is_full = true;
                    return Ok(portion);
                }
            }
        }
        Ok(portion)
    }

    fn too_far(&self, path: &RootPath, size: u64, lines: u64) -> Refusal {
        let (path, limit) = (quote(&path.to_string()), self.limits.scan_bytes);
        match size > limit {
            true => {
                Refusal::new(format!("only the first {limit} bytes of {path} can be read, which have {lines} lines"))
            }
            false => Refusal::new(format!("{path} has only {lines} lines; ask for those")),
        }
    }

    fn show(&self, path: &RootPath, size: u64, first: u64, portion: Portion) -> Result<ToolOutput, Refusal> {
        let Portion { text, last, is_full, is_cut, is_at_end } = portion;
        let mut text = match String::from_utf8(text) {
            Ok(text) => text,
            // Room may have ended inside a character.
            Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
                let valid = error.utf8_error().valid_up_to();
                String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned()
            }
            Err(_) => return Err(binary(path, size)),
        };
        if text.contains('\0') {
            return Err(binary(path, size));
        }
        let limit = self.limits.read_bytes;
        if is_cut {
            text.push_str(&format!(
                "\n[line {last} is longer than {limit} bytes and was cut; find things in it with search_files]"
            ));
        } else if is_full {
            let next = last + 1;
            text.push_str(&format!(
                "\n[lines {first} to {last} of a file of {size} bytes; one call shows at most {limit} bytes; \
                 go on with start_line {next}]"
            ));
        }
        if is_at_end && size > self.limits.scan_bytes {
            let scanned = self.limits.scan_bytes;
            text.push_str(&format!("\n[only the first {scanned} bytes of a file of {size} bytes can be read]"));
        }
        Ok(ToolOutput::text(text))
    }
}

fn range(request: &Request) -> Result<(u64, u64), Refusal> {
    let first = request.start_line.unwrap_or(1);
    let last = request.end_line.unwrap_or(u64::MAX);
    if first == 0 {
        return Err(Refusal::new("lines are counted from 1; use a start_line of at least 1"));
    }
    if last < first {
        return Err(Refusal::new(format!("end_line {last} comes before start_line {first}; swap them")));
    }
    Ok((first, last))
}

fn binary(path: &RootPath, size: u64) -> Refusal {
    let path = quote(&path.to_string());
    Refusal::new(format!("{path} is binary or not UTF-8 ({size} bytes) and cannot be shown as text"))
}

#[async_trait::async_trait]
impl Tool for ReadFile {
    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Reads a text file and returns it as it is. At most {} bytes are shown; read a part of a longer file with \
             start_line and end_line.",
            self.limits.read_bytes
        );
        let properties = json!({
            "path": {"type": "string", "description": "The file, relative to the root."},
            "start_line": {"type": "integer", "minimum": 1, "description": "The first line to show, from 1."},
            "end_line": {"type": "integer", "minimum": 1, "description": "The last line to show."},
        });
        ToolDefinition::new("read_file", &description, &properties, &["path"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        off_thread(self, arguments, Self::read).await
    }
}
