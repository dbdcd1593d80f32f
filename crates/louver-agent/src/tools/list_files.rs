use serde::Deserialize;
use serde_json::{Value, json};

use super::off_thread::off_thread;
use super::refusal::{Refusal, quote};
use super::root::problem;
use super::walk::{Entry, Kind, SKIPPED, Walk};
use super::{Limits, Root, Tool, ToolDefinition, ToolOutput};

/// `list_files`: what is in a folder, in order.
#[derive(Debug, Clone)]
pub struct ListFiles {
    root: Root,
    limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    path: Option<String>,
    recursive: Option<bool>,
}

impl ListFiles {
    /// Lists folders below `root`.
    pub fn new(root: Root, limits: Limits) -> Self {
        Self { root, limits }
    }

    fn list(&self, request: &Request) -> Result<ToolOutput, Refusal> {
        let path = self.root.parse(request.path.as_deref().unwrap_or("."))?;
        let metadata = self.root.dir().metadata(path.as_path()).map_err(|error| problem(&path, &error))?;
        if !metadata.is_dir() {
            let reason = format!("{} is not a folder; read it with read_file", quote(&path.to_string()));
            return Err(Refusal::new(reason));
        }
        let mut walk = Walk::new(&self.root, &path, &self.limits, request.recursive.unwrap_or(false))?;
        let mut text = String::new();
        for entry in walk.by_ref().take(self.limits.listed_entries) {
            text.push_str(&line(&entry));
        }
        let more = walk.by_ref().count();
        if more > 0 {
            text.push_str(&format!("[{more} more entries are not shown; list a folder further down]\n"));
        }
        if let Some(reason) = walk.stop() {
            text.push_str(&format!("[not everything was looked at: {reason}; list a folder further down]\n"));
        }
        if text.is_empty() {
            text.push_str("[the folder is empty]\n");
        }
        Ok(ToolOutput::text(text))
    }
}

fn line(entry: &Entry) -> String {
    let mark = match entry.kind {
        Kind::Folder => "/",
        Kind::Link => "@",
        Kind::File | Kind::Other => "",
    };
    format!("{}{mark}\n", entry.path)
}

#[async_trait::async_trait]
impl Tool for ListFiles {
    fn definition(&self) -> ToolDefinition {
        let description = format!(
            "Lists a folder, one path per line, sorted; folders end in / and symbolic links in @. With recursive, \
             everything below it but the contents of {}. At most {} entries.",
            SKIPPED.join(", "),
            self.limits.listed_entries
        );
        let properties = json!({
            "path": {"type": "string", "description": "The folder, relative to the root; the root itself if left out."},
            "recursive": {"type": "boolean", "description": "Whether to list folders inside it, too."},
        });
        ToolDefinition::new("list_files", &description, &properties, &[])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        off_thread(self, arguments, Self::list).await
    }
}
