//! What an item's `type` says about it.

use crate::wire::Role;

/// The kinds of items that differ for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A message with a role.
    Message,
    /// The model asks the client for something and waits for an item that answers.
    Call,
    /// The client's answer.
    Output,
    /// The model used a tool of the provider; whatever came of it stands in the same item.
    ServerCall,
    /// The same, and what came of it is a picture.
    ServerImage,
    /// What the model thought.
    Reasoning,
    /// The provider's compaction of what came before.
    Compaction,
    /// An item that only the provider has.
    Reference,
    /// Tools that the application offers inside the history.
    Tools,
    /// Anything else.
    Other,
}

impl ItemKind {
    /// Reads a `type`; an item without one is a message. New types of calls and outputs are known by their ending,
    /// but only with a `call_id`: a call that has none leaves nothing that an output could name.
    pub(super) fn of(name: Option<&str>, has_call_id: bool) -> Self {
        match name {
            None | Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("compaction" | "compaction_summary") => Self::Compaction,
            Some("item_reference") => Self::Reference,
            Some("additional_tools") => Self::Tools,
            Some("image_generation_call") => Self::ServerImage,
            Some("web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call" | "mcp_list_tools") => {
                Self::ServerCall
            }
            // The provider's own tool search has a null `call_id` and still an output item.
            Some("tool_search_call" | "function_call" | "custom_tool_call" | "mcp_approval_request") => Self::Call,
            Some(
                "tool_search_output"
                | "function_call_output"
                | "custom_tool_call_output"
                | "local_shell_call_output"
                | "mcp_approval_response",
            ) => Self::Output,
            Some(name) if has_call_id && (name.ends_with("_call") || name == "program") => Self::Call,
            Some(name) if has_call_id && name.ends_with("_output") => Self::Output,
            Some(_) => Self::Other,
        }
    }

    /// Who speaks in an item of this kind, whatever role it names.
    pub(super) fn role(self) -> Option<Role> {
        match self {
            Self::Message | Self::Other => None,
            Self::Output => Some(Role::Tool),
            Self::Tools => Some(Role::Developer),
            Self::Call
            | Self::ServerCall
            | Self::ServerImage
            | Self::Reasoning
            | Self::Compaction
            | Self::Reference => Some(Role::Assistant),
        }
    }
}
