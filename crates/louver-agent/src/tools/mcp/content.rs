use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// What a model can read of a result; pictures and the like are only named.
pub(super) fn text(result: &CallToolResult) -> String {
    let parts: Vec<String> = result.content.iter().map(part).collect();
    match &result.structured_content {
        Some(structured) if parts.is_empty() => structured.to_string(),
        _ => parts.join("\n"),
    }
}

fn part(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => left_out(&image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => left_out(&audio.mime_type, audio.data.len()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                left_out(mime_type.as_deref().unwrap_or("binary"), blob.len())
            }
            _ => left_out("unknown", 0),
        },
        ContentBlock::ResourceLink(link) => format!("[resource {}: {}]", link.name, link.uri),
        _ => left_out("unknown", 0),
    }
}

fn left_out(kind: &str, base64_bytes: usize) -> String {
    format!("[{kind} content of about {} bytes is not shown]", base64_bytes / 4 * 3)
}
