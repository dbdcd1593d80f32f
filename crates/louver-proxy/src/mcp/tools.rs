//! The list of tools. It is part of every prompt, so it is small and never changes.

use serde_json::{Value, json};

/// All tools.
pub(super) fn list() -> Value {
    json!([
        {
            "name": "recall",
            "description": "Gives back messages of this conversation that a ledger stands for, or searches them.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "what": {
                        "type": "string",
                        "description": "An address from a ledger (TAG:12, TAG:3-17 or [louver:12]), or words, with a TAG: before them or not",
                    },
                    "cursor": { "type": "string", "description": "Where the page before ended" },
                },
                "required": ["what"],
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
            "_meta": { "anthropic/alwaysLoad": true },
        },
        {
            "name": "inspect",
            "description": "What Louver sent of a conversation, what it left out and what that saved.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "conversation": { "type": "string", "description": "Its id; the latest if none is named" },
                },
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        },
    ])
}
